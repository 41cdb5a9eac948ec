import t from 'tap';
import type { DiallerCall } from '../../src/cli/dialler-client.ts';
import { startCartesia } from '../emulators/cartesia.ts';
import { startDeepgram } from '../emulators/deepgram.ts';
import { startElevenLabs } from '../emulators/elevenlabs.ts';
import type { EmulatedSocket } from '../emulators/kit/emulated-socket.ts';
import { startOpenAi } from '../emulators/openai.ts';
import { MS_PER_CHAR, sayAndHearOut, sayAndListen, startProviderHarness } from '../harness/provider-calls.ts';
import { runFaultCases } from './fault-case.ts';

/** Faults of the voice in live calls over the wire: what the caller hears and what the results tell. */
t.setTimeout(280_000);
t.jobs = 4;
const harness = await startProviderHarness(t, 4);

const ANSWER =
  'One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen.';
const REFUSED = { status: 500, body: { detail: { status: 'internal', message: 'try later' } } };

/** `alone` has one voice, `backed` a second one behind it, `turned` the same two the other way round. */
async function vendors() {
  const texts = Array.from({ length: 20 }, (_, i) => `part ${i}`);
  const [deepgram, openai, elevenlabs, cartesia] = await Promise.all([
    startDeepgram({ hearing: { texts } }),
    startOpenAi(),
    startElevenLabs({ voice: { msPerChar: MS_PER_CHAR, speed: 2 } }),
    startCartesia({ voice: { msPerChar: MS_PER_CHAR } }),
  ]);
  openai.desk.respondWith(() => ({ text: ANSWER }));
  const tts = {
    provider: 'elevenlabs',
    voice: 'rachel',
    api_key: elevenlabs.apiKey,
    base_url: elevenlabs.wsUrl,
  };
  const second = {
    provider: 'cartesia',
    voice: 'v-1',
    language: 'en',
    api_key: cartesia.apiKey,
    base_url: cartesia.wsUrl,
  };
  const bot = {
    opening_message: 'Good morning.',
    stt: { provider: 'deepgram', model: 'nova-3', api_key: deepgram.key, base_url: deepgram.wsUrl },
    llm: { provider: 'openai', model: 'gpt-6-luna', api_key: openai.apiKey, base_url: openai.url },
  };
  return {
    elevenlabs,
    cartesia,
    emulators: [deepgram, openai, elevenlabs, cartesia],
    bots: {
      alone: { ...bot, tts },
      backed: { ...bot, tts: { ...tts, fallbacks: [second] } },
      turned: { ...bot, tts: { ...second, fallbacks: [tts] } },
    },
  };
}
type Bench = Awaited<ReturnType<typeof vendors>>;

/** Asks, lets something happen to the voice's connection once some of the answer has come, and hears it out. */
const midway =
  (happens: (socket: EmulatedSocket) => void) =>
  async (call: DiallerCall, { elevenlabs }: Bench) => {
    const heardOut = sayAndHearOut(call);
    const spoken = elevenlabs.log.messages('out').length;
    await call.until(() => elevenlabs.log.messages('out').length > spoken + 3, 60_000);
    happens(elevenlabs.control.latest());
    await heardOut;
  };
const words = new RegExp(`^${ANSWER}$`);

runFaultCases(t, harness, vendors, [
  {
    name: 'RT-58 RT-89 tts: a 429 with Retry-After, and the second voice speaks',
    bot: 'backed',
    order: ({ elevenlabs }) => elevenlabs.control.next({ status: 429, headers: { 'retry-after': '60' } }, 20),
    live: (call) => sayAndListen(call),
    events: ['provider_failed', 'provider_switched'],
    botLines: [/^Good morning\.$/, words],
    servedBy: { type: 'tts', processor: 'cartesia' },
    check: (t, story) =>
      t.match(story.events('provider_failed')[0], { provider: 'elevenlabs', class: 'rate_limit' }),
  },
  {
    name: 'RT-58 RT-89 tts: a 429 with Retry-After and no second voice is waited out',
    bot: 'alone',
    // One for the connection that is opened ahead, which the opening may or may not share.
    order: ({ elevenlabs }) => elevenlabs.control.next({ status: 429, headers: { 'retry-after': '1' } }, 2),
    live: (call) => sayAndListen(call),
    events: ['provider_failed', 'provider_retried'],
    // A filler may come before it where the machine is busy, and stands before it.
    botLines: [/Good morning\.$/, words],
  },
  {
    name: 'RT-47 tts: a clause without any audio is asked for once more, then the second voice speaks',
    bot: 'turned',
    async live(call, { cartesia }) {
      cartesia.voice.msPerChar = 0;
      await sayAndListen(call);
    },
    events: ['provider_failed', 'provider_retried', 'provider_switched'],
    botLines: [/^Good morning\.$/, words],
    servedBy: { type: 'tts', processor: 'elevenlabs' },
  },
  {
    name: 'RT-47 tts: first audio after 2 s and no second voice is waited for',
    bot: 'alone',
    async live(call, { elevenlabs }) {
      elevenlabs.voice.firstAudioMs = 2_000;
      await sayAndListen(call, 3_000);
    },
    check(t, story, { elevenlabs }) {
      t.same(story.events('provider_failed'), []);
      const asked = elevenlabs.log.messages('in').filter(({ text }) => String(text).startsWith('One two'));
      t.equal(asked.length, 1, 'nothing is spoken, and paid for, twice');
      t.ok(
        words.test(story.botLines.at(-1)?.replace(/^.*\. (?=One two)/, '') ?? ''),
        story.botLines.join(' | '),
      );
    },
  },
  {
    name: 'RT-59 tts: refusals at the start cost the opening a moment',
    bot: 'alone',
    // One for the connection that is opened ahead, which the opening may or may not share, and two for the opening.
    order: ({ elevenlabs }) => elevenlabs.control.next(REFUSED, 3),
    live: (call) => sayAndListen(call),
    events: ['provider_failed', 'rescue_spoken'],
    botLines: [/technical problem/, /^Good morning\.$/, words],
  },
  {
    name: 'RT-47 tts: no first audio within 1.5 s, and the second voice speaks',
    bot: 'backed',
    async live(call, { elevenlabs }) {
      elevenlabs.control.latest().delayAllMs = 30_000;
      await sayAndListen(call);
    },
    events: ['provider_failed', 'provider_switched'],
    botLines: [words],
    servedBy: { type: 'tts', processor: 'cartesia' },
  },
  {
    name: 'RT-59 tts: no first audio and no second voice: the caller is told meanwhile',
    bot: 'alone',
    async live(call, { elevenlabs }) {
      elevenlabs.control.latest().delayAllMs = 30_000;
      await sayAndHearOut(call);
    },
    events: ['provider_failed'],
    check: (t, story) => t.match(story.botLines.join(' '), /technical problem|One two three/),
  },
  {
    name: 'RT-47 tts: a voice that falls silent in mid-clause, and the second one says the rest',
    bot: 'backed',
    live: midway((socket) => socket.goSilent()),
    events: ['provider_failed', 'provider_switched'],
    botLines: [words],
  },
  {
    name: 'RT-47 tts: a connection cut in mid-clause, and the second voice says the rest',
    bot: 'backed',
    live: midway((socket) => socket.cut()),
    events: ['provider_failed', 'provider_switched'],
    botLines: [words],
  },
  {
    name: 'RT-47 tts: a connection cut in mid-clause is made again where there is no second voice',
    bot: 'alone',
    live: midway((socket) => socket.cut()),
    events: ['provider_failed', 'provider_retried'],
    botLines: [words],
  },
  {
    name: 'RT-59 tts: a half-open connection in mid-clause and no second voice do not leave the caller in silence',
    bot: 'alone',
    live: midway((socket) => socket.goSilent()),
    events: ['provider_failed'],
    botLines: [/^One/],
  },
  {
    name: 'RT-47 tts: a message that cannot be read, and the second voice says the rest',
    bot: 'backed',
    live: midway((socket) => socket.sendHalfJson()),
    events: ['provider_failed', 'provider_switched'],
    botLines: [words],
  },
  {
    name: 'tts: a last message that comes twice changes nothing',
    bot: 'alone',
    live: midway((socket) => socket.duplicateLast()),
    botLines: [words],
    check: (t, story) => t.same(story.events('provider_failed'), []),
  },
  {
    name: 'R106 RT-59 tts: a voice that is gone is stood in for, and the call ends politely, as an error',
    bot: 'alone',
    order: ({ elevenlabs }) => elevenlabs.control.next(REFUSED, 50),
    live: (call) => call.event('hangup', 60_000),
    events: ['provider_failed', 'rescue_spoken'],
    botLines: [/technical problem\. One moment/, /Goodbye/],
    disconnectedBy: 'error',
    check: (t, story) => t.match(story.result.end_detail, { reason: /cannot speak/ }),
  },
]);
