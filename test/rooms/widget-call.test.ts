import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TokenVerifier } from 'livekit-server-sdk';
import t from 'tap';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { readWav } from '../../src/platform/wav.ts';
import { Appliance } from '../harness/appliance.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { joinAsGuest, mediaServer } from '../harness/room-guest.ts';
import { until } from '../harness/wait.ts';
import { describeFound, findAudio } from '../stack/correlate.ts';
import { useStack } from '../stack/use-stack.ts';

t.setTimeout(280_000);

const SPOKEN = 'go forward ten meters';
const ANSWER = 'Very well, I am going forward by ten meters now.';
const OPENING = 'Good morning, you have the plan gold.';
const REPLIES = [ANSWER, 'I see.'];

/** A line of the transcript, as the page and the record have it. */
interface Line {
  speaker: string;
  text: string;
}

const BOT = {
  bot_id: 'shop',
  name: 'Shop',
  timezone: 'UTC',
  system_prompt: 'You help in a shop. The visitor has the plan {{call.plan}}.',
  opening_message: 'Good morning, you have the plan {{call.plan}}.',
  stt: { provider: 'pocketsphinx', phrases: [SPOKEN, 'stop there please', 'turn around'] },
  llm: {
    provider: 'scripted',
    rules: [{ intent: 'forward', pattern: 'forward', reply: ANSWER }],
    fallback: { reply: 'I see.' },
  },
  tts: { provider: 'espeak', language: 'en', voice: 'en-gb', speed: 165 },
  publish: true,
};

const stack = await useStack(t);
const appliance = await Appliance.start({
  SLOTS: '1',
  LIVEKIT_URL: stack.wsUrl,
  LIVEKIT_API_KEY: stack.apiKey,
  LIVEKIT_API_SECRET: stack.apiSecret,
});
t.teardown(() => appliance.destroy());

const plane = `http://127.0.0.1:${appliance.controlPort}/api/v1`;
const { token: operator } = JSON.parse(readFileSync(join(appliance.dataDir, 'operator.json'), 'utf8')) as {
  token: string;
};

// biome-ignore lint/suspicious/noExplicitAny: answers are read as an outsider reads them, field by field.
async function admin(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await fetch(`${plane}${path}`, {
    method,
    headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** As the loader of the widget asks, from a page of another site. */
function ask(body: object): Promise<Response> {
  return fetch(`${plane}/widget/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'https://shop.example' },
    body: JSON.stringify(body),
  });
}

await admin('POST', '/bots', BOT);
const { widget_api_key: key } = await admin('POST', '/bots/shop/rotate-widget-key');

t.test(
  'R1 R22 R28 R139 a visitor joins with the token, hears the bot that waits, and is understood',
  async (t) => {
    const answer = await ask({ bot_id: 'shop', api_key: key, context: { plan: 'gold' } });
    t.equal(answer.status, 201, answer.status === 201 ? '' : await answer.clone().text());
    const { server_url: serverUrl, participant_token: token } = (await answer.json()) as Record<
      string,
      string
    >;
    t.equal(serverUrl, stack.wsUrl);
    const claims = await new TokenVerifier(stack.apiKey, stack.apiSecret).verify(token ?? '');
    const room = claims.video?.room ?? '';
    const media = mediaServer(stack);
    const before = await media.participants(room);
    t.match(before, [{ identity: /^bot-/ }], 'the bot stood there before the token was given out');
    t.match(await appliance.health(), { fleet_available: 0 });
    const busy = await ask({ bot_id: 'shop', api_key: key });
    t.match([busy.status, await busy.json()], [503, { code: 'no_fleet' }], 'there is no second slot');

    const visitor = await joinAsGuest(t, stack, room, claims.sub ?? '', { token: token ?? '' });
    const bot = before[0]?.identity ?? '';
    // The page reads along; a line grows while it is heard.
    const lines = () => visitor.messages.flatMap(({ topic, text }) => (topic === 'transcript' ? [text] : []));
    await until(() => lines().some((line) => line.includes(OPENING)), 'the bot has said its opening');
    const speech = humanSpeech('goforward.raw');
    // On a busy machine real audio has gaps, and a bot that did not understand is told again, as people do.
    for (let tries = 0; tries < 3 && !lines().some((line) => line.includes(ANSWER)); tries++) {
      const before = lines().length;
      await visitor.play(wide(speech));
      const said = () =>
        lines()
          .slice(before)
          .map((line) => JSON.parse(line) as Line);
      const answered = () => said().some(({ speaker, text }) => speaker === 'bot' && REPLIES.includes(text));
      await until(answered, 'the bot has answered');
    }
    await visitor.leave();

    const record = await untilRecord(claims.video?.room ?? '');
    t.match(record, {
      status: 'completed',
      call_type: 'widget',
      transport: 'rtc_widget',
      room_name: room,
      call_id: /.+/,
      call_direction: 'inbound',
      disconnected_by: 'customer',
      caller_id: claims.sub,
      connected_event: { plan: 'gold' },
    });
    const told = record.transcript.map(({ speaker, text }: Line) => `${speaker}: ${text}`);
    t.equal(told[0], `bot: ${OPENING}`);
    t.same(told.slice(-2), [`customer: ${SPOKEN}`, `bot: ${ANSWER}`]);
    const wav = readWav(readFileSync(join(appliance.dataDir, 'recordings', record.recording_key)));
    const sides = [0, 1].map((side) => wav.samples.filter((_, i) => i % 2 === side));
    const heard = findAudio(sides[1] ?? new Int16Array(), visitor.heard(bot));
    t.comment(`the bot at the visitor's: ${describeFound(heard)}`);
    t.ok(heard.share >= 0.5 && heard.levelDbfs > heard.knownLevelDbfs - 6, 'heard, as loud as it spoke');
    const said = findAudio(speech, sides[0] ?? new Int16Array());
    t.comment(`the visitor in the recording: ${describeFound(said)}`);
    t.ok(said.share >= 0.5 && said.levelDbfs > said.knownLevelDbfs - 6, 'recorded, as loud as it was');
    await until(async () => (await media.listRooms([room])).length === 0);
    await appliance.until((health) => health.fleet_available === 1);
  },
);

t.test('R142 a bot outside its hours gets nobody into a room', async (t) => {
  const night = { ...BOT, bot_id: 'night', opening_message: 'Hello.', active_hours: closedNow() };
  await admin('POST', '/bots', night);
  const { widget_api_key: nightKey } = await admin('POST', '/bots/night/rotate-widget-key');
  const answer = await ask({ bot_id: 'night', api_key: nightKey });
  t.match([answer.status, await answer.json()], [503, { code: 'outside_active_hours' }]);
  t.equal(answer.headers.get('access-control-allow-origin'), '*');
  await until(
    async () => !(await mediaServer(stack).listRooms()).some(({ name }) => name.startsWith('widget-night-')),
  );
  const { items } = await admin('GET', '/call-records?bot_id=night');
  t.match(items, [{ status: 'not_connected', disconnected_by: 'outside_hours', transport: 'rtc_widget' }]);
});

/** A window of one minute that is not now. */
function closedNow(): Record<string, unknown> {
  const hour = String((new Date().getUTCHours() + 12) % 24).padStart(2, '0');
  return { enabled: true, start_time: `${hour}:00`, end_time: `${hour}:01` };
}

function wide(narrow: Int16Array): Int16Array {
  const up = new (audioKernels().Resampler)(8_000, 16_000);
  const [body, tail] = [up.process(narrow), up.flush()];
  const whole = new Int16Array(body.length + tail.length);
  whole.set(body);
  whole.set(tail, body.length);
  return whole;
}

// biome-ignore lint/suspicious/noExplicitAny: the record as an outsider reads it.
async function untilRecord(room: string): Promise<any> {
  let found: Record<string, unknown> | undefined;
  await until(async () => {
    const { items } = await admin('GET', '/call-records?bot_id=shop');
    for (const { session_id: id } of items) {
      const record = await admin('GET', `/call-records/${id}`);
      if (record.room_name === room && record.status !== 'active') found = record;
    }
    return found !== undefined;
  });
  return found;
}
