import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import WebSocket from 'ws';
import type { DiallerOptions } from '../../src/cli/dialler-client.ts';
import { partnerDialect } from '../../src/cli/partner-dialect.ts';
import { jsonOf, type WireDialect } from '../../src/cli/wire-dialect.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { readWav } from '../../src/platform/wav.ts';
import { Appliance } from '../harness/appliance.ts';
import { runCli } from '../harness/command-line.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { FrameAudit } from '../harness/frame-audit.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { placeWhenFree } from '../harness/place-call.ts';
import { until } from '../harness/wait.ts';

t.setTimeout(280_000);
const PATIENCE_MS = 20_000;
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '3' });
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});
const url = `ws://127.0.0.1:${appliance.fleetPort}/partner/scripted`;

const LONG_REPLY =
  'This is a long answer that goes on and on, so that somebody who listens gets the chance to cut it off before it has come to its end, which is what a caller does.';

function useBot(change: Record<string, unknown> = {}): void {
  plane.config = () => ({ status: 200, body: plane.scriptedBot(change) });
}

interface WireMessage {
  atMs: number;
  event: string;
  bytes: number;
  message: Record<string, unknown>;
}

/** A partner's call that keeps every message of the bot as it came over the wire. */
async function call(
  options: Omit<DiallerOptions, 'url' | 'dialect'> & { url?: string; dialect?: WireDialect } = {},
) {
  const wire: WireMessage[] = [];
  const inner = options.dialect ?? partnerDialect({ connected: options.connected });
  const dialect: WireDialect = {
    ...inner,
    read(data, isBinary) {
      const message = jsonOf(data) ?? {};
      const payload = (message.media as { payload?: string } | undefined)?.payload ?? '';
      wire.push({
        atMs: performance.now(),
        event: String(message.event),
        bytes: Buffer.from(payload, 'base64').length,
        message,
      });
      return inner.read(data, isBinary);
    },
  };
  const live = await placeWhenFree({ url, ...options, dialect });
  return { call: live, wire, media: () => wire.filter((message) => message.event === 'media') };
}

/** The result of the call with this stream. */
async function resultOf(streamId: string): Promise<CallResults> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = plane.results.find((result) => result.stream_id === streamId);
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`no result for ${streamId}\n${appliance.log.slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const eventsOf = (result: CallResults, name: string) => result.events.filter((event) => event.event === name);

/** A stranger's client: says exactly these texts and keeps what comes. */
function stranger(texts: (string | Buffer)[], path = url) {
  const socket = new WebSocket(path, { perMessageDeflate: false });
  const got: Record<string, unknown>[] = [];
  socket.on('message', (data) => got.push(JSON.parse(String(data)) as Record<string, unknown>));
  socket.on('error', () => undefined);
  socket.on('open', () => {
    for (const text of texts) socket.send(text);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  return { socket, got, closed };
}

/** The most audio that was on its way or waited at the far end, when it plays without a pause. */
function mostAheadMs(media: WireMessage[]): number {
  let aheadMs = 0;
  let most = 0;
  for (const [i, message] of media.entries()) {
    const sinceMs = message.atMs - (media[i - 1]?.atMs ?? message.atMs);
    aheadMs = Math.max(0, aheadMs - sinceMs) + 100;
    most = Math.max(most, aheadMs);
  }
  return most;
}

// Their time-outs run while the first call does.
const silent = stranger([]);
const startless = stranger(['{"event":"connected"}']);

t.test(
  'R18 R91 RT-17 RT-79 RT-91 a partner call is heard, answered, interrupted, dialled into and ended by the caller',
  async (t) => {
    useBot({
      stt: { provider: 'scripted', script: ['tell me everything', 'stop it'] },
      llm: {
        provider: 'scripted',
        rules: [{ intent: 'all', pattern: 'everything', reply: LONG_REPLY }],
        fallback: { reply: 'As you wish.' },
      },
    });
    const audit = new FrameAudit();
    const connected = {
      stream_id: 'stream-1',
      caller_id: '+919800000001',
      from_number: '+918000000002',
      plan: 'gold',
    };
    const {
      call: live,
      wire,
      media,
    } = await call({
      connected,
      dialect: partnerDialect({ connected, callSid: 'sid-1' }),
      onAudio: audit.onAudio,
      onEvent: (event) => {
        if (event.type === 'clear') audit.onClear();
      },
    });
    await live.answerAfter(0, 700, PATIENCE_MS);
    const asked = plane.requests.at(-1)?.query;
    t.equal(asked?.get('caller_id'), '+919800000001');
    t.equal(asked?.get('stream_id'), 'stream-1');
    t.strictSame(
      JSON.parse(asked?.get('connected_event') ?? ''),
      {
        plan: 'gold',
        event: 'connected',
        stream_id: 'stream-1',
        stream_sid: 'stream-1',
        call_sid: 'sid-1',
        account_sid: 'trunkline-call',
        from: '+919800000001',
        to: '+918000000002',
        caller_id: '+919800000001',
        from_number: '+918000000002',
        call_direction: 'inbound',
      },
      'who calls whom comes out of start',
    );
    live.send({ event: 'dtmf', dtmf: { digit: '7' } });
    const question = await live.say(humanSpeech('goforward.raw'), 'question');
    t.ok(await live.event('bot_started', PATIENCE_MS, question.voiceEndedAtMs), 'the bot answers');
    const cutAtMs = performance.now();
    const over = await live.say(humanSpeech('cards/001.wav'), 'interruption');
    t.ok(
      await live.event('clear', PATIENCE_MS, cutAtMs),
      'speech over the bot clears what the carrier holds',
    );
    t.ok(await live.answerAfter(over.voiceEndedAtMs, 700, PATIENCE_MS), 'and is answered');
    await live.hangUp('callended');

    t.ok(media().length > 20);
    t.ok(
      media().every((message) => message.bytes === 1600),
      'RT-79 every frame has 1600 bytes',
    );
    t.ok(
      wire.every(({ message }, i) => message.sequence_number === i + 1 && message.stream_sid === 'stream-1'),
      'every message has its number and the stream',
    );
    t.ok(
      media().every(({ message }, i) => {
        const { chunk, timestamp } = message.media as { chunk: number; timestamp: string };
        return chunk === i + 1 && timestamp === String(i * 100);
      }),
      'and every frame its chunk and time',
    );
    t.ok(
      wire.filter((message) => message.event === 'mark').length >= 2,
      'each spoken unit is followed by a mark',
    );
    t.match(audit.faults, { missing: 0, doubled: 0, afterClear: 0 }, 'RT-91 no frame lost, doubled or stale');
    t.ok(mostAheadMs(media()) < 2000, 'RT-79 speech comes as time goes, never in one piece');

    const result = await resultOf('stream-1');
    t.match(result, {
      caller_id: '+919800000001',
      from_number: '+918000000002',
      call_direction: 'inbound',
      disconnected_by: 'customer',
    });
    t.same(
      result.transcript.map((entry) => entry.speaker),
      ['bot', 'customer', 'bot', 'customer', 'bot'],
    );
    t.ok(
      live.events.filter((event) => event.type === 'mark_played').length >= 2,
      'marks are echoed as they play',
    );
    t.not(result.transcript[0]?.heard, 'none', 'RT-17 the opening was heard');
    t.equal(result.transcript[2]?.generated, LONG_REPLY);
    t.ok(LONG_REPLY.startsWith(result.transcript[2]?.text ?? 'x'), 'what was heard of it is its beginning');
    t.same(
      eventsOf(result, 'dtmf').map((event) => event.digit),
      ['7'],
    );
    t.equal(eventsOf(result, 'wrong_sample_rate').length, 0);
    t.match(eventsOf(result, 'disconnected')[0], { reason: 'callended' });
    const wav = readWav(readFileSync(join(appliance.dataDir, 'recordings', result.recording_key ?? '')));
    for (const side of [0, 1]) {
      const level = audioKernels().level(wav.samples.filter((_, i) => i % 2 === side));
      t.ok(level > -60, `side ${side} is on the recording: ${level.toFixed(1)} dBFS`);
    }
  },
);

t.test(
  'RT-80 a stream that never starts is closed in bounded time, an unknown bot by its code',
  async (t) => {
    t.match(await silent.closed, { code: 1008, reason: /"connected" within 5 s/ });
    t.match(await startless.closed, { code: 1008, reason: /"start" within 10 s/ });
    const stopped = stranger(['{"event":"connected"}', '{"event":"stop"}']);
    t.match(await stopped.closed, { code: 1000 });
    plane.config = () => ({ status: 404, body: { detail: 'no such bot' } });
    const nobody = stranger(['{"event":"connected"}', '{"event":"start","start":{"call_sid":"x"}}']);
    t.match(await nobody.closed, { code: 4404, reason: /no such bot/ });
    await appliance.until((health) => health.fleet_available === 3);
  },
);

t.test('R18 RT-79 lines of 16 and 24 kHz and other frame sizes are spoken as asked', async (t) => {
  useBot();
  const cases = [
    { sampleRate: 16_000, query: '', bytes: 3200 },
    { sampleRate: 24_000, query: '', bytes: 4800 },
    { sampleRate: 8000, query: '?frame-bytes=320', bytes: 320 },
  ];
  await Promise.all(
    cases.map(async ({ sampleRate, query, bytes }) => {
      const connected = { stream_id: `rate-${sampleRate}` };
      const { call: live, media } = await call({
        url: `${url}${query}`,
        connected,
        dialect: partnerDialect({ connected, sampleRate }),
      });
      await live.answerAfter(0, 700, PATIENCE_MS);
      const said = await live.say(humanSpeech('goforward.raw'));
      t.ok(
        await live.answerAfter(said.voiceEndedAtMs, 700, PATIENCE_MS),
        `${sampleRate}: heard and answered`,
      );
      await live.hangUp();
      t.ok(media().length > 10 && media().every((message) => message.bytes === bytes), `frames of ${bytes}`);
      const result = await resultOf(`rate-${sampleRate}`);
      t.equal(eventsOf(result, 'wrong_sample_rate').length, 0);
      const seconds = result.events.find((event) => event.event === 'disconnected')?.ts ?? 0;
      const received = Number(
        (result as { end_detail?: { received_seconds?: number } }).end_detail?.received_seconds,
      );
      t.ok(
        received > seconds * 0.6 && received < seconds * 1.4,
        `${received} s of audio in a call of ${seconds} s: the rates fit`,
      );
    }),
  );
});

t.test('RT-80 a rate that start had wrong is put on the record, and the true one is used', async (t) => {
  useBot();
  const connected = { stream_id: 'liar' };
  const { call: live, media } = await call({
    connected,
    dialect: partnerDialect({ connected, sampleRate: 16_000, announcedRate: 8000 }),
  });
  await live.until(() => media().some((message) => message.bytes === 3200), PATIENCE_MS);
  await live.answerAfter(0, 700, PATIENCE_MS);
  const said = await live.say(humanSpeech('goforward.raw'));
  t.ok(await live.answerAfter(said.voiceEndedAtMs, 700, PATIENCE_MS), 'the caller is understood');
  await live.hangUp();
  const result = await resultOf('liar');
  t.match(eventsOf(result, 'wrong_sample_rate'), [
    { announced_hz: 8000, measured_hz: 16_000, used_hz: 16_000 },
  ]);
  t.equal(eventsOf(result, 'wrong_sample_rate').length, 1);
  t.equal(media().at(-1)?.bytes, 3200, 'frames follow the measured rate');
});

t.test('RT-80 the same call on a second socket takes over from the first', async (t) => {
  useBot();
  const first = await call({
    dialect: partnerDialect({ connected: { stream_id: 'old' }, callSid: 'twice' }),
  });
  await first.call.event('bot_started', PATIENCE_MS);
  const other = await call({
    dialect: partnerDialect({ connected: { stream_id: 'else' }, callSid: 'another' }),
  });
  const second = await call({
    dialect: partnerDialect({ connected: { stream_id: 'new' }, callSid: 'twice' }),
  });
  const closed = await first.call.closed;
  t.match(closed, { code: 1000, reason: 'replaced' });
  t.ok(await second.call.event('bot_started', PATIENCE_MS), 'the new socket has the call');
  t.notOk(other.call.isClosed, 'other calls are left alone');
  t.match(eventsOf(await resultOf('old'), 'disconnected')[0], { reason: 'replaced' });
  await Promise.all([second.call.hangUp(), other.call.hangUp()]);
  t.equal((await resultOf('new')).disconnected_by, 'customer');
  await appliance.until((health) => health.fleet_available === 3);
});

t.test('RT-80 a stream that ends without stop is the caller who left', async (t) => {
  useBot();
  const connected = { stream_id: 'no-stop' };
  const { call: live } = await call({ connected });
  await live.event('bot_started', PATIENCE_MS);
  live.drop();
  t.equal((await resultOf('no-stop')).disconnected_by, 'customer');
  await appliance.until((health) => health.fleet_available === 3);
});

t.test('R18 closing our socket is how the bot ends the call', async (t) => {
  useBot({
    stt: { provider: 'scripted', script: ['goodbye'] },
    llm: {
      provider: 'scripted',
      rules: [
        { intent: 'bye', pattern: 'goodbye', reply: 'Goodbye then.', tool: { name: 'end_call', args: {} } },
      ],
      fallback: { reply: 'Yes?' },
    },
  });
  const connected = { stream_id: 'bye' };
  const { call: live, wire } = await call({ connected });
  await live.answerAfter(0, 700, PATIENCE_MS);
  await live.say(humanSpeech('goforward.raw'));
  t.ok(await live.until(() => live.isClosed, PATIENCE_MS));
  t.equal((await live.closed).code, 1000);
  t.same(
    [...new Set(wire.map((message) => message.event))].sort(),
    ['mark', 'media'],
    'with nothing on the wire that the carrier does not know',
  );
  const result = await resultOf('bye');
  t.equal(result.disconnected_by, 'bot');
  t.match(
    result.transcript.at(-1),
    { text: 'Goodbye then.', heard: /mark|estimate|words/ },
    'after its goodbye',
  );
});

t.test('RT-80 odd spellings, noise and a repeated start leave the call alone and are counted', async (t) => {
  useBot();
  const odd = stranger([
    Buffer.from('ping'),
    '{"Event":"Connected"}',
    'not json',
    '{"event":"media","media":{"payload":"AAAA"}}',
    '{"Event":"Start","streamSid":"odd","Start":{"CallSid":"odd-call","From":9800000001,"To":"22","CustomParameters":"{\\"plan\\":\\"silver\\"}"}}',
  ]);
  t.ok(await until(() => odd.got.some((message) => message.event === 'media')), 'the bot speaks');
  t.match(JSON.parse(plane.requests.at(-1)?.query.get('connected_event') ?? ''), {
    plan: 'silver',
    from: '9800000001',
    call_sid: 'odd-call',
  });
  for (const text of [
    '{"event":"start","stream_sid":"odd","start":{"call_sid":"odd-call"}}',
    '{"event":"connected"}',
    '{"event":"weather"}',
    '[1]',
    '{"event":"media","media":{"payload":"%%%%"}}',
    `{"event":"media","media":{"payload":"${'A'.repeat(133_340)}"}}`,
    '{"event":"media","media":{"payload":"AAAA"}}',
    '{"event":"media","media":{"chunk":1,"payload":"AAA="}}',
    '{"event":"media","media":{"chunk":"2","payload":"AAA="}}',
    '{"event":"media","media":{"chunk":9,"payload":"AAA="}}',
    '{"event":"clear","stream_sid":"odd"}',
    '{"EVENT":"STOP","STOP":{"REASON":"stopped"}}',
  ]) {
    odd.socket.send(text);
  }
  t.match(await odd.closed, { code: 1000 });
  const result = await resultOf('odd');
  t.equal(result.disconnected_by, 'customer');
  t.match(eventsOf(result, 'disconnected')[0], { reason: 'stopped' });
  t.match(eventsOf(result, 'protocol_noise')[0]?.counts, {
    binary_message: 1,
    malformed: 2,
    repeated_start: 1,
    repeated_connected: 1,
    unknown_event: 1,
    media_gap: 1,
    peer_clear: 1,
  });
  const counts = eventsOf(result, 'protocol_noise')[0]?.counts as Record<string, number>;
  t.equal(counts.bad_media, 3, 'no base64, too long, half a sample');
});

t.test('trunkline call --partner places a partner call and shows its words', async (t) => {
  useBot();
  const folder = t.testdir({});
  const out = join(folder, 'heard.wav');
  const wav = join(folder, 'question.raw');
  const speech = humanSpeech('goforward.raw');
  const wide = new (audioKernels().Resampler)(8000, 16_000).process(speech);
  writeFileSync(wav, Buffer.from(wide.buffer, wide.byteOffset, wide.byteLength));
  const ran = await runCli(
    ['call', 'scripted', '--partner', '--caller', '+15550123', '--wav', wav, '--out', out],
    { FLEET_LISTEN: `127.0.0.1:${appliance.fleetPort}`, DATA_DIR: appliance.dataDir },
    60_000,
  );
  t.equal(ran.code, 0, ran.stderr);
  t.match(ran.stdout, /bot {4}> {2}speaks/);
  t.match(ran.stdout, /bot {4}" {3}Good morning/, 'the words are read from the spool by the stream');
  t.match(ran.stdout, /answers began \d+ ms/);
  t.equal(readWav(readFileSync(out)).channels, 2);
  const both = await runCli(['call', 'scripted', '--partner', '--binary']);
  t.equal(both.code, 2);
  t.match(both.stderr, /--partner has no binary frames/);
});
