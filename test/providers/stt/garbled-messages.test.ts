import fc from 'fast-check';
import t from 'tap';
import { realClock } from '../../../src/providers/contract/provider-clock.ts';
import { startEmulator } from '../../emulators/kit/emulator.ts';
import { Caller } from './caller.ts';

/** Words of each vendor's protocol, so that garbage looks like its messages; `greeting` lets a session open. */
const PROTOCOLS = [
  {
    name: 'R8 deepgram',
    config: { provider: 'deepgram' },
    greeting: null,
    kinds: { type: ['Results', 'UtteranceEnd', 'SpeechStarted', 'Metadata', 'Error'] },
    rare: [],
    keys: ['is_final', 'speech_final', 'from_finalize', 'start', 'duration', 'channel', 'channel_index'],
  },
  {
    name: 'R8 deepgram_flux',
    config: { provider: 'deepgram_flux' },
    greeting: { type: 'Connected', request_id: 'r', sequence_id: 0 },
    kinds: {
      type: ['TurnInfo', 'Connected', 'ConfigureSuccess', 'ConfigureFailure', 'Error'],
      event: ['StartOfTurn', 'Update', 'EagerEndOfTurn', 'TurnResumed', 'EndOfTurn'],
    },
    rare: [],
    keys: ['sequence_id', 'turn_index', 'transcript', 'words', 'audio_window_end', 'languages', 'code'],
  },
  {
    name: 'R8 sarvam',
    config: { provider: 'sarvam' },
    greeting: { event: 'session.begin' },
    kinds: {
      event: [
        'vad.speech_start',
        'vad.speech_end',
        'transcript.partial',
        'transcript.final',
        'error',
        'pong',
      ],
    },
    rare: ['is_fatal'],
    keys: ['utterance_idx', 'text', 'language', 'start_s', 'end_s', 'code', 'status_code', 'message'],
  },
  {
    name: 'R8 sarvam legacy',
    config: { provider: 'sarvam', endpoint: 'legacy' },
    greeting: null,
    kinds: { type: ['data', 'events', 'error'] },
    rare: [],
    keys: ['data'],
  },
  {
    name: 'R8 soniox',
    config: { provider: 'soniox' },
    greeting: null,
    kinds: { type: ['result'] },
    keys: ['tokens', 'final_audio_proc_ms', 'total_audio_proc_ms', 'finished'],
    rare: ['error_code', 'error_type', 'error_message'],
  },
];

const leaf = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.double(),
  fc.boolean(),
  fc.constantFrom('', 'word', -1, 0, 1e308, null, [], {}, '<fin>', '429'),
  // The shapes that lie deeper in the vendors' messages.
  fc.record(
    {
      alternatives: fc.array(
        fc.record(
          {
            transcript: fc.jsonValue(),
            confidence: fc.jsonValue(),
            words: fc.jsonValue(),
            languages: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
      ),
      transcript: fc.jsonValue(),
      signal_type: fc.constantFrom('START_SPEECH', 'END_SPEECH', 7),
    },
    { requiredKeys: [] },
  ),
  fc.array(
    fc.record(
      {
        text: fc.oneof(fc.string(), fc.jsonValue()),
        word: fc.string(),
        is_final: fc.boolean(),
        confidence: fc.jsonValue(),
        start_ms: fc.jsonValue(),
        end_ms: fc.oneof(fc.integer(), fc.jsonValue()),
      },
      { requiredKeys: [] },
    ),
    { maxLength: 3 },
  ),
);

/** Keys that end a session come seldom, so that something else happens too. */
const rarely = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(undefined, null) },
  { weight: 1, arbitrary: leaf },
);

/** JSON.stringify writes NaN and Infinity as null, as a vendor's own encoder would have to. */
const messagesOf = (protocol: (typeof PROTOCOLS)[number]) =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .record({
          ...Object.fromEntries(
            Object.entries(protocol.kinds).map(([key, names]) => [key, fc.constantFrom(...names)]),
          ),
          ...Object.fromEntries(protocol.keys.map((key) => [key, fc.option(leaf, { nil: undefined })])),
          ...Object.fromEntries(protocol.rare.map((key) => [key, rarely])),
        })
        .map((message) => JSON.stringify(message)),
    },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string() },
  );

for (const protocol of PROTOCOLS) {
  t.test(
    `${protocol.name}: whatever a vendor sends, it is passed over or ends the session honestly`,
    async (t) => {
      const emulator = await startEmulator({
        vendor: protocol.name,
        sockets: [
          {
            path: /./,
            session: (socket) => {
              if (protocol.greeting) socket.send(protocol.greeting);
            },
          },
        ],
      });
      t.teardown(() => emulator.close());
      let survived = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(messagesOf(protocol), { minLength: 1, maxLength: 12 }),
          async (messages) => {
            const caller = await Caller.calls(
              { language: 'en', api_key: 'k', base_url: emulator.wsUrl, ...protocol.config },
              realClock,
            );
            caller.session.feed(new Int16Array(1_600));
            const connection = emulator.control.latest();
            for (const message of messages) connection.sendText(message);
            connection.close(1012, 'the end of the run');
            const failure = await caller.failure();
            if (!/^provider_/.test(failure.code ?? '')) throw failure;
            if (failure.message.includes('cannot be used') && !failure.message.includes('not JSON'))
              throw failure;
            if (failure.details?.status === 1012) survived++;
            for (const piece of caller.finals) {
              const { text, confidence, uptoSample } = piece;
              if (typeof text !== 'string') throw new Error('a final without text');
              if (confidence !== null && !(confidence >= 0 && confidence <= 1))
                throw new Error('odd confidence');
              if (uptoSample !== null && !(uptoSample >= 0 && uptoSample <= 1_600))
                throw new Error('odd position');
            }
            if (!caller.interims.every((text) => typeof text === 'string'))
              throw new Error('odd interim result');
            const order = caller.turns.map((event) => event.type).join(' ');
            if (!/^(start( eager_end resumed)*( eager_end)?( end)? ?)*$/.test(order)) throw new Error(order);
            await caller.session.close();
            if (caller.failures.length !== 1) throw new Error(`${caller.failures.length} failures`);
          },
        ),
        { seed: 20261120, numRuns: 80 },
      );
      t.ok(survived > 5, `${survived} of 80 sessions were still alive at the end`);
    },
  );
}
