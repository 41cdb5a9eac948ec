/**
 * Every bound that more than one part of the product must agree on, with its behaviour at the limit.
 * Bounds that only one file cares about stand in that file.
 */

/** Telephony audio: LINEAR16, 8 kHz, mono (R17). */
export const LINE_RATE_HZ = 8000;
/** What a room brings of its caller (RT-62); everything else of a call stands at the rate of the line. */
export const WIDE_RATE_HZ = 16_000;
/** One outgoing frame: 20 ms. */
export const FRAME_SAMPLES = 160;
export const FRAME_MS = 20;

/** Silero's native window at 8 kHz: 256 new samples, 32 ms (D-38). */
export const VAD_WINDOW_SAMPLES = 256;
/** The same 32 ms at 16 kHz, where a line is heard so. */
export const VAD_WIDE_WINDOW_SAMPLES = 2 * VAD_WINDOW_SAMPLES;

/** `connected` must arrive within this, else 1008. */
export const CONNECTED_TIMEOUT_MS = 5_000;
/**
 * Largest `connected` message; more closes with 1009. It travels on as a query parameter of the config request, where
 * encoding can treble it, and HTTP servers read request heads up to some 64 KB.
 */
export const MAX_CONNECTED_BYTES = 16_384;
/** The config must answer within this, else 4500. */
export const CONFIG_TIMEOUT_MS = 10_000;
/** Largest config document a slot reads; more is refused with 4500. */
export const CONFIG_MAX_BYTES = 1_048_576;

/** Largest WebSocket message from a dialler; more closes the socket with 1009. */
export const MAX_MESSAGE_BYTES = 262_144;
/** Audio may arrive this much ahead of real time; what is beyond is dropped and counted. */
export const MAX_BURST_MS = 5_000;
/** So much dropped audio in one call closes the socket with 1008. */
export const MAX_DROPPED_AUDIO_MS = 30_000;
/** Unsent bytes towards the dialler; more ends the call (RT-90). */
export const MAX_UNSENT_BYTES = 262_144;
/** A send that makes no progress for this long ends the call (RT-90). */
export const SEND_STALL_MS = 5_000;
/** No audio for this long ends a speech segment (RT-03). */
export const AUDIO_GAP_MS = 1_000;
/** No message at all for this long: the peer is gone (RT-03). */
export const PEER_GONE_MS = 15_000;
/** The same before the first audio. */
export const PEER_GONE_BEFORE_AUDIO_MS = 30_000;

/** The slot tells main that its pacer lives (RT-74). */
export const HEARTBEAT_MS = 2_000;
/** No heartbeat for this long: the slot is hung (D-9). */
export const HUNG_AFTER_MS = 6_000;

/** `max_call_duration_seconds` where the config is silent. */
export const DEFAULT_MAX_CALL_SECONDS = 3_600;
/** Analysis, quality check and callback extraction after a call, all together (D-31). */
export const POST_CALL_LIMIT_MS = 60_000;
/** Main ends a slot that overruns its maximum duration by this much (RT-24: enforced twice). */
export const OVERRUN_GRACE_MS = 15_000;

/** Transcript entries per call; later ones are counted, not kept. */
export const MAX_TRANSCRIPT_ENTRIES = 2_000;
/** Events per call; later ones are counted, not kept. */
export const MAX_EVENTS = 5_000;
/** Largest results document that is delivered or accepted (D-28). */
export const RESULTS_MAX_BYTES = 8 * 1_048_576;

/** Words of a bot with a pronunciation of their own; the contract refuses more. */
export const MAX_PRONUNCIATIONS = 500;

/** An export file is kept this long, then it and its job are removed; a deletion receipt says so. */
export const EXPORT_KEPT_MS = 86_400_000;
