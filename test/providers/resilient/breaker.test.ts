import t from 'tap';
import {
  admits,
  BREAKER_LONGEST_MS,
  BREAKER_OPEN_MS,
  BREAKER_WINDOW_MS,
  beginRequest,
  breakerState,
  errorRate,
  newBreaker,
  openFor,
  recordFailure,
  recordSuccess,
} from '../../../src/platform/circuit-breaker.ts';
import { addLatency, newLatencyWindow, percentiles } from '../../../src/platform/latency-window.ts';
import { hasToken, newTokenBucket, setRate, takeToken } from '../../../src/platform/token-bucket.ts';
import { LocalProviderHealth, providerKey } from '../../../src/providers/resilient/provider-health.ts';
import { HandClock } from '../../harness/hand-clock.ts';

t.test('RT-58 a breaker opens on three failures that are half of all, and not on fewer', async (t) => {
  const breaker = newBreaker();
  recordFailure(breaker, 0);
  recordFailure(breaker, 1);
  t.equal(breakerState(breaker, 2), 'closed');
  recordFailure(breaker, 2);
  t.equal(breakerState(breaker, 3), 'open');
  t.equal(admits(breaker, 3), false);

  const busy = newBreaker();
  for (let at = 0; at < 10; at += 1) recordSuccess(busy, at);
  for (let at = 10; at < 19; at += 1) recordFailure(busy, at);
  t.equal(breakerState(busy, 20), 'closed', 'nine of nineteen');
  t.equal(errorRate(busy, 20), 9 / 19);
  recordFailure(busy, 20);
  t.equal(breakerState(busy, 21), 'open', 'ten of twenty');
});

t.test('failures that lie far apart do not open a breaker', async (t) => {
  const breaker = newBreaker();
  for (let round = 0; round < 10; round += 1) recordFailure(breaker, round * (BREAKER_WINDOW_MS + 1));
  t.equal(breakerState(breaker, 10 * BREAKER_WINDOW_MS), 'closed');
});

t.test('an open breaker lets one trial through after its time; the trial decides', async (t) => {
  const breaker = newBreaker();
  for (const at of [0, 1, 2]) recordFailure(breaker, at);
  const halfOpenAt = 2 + BREAKER_OPEN_MS;
  t.equal(breakerState(breaker, halfOpenAt - 1), 'open');
  t.equal(breakerState(breaker, halfOpenAt), 'half_open');
  t.equal(admits(breaker, halfOpenAt), true);
  beginRequest(breaker, halfOpenAt);
  t.equal(admits(breaker, halfOpenAt + 1), false, 'one at a time');
  recordFailure(breaker, halfOpenAt + 5);
  t.equal(breakerState(breaker, halfOpenAt + 5 + BREAKER_OPEN_MS), 'open', 'it stays open twice as long');
  const later = halfOpenAt + 5 + 2 * BREAKER_OPEN_MS;
  t.equal(breakerState(breaker, later), 'half_open');
  beginRequest(breaker, later);
  recordSuccess(breaker, later + 1);
  t.equal(breakerState(breaker, later + 1), 'closed');
  t.equal(breaker.openings, 0, 'and the next opening is a short one again');
});

t.test(
  'a success that began before the opening does not close a breaker, and a trial nobody ends is forgotten',
  async (t) => {
    const breaker = newBreaker();
    for (const at of [0, 1, 2]) recordFailure(breaker, at);
    recordSuccess(breaker, 10);
    t.equal(breakerState(breaker, 11), 'open');
    beginRequest(breaker, 20_000);
    t.equal(admits(breaker, 20_001), false);
    t.equal(admits(breaker, 30_001), true);
  },
);

t.test('a time that the service names is kept, up to a minute', async (t) => {
  const breaker = newBreaker();
  openFor(breaker, 0, 3_000);
  t.equal(breakerState(breaker, 2_999), 'open');
  t.equal(breakerState(breaker, 3_000), 'half_open');
  openFor(breaker, 4_000, 86_400_000);
  t.equal(breakerState(breaker, 4_000 + BREAKER_LONGEST_MS), 'half_open');
});

t.test('percentiles are those of the latest hundred or so that are not old', async (t) => {
  const window = newLatencyWindow();
  t.equal(percentiles(window, 0), null);
  for (let ms = 1; ms <= 100; ms += 1) addLatency(window, ms, ms);
  t.same(percentiles(window, 100), { p50: 50, p95: 95, p99: 99, count: 100 });
  for (let more = 0; more < 1_000; more += 1) addLatency(window, 200, 7);
  t.same(percentiles(window, 200), { p50: 7, p95: 7, p99: 7, count: 128 }, 'bounded');
  t.equal(percentiles(window, 10_000_000), null);
});

t.test('RT-89 a token bucket holds its rate after a small burst', async (t) => {
  const bucket = newTokenBucket();
  for (let count = 0; count < 50; count += 1) {
    t.equal(hasToken(bucket, 0), true);
    takeToken(bucket, 0);
  }
  setRate(bucket, 2, 0);
  let taken = 0;
  for (let now = 0; now < 10_000; now += 50) {
    if (!hasToken(bucket, now)) continue;
    takeToken(bucket, now);
    taken += 1;
  }
  t.ok(taken >= 19 && taken <= 22, `${taken} in ten seconds at two a second`);
  setRate(bucket, null, 10_000);
  t.equal(hasToken(bucket, 10_000), true);
});

t.test(
  'a slot alone keeps its own providerHealth: failures close a provider, time opens it again',
  async (t) => {
    const clock = new HandClock(1_000);
    const providerHealth = new LocalProviderHealth({ clock });
    const key = providerKey('tts', { provider: 'cartesia' });
    for (let count = 0; count < 3; count += 1) {
      t.equal(providerHealth.admits(key), true);
      providerHealth.begin(key);
      providerHealth.ended(key, { result: 'failed', ms: null });
    }
    t.equal(providerHealth.admits(key), false);
    t.equal(
      providerHealth.admits(providerKey('tts', { provider: 'cartesia', base_url: 'http://10.0.0.1:9/x' })),
      true,
    );
    await clock.advance(BREAKER_OPEN_MS, BREAKER_OPEN_MS);
    t.equal(providerHealth.admits(key), true);
    providerHealth.begin(key);
    t.equal(providerHealth.admits(key), false);
    providerHealth.ended(key, 'abandoned');
    t.equal(providerHealth.admits(key), true, 'a trial that was given up says nothing');
  },
);

t.test('our own mistakes do not count against a provider', async (t) => {
  const clock = new HandClock(1_000);
  const providerHealth = new LocalProviderHealth({ clock });
  for (let count = 0; count < 20; count += 1) {
    providerHealth.begin('k');
    providerHealth.ended('k', { result: 'refused', ms: null });
  }
  t.equal(providerHealth.admits('k'), true);
});

t.test('latencies are told once there are enough of them', async (t) => {
  const providerHealth = new LocalProviderHealth({ clock: new HandClock(1_000) });
  for (let count = 1; count <= 4; count += 1) providerHealth.ended('k', { result: 'ok', ms: 100 * count });
  t.equal(providerHealth.latency('k'), null);
  providerHealth.ended('k', { result: 'ok', ms: 500 });
  t.match(providerHealth.latency('k'), { p50: 300, p95: 500 });
  t.equal(providerHealth.latency('other'), null);
});

t.test('a provider is named by step, id and place, never by what its settings say besides', async (t) => {
  t.equal(providerKey('stt', { provider: 'deepgram', api_key: 'secret' }), 'stt:deepgram:');
  const proxied = { provider: 'openai', base_url: 'https://user:pass@llm.example:8443/v1?key=secret' };
  t.equal(providerKey('llm', proxied), 'llm:openai:https://llm.example:8443');
  t.equal(providerKey('llm', { provider: 'openai', base_url: 'no address' }), 'llm:openai:');
});

t.test('the providerHealth is bounded: what was asked longest ago is forgotten', async (t) => {
  const providerHealth = new LocalProviderHealth({ clock: new HandClock(1_000) });
  for (let count = 0; count < 3; count += 1) providerHealth.ended('first', { result: 'failed', ms: null });
  t.equal(providerHealth.admits('first'), false);
  for (let other = 0; other < 64; other += 1) providerHealth.begin(`other ${other}`);
  t.equal(providerHealth.admits('first'), true);
});
