import t from 'tap';
import { LINE_RATE_HZ } from '../../../src/contracts/limits.ts';
import { LocalProviderHealth, providerKey } from '../../../src/providers/resilient/provider-health.ts';
import { finalWaitSamples } from '../../../src/slot/turn/final-wait.ts';

const second = { provider: 'soniox' };
const config = { stt: { provider: 'deepgram', model: 'nova-3', fallbacks: [second] } };

t.test(
  'RT-06 a text is waited for as long as the slowest of a hundred took with this engine here',
  async (t) => {
    const weather = new LocalProviderHealth();
    const ms = (engine: string) => (finalWaitSamples(config, weather, engine) * 1_000) / LINE_RATE_HZ;
    const measure = (provider: { provider: string }, took: number) => {
      const key = providerKey('stt', provider);
      weather.begin(key);
      weather.ended(key, { result: 'ok', ms: took });
    };
    t.equal(ms('deepgram'), 1_000, 'until something was measured');
    for (let n = 0; n < 99; n++) measure(config.stt, 200);
    for (let n = 0; n < 5; n++) measure(config.stt, 700);
    t.ok(ms('deepgram') >= 700 && ms('deepgram') <= 1_200, `${ms('deepgram')} ms`);
    t.equal(ms('soniox'), 1_000, 'another engine is another matter');
    for (let n = 0; n < 20; n++) measure(second, 1_900);
    t.ok(ms('soniox') >= 1_900, `${ms('soniox')} ms, the fallback listening`);
    for (let n = 0; n < 128; n++) measure(config.stt, 40);
    t.ok(ms('deepgram') < 700, 'and it learns');
  },
);
