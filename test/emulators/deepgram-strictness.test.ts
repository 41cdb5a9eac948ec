import t from 'tap';
import { WebSocket } from 'ws';
import { HandClock } from '../harness/hand-clock.ts';
import { startDeepgram } from './deepgram.ts';
import { startFlux } from './deepgram-flux.ts';
import type { SttEmulator } from './kit/stt-emulator.ts';
import { type Client, connect, frames, open, RAW_WORDS } from './raw-client.ts';

/** The emulators refuse what the vendors refuse; each refusal leaves a violation that a client's test would fail on. */

const DEEPGRAM = 'model=nova-3&encoding=linear16&sample_rate=8000';
const token = (emulator: SttEmulator) => ({ authorization: `Token ${emulator.key}` });

t.test('D-35 deepgram: keys and queries that the vendor refuses are refused', async (t) => {
  const emulator = await open(t, startDeepgram());
  const url = `${emulator.wsUrl}/v1/listen`;
  t.equal(await connect(`${url}?${DEEPGRAM}`).status, 401);
  t.equal(await connect(`${url}?${DEEPGRAM}`, { authorization: emulator.key }).status, 401);
  t.equal(await connect(`${url}?${DEEPGRAM}`, { authorization: 'Token wrong' }).status, 401);
  t.equal(emulator.violations.take().length, 3);
  const bad: [string, RegExp][] = [
    ['encoding=linear16&sample_rate=8000', /key model is missing/],
    ['model=flux-general-en&encoding=linear16&sample_rate=8000', /v2/],
    ['model=nova-3&sample_rate=8000', /encoding is missing/],
    ['model=nova-3&encoding=linear16', /sample_rate is missing/],
    [`${DEEPGRAM}&eot_threshold=0.7`, /unknown key eot_threshold/],
    [`${DEEPGRAM}&keywords=a:2`, /keywords/],
    ['model=nova-2&encoding=linear16&sample_rate=8000&keyterm=a', /keyterm needs nova-3/],
    [`${DEEPGRAM}&keyterm=word:2`, /plain term/],
    [`${DEEPGRAM}&utterance_end_ms=1000`, /needs interim_results/],
    [`${DEEPGRAM}&utterance_end_ms=900&interim_results=true`, /below 1000/],
    [`${DEEPGRAM}&smart_format=yes`, /smart_format/],
    [`${DEEPGRAM}&language=en&language=hi`, /stands 2 times/],
    [`${DEEPGRAM}&tag=${emulator.key}`, /key stands in it/],
  ];
  for (const [query, reason] of bad) {
    t.equal(await connect(`${url}?${query}`, token(emulator)).status, 400, query);
    t.match(emulator.violations.take().join(), reason);
  }
  t.equal(emulator.counters().handshakes, 0);
  const good = connect(`${url}?${DEEPGRAM}&keyterm=a&keyterm=b%20c&interim_results=true`, token(emulator));
  t.equal(await good.status, 101);
  good.socket.terminate();
});

t.test('D-35 deepgram: frames that the vendor refuses end the stream', async (t) => {
  const emulator = await open(t, startDeepgram());
  const session = async () => {
    const client = connect(`${emulator.wsUrl}/v1/listen?${DEEPGRAM}`, token(emulator));
    await client.status;
    return client;
  };
  const odd = await session();
  odd.socket.send(Buffer.alloc(321));
  t.match(await odd.closed, { code: 1008, reason: /DATA-0000/ });
  const empty = await session();
  empty.socket.send(Buffer.alloc(0));
  t.match(await empty.closed, { code: 1000 });
  const control = await session();
  control.socket.send(Buffer.from('{"type":"KeepAlive"}'));
  t.match(await control.closed, { code: 1008, reason: /DATA-0000/ });
  const unknown = await session();
  unknown.socket.send('{"type":"Configure"}');
  t.match(await unknown.closed, { code: 1008 });
  t.equal(emulator.violations.take().length, 4);
  const late = await session();
  late.socket.send('{"type":"CloseStream"}');
  late.socket.send(Buffer.alloc(320));
  t.match(await late.closed, { code: 1000 });
  t.match(emulator.violations.take().join(), /audio after CloseStream/);
});

t.test('D-35 deepgram: ten seconds of nothing end the stream, a KeepAlive does not', async (t) => {
  const clock = new HandClock(1_000);
  const emulator = await open(t, startDeepgram({ clock }));
  const client = connect(`${emulator.wsUrl}/v1/listen?${DEEPGRAM}`, token(emulator));
  await client.status;
  await emulator.control.opened(1);
  await clock.advance(8_000);
  client.socket.send('{"type":"KeepAlive"}');
  await emulator.log.waitFor((entry) => entry.kind === 'text');
  await clock.advance(9_000);
  t.equal(client.socket.readyState, WebSocket.OPEN);
  await clock.advance(1_001);
  t.match(await client.closed, { code: 1011, reason: /NET-0001/ });
});

t.test(
  'D-35 deepgram: pieces of a long utterance tell every word once, also over a new connection',
  async (t) => {
    const emulator = await open(t, startDeepgram({ hearing: { words: RAW_WORDS }, finalEveryWords: 3 }));
    const query = `${DEEPGRAM}&interim_results=true&endpointing=300`;
    const text = (client: Client) =>
      client.messages
        .filter((message) => message.is_final)
        .map(
          (message) =>
            (message.channel as { alternatives: { transcript: string }[] }).alternatives[0]?.transcript,
        )
        .filter(Boolean)
        .join(' ');
    const first = connect(`${emulator.wsUrl}/v1/listen?${query}`, token(emulator));
    await first.status;
    for (const frame of frames('one two three four five six', 0, 20)) first.socket.send(frame);
    const piece = await first.until((message) => message.is_final === true);
    t.match(piece, { speech_final: false });
    emulator.control.latest().cut();
    t.equal((await first.closed).code, 1006);
    t.equal(text(first), 'one two three');

    // What the final covered need not be heard again: the audio after it holds exactly the other words.
    const covered = (Number(piece.start) + Number(piece.duration)) * 1000;
    const all = Buffer.concat(frames('one two three four five six', 600, 20));
    const second = connect(`${emulator.wsUrl}/v1/listen?${query}`, token(emulator));
    await second.status;
    second.socket.send(all.subarray(covered * 16));
    await second.until((message) => message.speech_final === true);
    t.equal(text(second), 'four five six');
    second.socket.terminate();
    t.same(emulator.violations.list, []);
  },
);

t.test('D-35 deepgram: a wrong byte order and a wrong rate are seen', async (t) => {
  const emulator = await open(t, startDeepgram({ hearing: { words: RAW_WORDS } }));
  const client = connect(`${emulator.wsUrl}/v1/listen?${DEEPGRAM}&endpointing=300`, token(emulator));
  await client.status;
  for (const frame of frames('one two', 600, 20)) client.socket.send(Buffer.from(frame).swap16());
  await emulator.log.waitFor(() => emulator.counters().bytesIn >= 1_040 * 16);
  t.equal(emulator.audio(0).byteOrderSuspect, true);
  client.socket.terminate();
  const right = connect(`${emulator.wsUrl}/v1/listen?${DEEPGRAM}&endpointing=300`, token(emulator));
  await right.status;
  for (const frame of frames('one two', 600, 20)) right.socket.send(frame);
  await right.until((message) => message.speech_final === true);
  t.match(emulator.audio(1), { byteOrderSuspect: false, samples: 1_040 * 8 });
  right.socket.terminate();
  const slow = connect(
    `${emulator.wsUrl}/v1/listen?model=nova-3&encoding=linear16&sample_rate=16000&endpointing=300`,
    token(emulator),
  );
  await slow.status;
  for (const frame of frames('one two', 900, 20)) slow.socket.send(frame);
  const heard = await slow.until((message) => message.speech_final === true);
  t.notMatch(
    JSON.stringify(heard),
    '"transcript":"one two"',
    'at the wrong rate it is garbage, not an error',
  );
  slow.socket.terminate();
});

const FLUX = 'model=flux-general-en&encoding=linear16&sample_rate=8000';

t.test('D-35 flux: queries that the vendor refuses are refused', async (t) => {
  const emulator = await open(t, startFlux());
  const bad: [string, RegExp][] = [
    [`${FLUX}&interim_results=true`, /unknown key interim_results/],
    [`${FLUX}&endpointing=300`, /unknown key endpointing/],
    [`${FLUX}&language=en`, /unknown key language/],
    [`${FLUX}&smart_format=true`, /unknown key smart_format/],
    [`${FLUX}&eot_threshold=0.4`, /below 0.5/],
    [`${FLUX}&eager_eot_threshold=0.95`, /above 0.9/],
    [`${FLUX}&eager_eot_threshold=0.8&eot_threshold=0.6`, /eager/],
    [`${FLUX}&eot_timeout_ms=100`, /below 500/],
    [`${FLUX}&language_hint=hi`, /flux-general-multi/],
    ['model=flux-general-multi&encoding=linear16&sample_rate=8000&language_hint=', /language_hint is empty/],
    ['model=nova-3&encoding=linear16&sample_rate=8000', /model/],
    ['model=flux-general-en&encoding=linear16&sample_rate=11025', /sample_rate/],
  ];
  for (const [query, reason] of bad) {
    t.equal(await connect(`${emulator.wsUrl}/v2/listen?${query}`, token(emulator)).status, 400, query);
    t.match(emulator.violations.take().join(), reason);
  }
  t.equal(await connect(`${emulator.wsUrl}/v1/listen?${FLUX}`, token(emulator)).status, 400);
  t.match(emulator.violations.take().join(), /v2/);
});

t.test(
  'D-35 flux: audio before Connected, odd frames, hasty Configures and v1 messages are violations',
  async (t) => {
    const clock = new HandClock(1_000);
    const emulator = await open(t, startFlux({ clock }));
    const session = async () => {
      const client = connect(`${emulator.wsUrl}/v2/listen?${FLUX}`, token(emulator));
      await client.status;
      await emulator.control.opened(emulator.counters().handshakes);
      return client;
    };
    const hasty = await session();
    hasty.socket.send(Buffer.alloc(1_280));
    t.match(await hasty.closed, { code: 1008 });
    t.match(emulator.violations.take(), [/audio before Connected/]);

    const client = await session();
    await clock.advance(301);
    await client.until((message) => message.type === 'Connected');
    client.socket.send(Buffer.alloc(320));
    client.socket.send(Buffer.alloc(320));
    client.socket.send('{"type":"Configure","thresholds":{"eot_threshold":0.8}}');
    client.socket.send('{"type":"Configure","keyterms":["a"]}');
    await emulator.log.waitFor((entry) => entry.text?.includes('keyterms') ?? false);
    t.match(emulator.violations.take(), [/20 ms/, /second Configure/]);
    await clock.advance(101);
    await client.until(
      (message) => message.type === 'ConfigureSuccess' && JSON.stringify(message.keyterms) === '["a"]',
    );
    client.socket.send('{"type":"Configure","thresholds":{"eager_eot_threshold":0.9}}');
    await emulator.log.waitFor((entry) => entry.text?.includes('0.9') ?? false);
    await clock.advance(101);
    await client.until(({ type, code }) => type === 'ConfigureFailure' && code === 'INVALID_CONFIGURATION');
    t.match(emulator.violations.take(), [/eager threshold/]);
    client.socket.send('{"type":"Finalize"}');
    t.match(await client.closed, { code: 1008 });
    t.match(emulator.violations.take(), [/Finalize/]);
  },
);

t.test('D-35 flux: turns end by model, by timeout and by force, and resume after an eager end', async (t) => {
  const emulator = await open(t, startFlux({ hearing: { words: RAW_WORDS }, connectedAfterMs: 0 }));
  const run = async (query: string, pieces: [string, number][], end?: string) => {
    const client = connect(`${emulator.wsUrl}/v2/listen?${FLUX}${query}`, token(emulator));
    await client.until((message) => message.type === 'Connected');
    const all = Buffer.concat(pieces.flatMap(([text, silenceMs]) => frames(text, silenceMs, 20)));
    for (let at = 0; at + 1_280 <= all.length; at += 1_280) client.socket.send(all.subarray(at, at + 1_280));
    if (end) client.socket.send(end);
    const last = await client.until((message) => message.event === 'EndOfTurn');
    client.socket.terminate();
    return {
      last,
      events: client.messages.map((message) => message.event).filter((event) => event && event !== 'Update'),
    };
  };
  const plain = await run('', [['one two three', 800]]);
  t.match(plain.last, { transcript: 'one two three', trigger: 'model' });
  const resumed = await run('&eager_eot_threshold=0.4&eot_threshold=0.8', [
    ['one two', 320],
    ['three', 1_200],
  ]);
  t.same(resumed.events, ['StartOfTurn', 'EagerEndOfTurn', 'TurnResumed', 'EagerEndOfTurn', 'EndOfTurn']);
  t.match(resumed.last, { transcript: 'one two three' });
  const timeout = await run('&eot_threshold=1&eot_timeout_ms=1000', [['four', 1_400]]);
  t.match(timeout.last, { transcript: 'four', trigger: 'timeout' });
  const forced = await run('&eot_threshold=1', [['five six', 80]], '{"type":"ForceEndTurn"}');
  t.match(forced.last, { transcript: 'five six', trigger: 'manual' });
  t.same(emulator.violations.list, []);
});
