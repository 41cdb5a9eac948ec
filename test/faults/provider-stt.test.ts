import t from 'tap';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import { startDeepgram } from '../emulators/deepgram.ts';
import { startFlux } from '../emulators/deepgram-flux.ts';
import { startElevenLabs } from '../emulators/elevenlabs.ts';
import type { EmulatedSocket } from '../emulators/kit/emulated-socket.ts';
import { startOpenAi } from '../emulators/openai.ts';
import { startSoniox } from '../emulators/soniox.ts';
import {
  MS_PER_CHAR,
  sayAndHearOut,
  sayAndListen,
  sentence,
  startProviderHarness,
} from '../harness/provider-calls.ts';
import { runFaultCases } from './fault-case.ts';

/** Faults of speech to text in live calls over the wire: what the caller hears and what the results tell. */
t.setTimeout(280_000);
t.jobs = 4;
const harness = await startProviderHarness(t, 4);

const REFUSED = { status: 500, body: { err_code: 'INTERNAL', err_msg: 'try later', request_id: 'r-1' } };
/** The caller is in the middle of the sentence then. */
const MIDWAY_MS = 900;

/**
 * `alone` has Deepgram, `flux` its engine that detects turns, `mute` one that stands and never says a word; the others have
 * another engine behind that.
 */
async function vendors() {
  const hearing = (who: string) => ({ texts: Array.from({ length: 20 }, (_, i) => `${who} ${i}`) });
  const [deepgram, mute, flux, soniox, openai, elevenlabs] = await Promise.all([
    startDeepgram({ hearing: hearing('deepgram') }),
    startDeepgram(),
    startFlux({ hearing: hearing('flux') }),
    startSoniox({ hearing: hearing('soniox') }),
    startOpenAi(),
    startElevenLabs({ voice: { msPerChar: MS_PER_CHAR } }),
  ]);
  const first = { provider: 'deepgram', model: 'nova-3', api_key: deepgram.key, base_url: deepgram.wsUrl };
  const turning = { provider: 'deepgram_flux', api_key: flux.key, base_url: flux.wsUrl };
  const silent = { ...first, api_key: mute.key, base_url: mute.wsUrl };
  const second = { provider: 'soniox', api_key: soniox.key, base_url: soniox.wsUrl };
  const bot = {
    opening_message: 'Good morning.',
    llm: { provider: 'openai', model: 'gpt-6-luna', api_key: openai.apiKey, base_url: openai.url },
    tts: {
      provider: 'elevenlabs',
      voice: 'rachel',
      api_key: elevenlabs.apiKey,
      base_url: elevenlabs.wsUrl,
    },
  };
  return {
    deepgram,
    flux,
    emulators: [deepgram, mute, flux, soniox, openai, elevenlabs],
    bots: {
      alone: { ...bot, stt: first },
      backed: { ...bot, stt: { ...first, fallbacks: [second] } },
      mute: { ...bot, stt: silent },
      muteBacked: { ...bot, stt: { ...silent, fallbacks: [second] } },
      flux: { ...bot, stt: turning },
      fluxBacked: { ...bot, stt: { ...turning, fallbacks: [first] } },
    },
  };
}
type Bench = Awaited<ReturnType<typeof vendors>>;

/** Says the sentence, lets something happen to the engine's connection in the middle of it, and hears the answer. */
const midway =
  (engine: 'deepgram' | 'flux', happens: (socket: EmulatedSocket, bench: Bench) => void) =>
  async (call: DiallerCall, bench: Bench) => {
    const answered = sayAndHearOut(call);
    await call.event('caller_started', 60_000);
    await call.until(() => false, MIDWAY_MS);
    happens(bench[engine].control.latest(), bench);
    await answered;
  };

runFaultCases(t, harness, vendors, [
  {
    name: 'RT-58 RT-89 stt: a 429 with Retry-After and no second engine is waited out',
    bot: 'alone',
    order: ({ deepgram }) =>
      deepgram.control.next({ status: 429, headers: { 'retry-after': '2' }, body: REFUSED.body }, 4),
    live: sayAndHearOut,
    events: ['provider_failed', 'provider_retried'],
  },
  {
    name: 'RT-58 RT-89 stt: a 429 with Retry-After, and the second engine listens',
    bot: 'backed',
    order: ({ deepgram }) =>
      deepgram.control.next({ status: 429, headers: { 'retry-after': '60' }, body: REFUSED.body }, 20),
    live: (call) => sayAndListen(call),
    events: ['provider_failed', 'provider_switched'],
    customerLines: ['soniox 0'],
    check: (t, story) =>
      t.match(story.events('provider_failed')[0], { provider: 'deepgram', class: 'rate_limit', status: 429 }),
  },
  {
    name: 'RT-57 stt: a 500 at the start is tried again while the bot speaks',
    bot: 'alone',
    order: ({ deepgram }) => deepgram.control.next(REFUSED),
    live: (call) => sayAndListen(call),
    events: ['provider_failed'],
    customerLines: ['deepgram 0 deepgram 1'],
  },
  {
    name: 'RT-57 stt: what is said while the engine is slow to accept is heard all the same',
    bot: 'alone',
    order: ({ deepgram }) => deepgram.control.next({ slowMs: 2_500 }),
    live: (call) => sayAndListen(call),
    customerLines: ['deepgram 0 deepgram 1'],
  },
  {
    name: 'RT-57 stt: a connection cut in mid-utterance is made again, and no word is lost or doubled',
    bot: 'alone',
    live: midway('deepgram', (socket) => socket.cut()),
    events: ['provider_failed', 'provider_reconnected'],
    customerLines: ['deepgram 0 deepgram 1'],
  },
  {
    name: 'RT-57 stt: a close in mid-utterance with the code of the vendor is told with it',
    bot: 'alone',
    live: midway('deepgram', (socket) => socket.close(1011, 'NET-0000')),
    events: ['provider_reconnected'],
    customerLines: ['deepgram 0 deepgram 1'],
    check: (t, story) =>
      t.match(story.events('provider_failed')[0], {
        status: 1011,
        vendor_code: 'NET-0000',
        class: 'transient',
      }),
  },
  {
    name: 'RT-57 stt: a message that cannot be read costs the connection and no word',
    bot: 'alone',
    live: midway('deepgram', (socket) => socket.sendHalfJson()),
    events: ['provider_failed', 'provider_reconnected'],
    customerLines: ['deepgram 0 deepgram 1'],
  },
  {
    name: 'RT-57 stt: a final that comes twice is understood once',
    bot: 'alone',
    order: ({ deepgram }) =>
      deepgram.control.opened(1).then((socket) => {
        socket.onSent((json) => {
          const final = json as { is_final?: boolean; repeated?: boolean };
          if (!final.is_final || socket.state.repeating) return;
          socket.state.repeating = true;
          socket.duplicateLast();
          socket.state.repeating = false;
        });
      }),
    live: (call) => sayAndListen(call),
    customerLines: ['deepgram 0 deepgram 1'],
  },
  {
    name: 'RT-57 RT-59 stt: a half-open connection in mid-utterance does not leave the caller in silence',
    bot: 'backed',
    async live(call, bench) {
      await midway('deepgram', (socket) => socket.goSilent())(call, bench);
      await sayAndHearOut(call);
    },
    events: ['provider_failed'],
    check: (t, story) =>
      t.ok(
        story.events('provider_reconnected').length + story.events('provider_switched').length > 0,
        'and another connection is made',
      ),
  },
  {
    name: 'R106 RT-59 stt: an engine that never comes ends the call politely, as an error',
    bot: 'alone',
    order: ({ deepgram }) => deepgram.control.next(REFUSED, 50),
    async live(call) {
      await call.say(sentence);
      await call.event('hangup', 60_000);
    },
    events: ['provider_failed', 'rescue_spoken'],
    botLines: [/Goodbye/],
    disconnectedBy: 'error',
    check: (t, story) => t.match(story.result.end_detail, { reason: /cannot hear/ }),
  },
  {
    name: 'R106 RT-59 stt: an engine that stands and says no word: asked again once, then the call ends as ours',
    bot: 'mute',
    async live(call) {
      await sayAndListen(call);
      await call.say(sentence);
      await call.event('hangup', 60_000);
    },
    events: ['empty_turn', 'rescue_spoken'],
    botLines: [/say that again/, /Goodbye/],
    customerLines: [],
    disconnectedBy: 'error',
    check: (t, story) => t.match(story.result.end_detail, { reason: /cannot hear/, user_turns: 0 }),
  },
  {
    name: 'RT-58 RT-59 stt: an engine that stands and says no word: the second turn is heard by the next one',
    bot: 'muteBacked',
    async live(call) {
      await sayAndListen(call);
      await sayAndHearOut(call);
    },
    events: ['empty_turn', 'provider_switched'],
    botLines: [/say that again/],
    customerLines: ['soniox 0'],
  },
  {
    name: 'R8 RT-05 RT-57 stt: an engine that detects turns is cut in the middle of one',
    bot: 'flux',
    live: midway('flux', (socket) => socket.cut()),
    events: ['provider_reconnected'],
    customerLines: ['flux 0'],
    check: (t, story) => t.match(story.events('user_turn'), [{ decided_by: 'stt' }]),
  },
  {
    name: 'RT-05 RT-58 stt: an engine that detects none takes over in the middle of a turn',
    bot: 'fluxBacked',
    live: midway('flux', (socket, { flux }) => {
      flux.control.next(REFUSED, 50);
      socket.cut();
    }),
    events: ['provider_switched'],
    customerLines: ['deepgram 0 deepgram 1'],
    check: (t, story) =>
      t.match(story.events('user_turn'), [{ decided_by: /model|forced_end|silence_rule/ }]),
  },
  {
    name: 'RT-05 RT-09 stt: an engine that says no more of an open turn does not hold the answer back',
    bot: 'flux',
    live: midway('flux', (socket) => socket.goSilent()),
    botLines: [/./, /./],
    check: (t, story) =>
      t.ok(story.events('user_turn').length > 0 || story.events('rescue_spoken').length > 0),
  },
]);
