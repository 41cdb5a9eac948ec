import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { Check } from 'typebox/value';
import { placeCall } from '../../src/cli/dialler-client.ts';
import { CallResults } from '../../src/contracts/call-results.ts';
import { audioKernels } from '../../src/platform/audio-kernels.ts';
import { readWav } from '../../src/platform/wav.ts';
import { Appliance } from '../harness/appliance.ts';
import { BareLoop } from '../harness/bare-loop.ts';
import { ForeignPlane } from '../harness/foreign-plane.ts';
import { FrameAudit, NO_FAULTS } from '../harness/frame-audit.ts';
import { humanSpeech } from '../harness/human-speech.ts';
import { placeWhenFree } from '../harness/place-call.ts';

t.setTimeout(280_000);
const plane = await ForeignPlane.start();
const appliance = await Appliance.start({ ...plane.env, SLOTS: '2' });
t.teardown(async () => {
  await appliance.destroy();
  await plane.close();
});

/** Timers and processes between the start of a call and the end of its record. */
const WAITS_OF_A_CALL = 40;
const idle = new BareLoop(t);

const LONG_REPLY =
  'This is a long answer that goes on and on, so that somebody who listens gets the chance to cut it off before it has come to its end, which is what a caller does.';

for (const framing of ['json', 'binary'] as const) {
  t.test(
    `R1 R17 R91 R92 R93 R108 R109 R111 R167 R171 RT-16 RT-17 RT-64 a call over ${framing} frames: heard, answered, interrupted, ended by the caller`,
    async (t) => {
      plane.config = () => ({
        status: 200,
        body: plane.scriptedBot({
          stt: { provider: 'scripted', script: ['tell me everything', 'stop it'] },
          llm: {
            provider: 'scripted',
            rules: [{ intent: 'all', pattern: 'everything', reply: LONG_REPLY }],
            fallback: { reply: 'As you wish.' },
          },
        }),
      });
      const before = plane.results.length;
      const startedAtMs = performance.now();
      const audit = new FrameAudit();
      const call = await placeWhenFree({
        url: `${appliance.callUrl}scripted`,
        connected: {
          stream_id: `stream-${framing}`,
          caller_id: '+911234567890',
          from_number: '+918000000000',
          call_direction: 'outbound',
          campaign: 'spring',
        },
        framing,
        onAudio: audit.onAudio,
        onEvent: (event) => {
          if (event.type === 'clear') audit.onClear();
        },
      });
      t.match(call.sessionId, /^[0-9a-f-]{36}$/);
      const asked = plane.requests.at(-1);
      t.equal(
        asked?.query.get('stream_id'),
        `stream-${framing}`,
        'R148 the config was asked with the stream',
      );
      t.match(
        JSON.parse(asked?.query.get('connected_event') ?? '{}'),
        { campaign: 'spring' },
        'and every field',
      );

      await call.answerAfter(0);
      const first = await call.say(humanSpeech('goforward.raw'), 'question');
      const answer = await call.event('bot_started', 60_000, first.voiceEndedAtMs);
      t.ok(answer, 'the bot answers');
      await wait(1500);
      const cutAtMs = performance.now();
      const over = await call.say(humanSpeech('cards/001.wav'), 'interruption');
      const clear = await call.event('clear', 60_000, cutAtMs);
      t.ok(clear, 'RT-16 speech over the bot cuts it');
      t.ok(await call.event('bot_started', 60_000, over.voiceEndedAtMs), 'and it answers what was said');
      await call.answerAfter(over.voiceEndedAtMs);
      const closed = await call.hangUp('done');
      t.equal(closed.code, 1000);
      t.same(audit.faults, NO_FAULTS, `${audit.frames} frames: none missing, doubled or after clear`);

      const results = (await plane.until(before + 1)).at(-1);
      t.ok(results && Check(CallResults, results), 'R91 the payload has every field of the interface');
      t.match(results, {
        session_id: call.sessionId,
        stream_id: `stream-${framing}`,
        caller_id: '+911234567890',
        from_number: '+918000000000',
        call_direction: 'outbound',
        disconnected_by: 'customer',
        was_transferred: false,
        recording_key: /\.wav$/,
      });
      t.ok((results?.call_duration_seconds ?? 0) > 5);
      const said = results?.transcript ?? [];
      t.same(
        said.map((entry) => entry.speaker),
        ['bot', 'customer', 'bot', 'customer', 'bot'],
        'R92 who said what, in order',
      );
      t.equal(said[2]?.generated, LONG_REPLY, 'RT-17 what was meant stands beside');
      t.ok(LONG_REPLY.startsWith(said[2]?.text ?? 'x') && said[2]?.text !== LONG_REPLY, 'what was heard');
      t.ok(said.every((entry, i) => i === 0 || entry.timestamp >= (said[i - 1]?.timestamp ?? 0)));
      const events = results?.events ?? [];
      t.ok(
        events.every((event) => typeof event.ts === 'number' && event.ts >= 0),
        'R167',
      );
      t.equal(events.filter((event) => event.event === 'interrupted').length, 1);
      t.same(
        events.filter((event) => event.event === 'user_turn').map((event) => event.note),
        ['rule:all', 'rule:fallback'],
      );
      const metric = (type: string) => results?.usage_metrics.filter((entry) => entry.type === type) ?? [];
      t.ok(
        metric('llm').every(
          (entry) =>
            entry.processor === 'scripted' &&
            entry.total_tokens === (entry.prompt_tokens ?? 0) + (entry.completion_tokens ?? 0),
        ),
        'R109 with its tokens',
      );
      t.equal(metric('tts')[0]?.characters, 39, 'R111 the opening line has 39 characters');
      t.ok(metric('ttfb').every((entry) => typeof entry.ttfb_ms === 'number' && entry.ttfb_ms >= 0));
      t.match(
        events.find((event) => event.event === 'disconnected'),
        {
          by: 'customer',
          duration_seconds: Number,
          raw_duration_seconds: Number,
          billable_duration_seconds: Number,
        },
      );
      const types = new Set((results?.usage_metrics ?? []).map((metric) => metric.type));
      t.same([...types].sort(), ['llm', 'tts', 'ttfb'].sort(), 'R108 one usage entry per step');

      const wav = readWav(readFileSync(join(appliance.dataDir, 'recordings', results?.recording_key ?? '')));
      t.equal(wav.channels, 2, 'RT-64 stereo');
      const longerSeconds = wav.samples.length / 2 / 8000 - (results?.call_duration_seconds ?? 0);
      const machineSeconds = idle.shareMs(WAITS_OF_A_CALL, startedAtMs) / 1_000;
      t.ok(Math.abs(longerSeconds) < 1.5 + machineSeconds, `as long as the call, but for ${longerSeconds} s`);
      for (const [side, name] of [
        [0, 'caller'],
        [1, 'bot'],
      ] as const) {
        const level = audioKernels().level(wav.samples.filter((_, i) => i % 2 === side));
        t.ok(level > -60, `the ${name} is on the recording: ${level.toFixed(1)} dBFS`);
      }
      t.same(appliance.spooled, [], 'the spool is empty again');
    },
  );
}

t.test(
  'R6 R7 R33 a full host answers 429 before the upgrade, and a freed slot takes the next call',
  async (t) => {
    plane.config = () => ({ status: 200, body: plane.scriptedBot({}) });
    const url = `${appliance.callUrl}scripted`;
    const [first, second] = await Promise.all([placeWhenFree({ url }), placeWhenFree({ url })]);
    t.equal((await appliance.health())?.fleet_available, 0, 'R163');
    const refusal = await placeCall({ url }).catch((error) => error);
    t.match(refusal, { status: 429, body: /"error":"At capacity"/ });
    const pids = (await appliance.health())?.workers?.map((worker) => worker.pid);
    t.equal(new Set(pids).size, 2, 'one process per call');
    await first.hangUp();
    await appliance.until((health) => health.fleet_available === 1);
    const third = await placeWhenFree({ url });
    await Promise.all([second.hangUp(), third.hangUp()]);
    await appliance.until((health) => health.fleet_available === 2);
  },
);

t.test('R2 a slot holds no descriptor of the store', async (t) => {
  const workers = (await appliance.health())?.workers ?? [];
  t.equal(workers.length, 2);
  for (const worker of workers) {
    const open = readdirSync(`/proc/${worker.pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${worker.pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    });
    t.ok(open.length > 3);
    t.same(
      open.filter((path) => path.startsWith(join(appliance.dataDir, 'store'))),
      [],
    );
  }
});
