import t from 'tap';
import { realClock } from '../../../src/providers/contract/provider-clock.ts';
import { silence, speakTones } from '../../emulators/kit/tone-words.ts';
import { startTranscription, type TranscriptionOptions } from '../../emulators/openai-transcription.ts';
import { until } from '../../harness/wait.ts';
import { Caller, rejection, WORDS } from './caller.ts';

const config = (url: string, more: Record<string, unknown> = {}) => ({
  provider: 'openai',
  language: 'en-US',
  api_key: 'openai-test-key',
  base_url: `${url}/v1`,
  ...more,
});

async function start(t: { teardown(end: () => Promise<void>): void }, options: TranscriptionOptions = {}) {
  const emulator = await startTranscription({ hearing: { words: WORDS }, ...options });
  t.teardown(() => emulator.close());
  return emulator;
}

t.test('R8 openai transcription: each turn is one WAV file, complete to the sample', async (t) => {
  for (const sampleRate of [8_000, 16_000]) {
    const emulator = await start(t);
    const caller = await Caller.calls(
      config(emulator.httpUrl, { keyterms: ['Trunkline', 'table'], temperature: 0 }),
      realClock,
      sampleRate,
    );
    t.equal(caller.stt.wantsSilence, false);
    await caller.say('i would like a table for two');
    await caller.pause(300);
    t.match(await caller.flush(), { text: 'i would like a table for two', confidence: null });
    await caller.say('no thank you');
    caller.session.discard();
    await caller.say('yes please');
    t.equal((await caller.flush()).text, 'yes please');
    t.equal((await caller.flush()).text, '', 'nothing was said since');
    await caller.pause(60);
    t.equal((await caller.flush()).text, '', 'too short to be a word');
    t.same(
      emulator.files.map((file) => file.samples),
      [sampleRate * (7 * 0.22 + 0.3), sampleRate * 2 * 0.22],
    );
    t.equal(emulator.files[0]?.sampleRate, sampleRate);
    t.same(emulator.files[0]?.fields, {
      model: 'whisper-1',
      response_format: 'json',
      language: 'en',
      prompt: 'Trunkline, table',
      temperature: '0',
    });
    t.same(
      caller.finals.map((piece) => piece.text),
      ['i would like a table for two', 'yes please'],
    );
    await caller.session.close();
    t.same(emulator.violations.list, []);
  }
});

t.test('R8 openai transcription: a local server without a key is sent none', async (t) => {
  const emulator = await start(t, { key: null, profile: 'local' });
  const caller = await Caller.calls(
    config(emulator.httpUrl, { api_key: null, model: 'local-whisper', language: null }),
    realClock,
  );
  await caller.say('yes');
  t.equal((await caller.flush()).text, 'yes');
  const request = emulator.log.entries.find((entry) => entry.kind === 'request');
  t.notOk('authorization' in (request?.headers ?? {}));
  t.notOk('language' in (emulator.files[0]?.fields ?? {}));
  await caller.session.close();
  t.same(emulator.violations.list, []);
});

t.test('R8 openai transcription: refusals are told with class, and nobody tries again', async (t) => {
  const emulator = await start(t);
  for (const [status, body, expected] of [
    [400, { error: { message: 'bad file', type: 'invalid_request_error', code: null } }, 'config'],
    [401, { error: { message: 'Incorrect API key: openai-test-key', code: 'invalid_api_key' } }, 'auth'],
    [402, 'payment', 'quota'],
    [403, {}, 'auth'],
    [404, { error: { message: 'no model', code: 'model_not_found' } }, 'config'],
    [429, { error: { message: 'slow down', code: 'rate_limit_exceeded' } }, 'rate_limit'],
    [429, { error: { message: 'no credit', code: 'insufficient_quota' } }, 'quota'],
    [500, '<html>', 'transient'],
    [503, '', 'transient'],
  ] as const) {
    const caller = await Caller.calls(config(emulator.httpUrl), realClock);
    await caller.say('yes');
    const requests = emulator.counters().requests;
    emulator.control.next({ status, body, headers: { 'retry-after': '3' } });
    const failure = await rejection(caller.flush());
    t.match(failure.details, { class: expected, status, retryAfterMs: 3_000 });
    t.notMatch(failure.message, /openai-test-key|http:/);
    t.equal(emulator.counters().requests, requests + 1);
    await caller.say('no');
    t.equal((await caller.flush()).text, 'no', 'the next turn goes on');
    await caller.session.close();
  }
});

t.test('R8 openai transcription: silence, a cut, half an answer and a huge one', async (t) => {
  const emulator = await start(t);
  const dial = async (more: Record<string, unknown> = {}) => {
    const caller = await Caller.calls(config(emulator.httpUrl, more), realClock);
    await caller.say('yes');
    const failure = await rejection(caller.flush());
    await caller.session.close();
    return failure;
  };
  emulator.control.next({ never: true });
  t.equal((await dial({ timeout_ms: 500 })).code, 'provider_timeout');
  emulator.control.next({ reset: true });
  t.match((await dial()).details, { class: 'transient', status: null });
  emulator.control.next({ status: 200, body: '{"text": "half' });
  t.match((await dial()).details, { class: 'transient', status: 200 });
  emulator.control.next({ status: 200, body: { text: 'x'.repeat(600_000) } });
  t.match((await dial()).details, { class: 'transient' });
  emulator.control.next({ status: 200, body: [] });
  const caller = await Caller.calls(config(emulator.httpUrl), realClock);
  await caller.say('yes');
  t.equal((await caller.flush()).text, '', 'an answer without text is an empty one');
  await caller.session.close();
});

t.test('R8 openai transcription: who gives up a turn, or hangs up, waits no longer', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.httpUrl), realClock);
  await caller.say('yes');
  emulator.control.next({ never: true });
  const giveUp = new AbortController();
  const requests = emulator.counters().requests;
  const given = rejection(caller.session.flush(giveUp.signal));
  await until(() => emulator.counters().requests > requests, 'the request');
  giveUp.abort(new Error('too late for this turn'));
  t.equal((await given).message, 'too late for this turn');
  await caller.say('no');
  emulator.control.next({ never: true });
  const hungUp = rejection(caller.flush());
  await until(() => emulator.counters().requests > requests + 1, 'the second request');
  await caller.session.close();
  t.match((await hungUp).message, /session is over/);
  t.match((await rejection(caller.flush())).message, /session is over/);
});

t.test('R8 openai transcription: of a turn without end the newest two minutes are kept', async (t) => {
  const emulator = await start(t);
  const caller = await Caller.calls(config(emulator.httpUrl), realClock);
  for (let second = 0; second < 130; second++) caller.session.feed(silence(1_000, 8_000));
  caller.session.feed(speakTones('yes please', WORDS, 8_000));
  t.equal((await caller.flush()).text, 'yes please');
  t.ok((emulator.files[0]?.samples ?? 0) <= 120 * 8_000);
  t.ok((emulator.files[0]?.samples ?? 0) >= 119 * 8_000);
  t.match(caller.reports, [{ event: 'provider_audio_dropped', provider: 'openai' }]);
  t.equal(caller.reports.length, 1, 'told once');
  await caller.session.close();
});
