import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import type { ProviderConfig } from '../../../src/contracts/runtime-config.ts';
import { type ProviderContext, plainContext } from '../../../src/providers/contract/provider-context.ts';
import { openLlm } from '../../../src/providers/open-providers.ts';
import { startAnthropic } from '../../emulators/anthropic.ts';
import { startGemini } from '../../emulators/gemini.ts';
import type { LlmEmulator, LlmEmulatorOptions } from '../../emulators/llm/llm-emulator.ts';
import { startOpenAi } from '../../emulators/openai.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';
import { ask, asRequest, BALANCE_TOOL, NEVER, open, user } from './asking.ts';

/** The four wire formats, each with what its client needs to be told. */
const VENDORS: {
  name: string;
  start: (options?: LlmEmulatorOptions) => Promise<LlmEmulator & { url: string }>;
  config: ProviderConfig;
}[] = [
  { name: 'gemini', start: startGemini, config: { provider: 'gemini' } },
  { name: 'openai chat', start: startOpenAi, config: { provider: 'openai' } },
  { name: 'openai responses', start: startOpenAi, config: { provider: 'openai', api: 'responses' } },
  { name: 'anthropic', start: startAnthropic, config: { provider: 'anthropic' } },
];

async function house(
  t: Test,
  vendor: (typeof VENDORS)[number],
  options: LlmEmulatorOptions & { config?: Record<string, unknown>; context?: ProviderContext } = {},
) {
  const emulator = await vendor.start(options);
  t.teardown(() => emulator.close());
  const config = { ...vendor.config, api_key: emulator.apiKey, base_url: emulator.url, ...options.config };
  return { emulator, config, llm: await open(t, config, options.context) };
}

for (const vendor of VENDORS) {
  const { name } = vendor;

  t.test(`R8 ${name}: a wrong key is an error of class auth, and the key stands in no address`, async (t) => {
    const { emulator, config, llm } = await house(t, vendor);
    t.equal((await ask(llm, 'Hello')).error, null);
    const wrong = await open(t, { ...config, api_key: 'wrong-key-123456789' });
    const answer = await ask(wrong, 'Hello');
    t.equal(answer.failure?.class, 'auth');
    t.notMatch(`${answer.error} ${JSON.stringify(answer.failure)}`, /wrong-key/);
    for (const entry of emulator.log.entries) {
      t.notMatch(JSON.stringify([entry.path, entry.query]), /wrong-key|emulated-key/);
    }
  });

  t.test(`R8 ${name}: what goes wrong before an answer is told once, by class`, async (t) => {
    const { emulator, llm } = await house(t, vendor);
    const cases: [Parameters<typeof emulator.control.next>[0], Record<string, unknown>][] = [
      [
        { status: 400, body: {} },
        { class: 'config', status: 400 },
      ],
      [
        { status: 401, body: {} },
        { class: 'auth', status: 401 },
      ],
      [
        { status: 402, body: {} },
        { class: 'quota', status: 402 },
      ],
      [
        { status: 403, body: {} },
        { class: 'auth', status: 403 },
      ],
      [
        { status: 429, body: {}, headers: { 'retry-after': '2' } },
        { class: 'rate_limit', status: 429 },
      ],
      [
        { status: 500, body: 'out of order' },
        { class: 'transient', status: 500 },
      ],
      [
        { status: 503, body: {} },
        { class: 'transient', status: 503 },
      ],
      [{ reset: true }, { class: 'transient', status: null }],
    ];
    for (const [fault, expected] of cases) {
      const before = emulator.counters().requests;
      emulator.control.next(fault);
      const answer = await ask(llm, 'Hello');
      t.match(answer.failure, expected, JSON.stringify(fault));
      t.match(answer.error, { code: 'provider_failed' });
      t.equal(emulator.counters().requests - before, 1, 'asked once');
    }
    t.equal((await ask(llm, 'Hello')).error, null, 'and the next turn works');
  });

  t.test(`R8 ${name}: nobody there, and something that is no TLS, are transient`, async (t) => {
    const { emulator, config } = await house(t, vendor);
    const url = emulator.url.replace('http:', 'https:');
    const spoilt = await ask(await open(t, { ...config, base_url: url }), 'Hello');
    t.match(spoilt.failure, { class: 'transient', status: null });
    await emulator.close();
    const gone = await ask(await open(t, config), 'Hello');
    t.match(gone.failure, { class: 'transient', status: null, vendorCode: 'ECONNREFUSED' });
    t.notMatch(String(gone.error), /127\.0\.0\.1/, 'no address in the message');
  });

  t.test(`R8 ${name}: an answer that does not end within its time is given up`, async (t) => {
    const clock = new HandClock(1_000);
    const { emulator, llm } = await house(t, vendor, {
      config: { timeout_ms: 30_000 },
      context: { ...plainContext, clock },
      answers: [
        { fault: { kind: 'silent' } },
        { text: ['One ', 'two '], fault: { kind: 'stall', after: 1 } },
      ],
    });
    for (const [index, text] of ['', 'One '].entries()) {
      let said = '';
      const listen = async () => {
        for await (const delta of llm.answer(asRequest('Hello'), NEVER)) {
          if (delta.type === 'text') said += delta.text;
        }
      };
      const ended = t.rejects(listen(), { code: 'provider_timeout', details: { class: 'transient' } });
      await until(() => emulator.desk.served.length > index && said === text, 'the vendor has the request');
      await clock.advance(29_000);
      t.equal(emulator.desk.served[index]?.aborted, false, 'not before its time');
      await clock.advance(2_000);
      await ended;
      t.equal(said, text);
    }
    await until(() => emulator.desk.served.every((served) => served.aborted), 'both connections are closed');
    t.equal(clock.pendingTimers, 0, 'no timer is left');
  });

  t.test(
    `R8 ${name}: a consumer that leaves, and a client that is closed, leave no connection`,
    async (t) => {
      const stall = { text: ['One ', 'two '], fault: { kind: 'stall', after: 1 } } as const;
      const { emulator, llm } = await house(t, vendor, { answers: [stall, stall] });
      for await (const _ of llm.answer(asRequest('Hello'), NEVER)) break;
      await until(() => emulator.desk.served[0]?.aborted === true, 'the first connection is closed');
      const running = ask(llm, 'Hello');
      await until(() => emulator.desk.served[1]?.contentEvents === 1, 'the second answer begins');
      await llm.close();
      t.match((await running).failure, { class: 'transient', vendorCode: 'closed' });
      await until(() => emulator.desk.served[1]?.aborted === true, 'and so is the second');
      await llm.close();
      t.match((await ask(llm, 'Hello')).failure, { vendorCode: 'closed' }, 'a closed client says so');
    },
  );

  t.test(
    `R8 ${name}: an abort at any time ends the answer with its own reason and nothing after it`,
    async (t) => {
      const { emulator, llm } = await house(t, vendor);
      emulator.desk.respondWith(() => ({
        text: 'One two three four five six',
        betweenMs: 1,
        firstByteMs: 2,
      }));
      for (let round = 0; round < 12; round++) {
        const bargeIn = new AbortController();
        const reason = new Error(`barge-in ${round}`);
        let isAborted = false;
        let late = 0;
        const timer = setTimeout(() => {
          isAborted = true;
          bargeIn.abort(reason);
        }, round * 2);
        try {
          for await (const _ of llm.answer(asRequest('Hello'), bargeIn.signal)) if (isAborted) late++;
          t.notOk(isAborted, 'only a whole answer ends without the reason');
        } catch (error) {
          t.equal(error, reason);
        }
        clearTimeout(timer);
        t.equal(late, 0);
      }
      t.same(emulator.violations.list, []);
    },
  );

  t.test(`R8 ${name}: warming opens the connection that the answer then uses`, async (t) => {
    const { emulator, llm } = await house(t, vendor);
    await llm.warm?.();
    const answer = await ask(llm, 'Hello');
    t.equal(answer.error, null);
    const hands = emulator.log.entries.filter((entry) => entry.kind === 'request');
    t.match(hands, [{ method: 'OPTIONS' }, { method: 'POST' }]);
    t.equal(
      hands[0]?.headers?.authorization ?? hands[0]?.headers?.['x-goog-api-key'],
      undefined,
      'without the key',
    );
    await emulator.close();
    await t.resolves(llm.warm?.() ?? Promise.reject(), 'nobody there is no failure');
  });

  t.test(`R8 ${name}: a hundred calls of five turns leave nothing behind`, async (t) => {
    const { emulator, config } = await house(t, vendor);
    emulator.desk.respondWith(() => ({ text: 'Yes, of course.' }));
    const oneCall = async () => {
      const llm = await openLlm(config);
      const call = new AbortController();
      for (let turn = 0; turn < 5; turn++) {
        const answer = await ask(llm, { messages: [user('Hello')], tools: [BALANCE_TOOL] }, call.signal);
        if (answer.error) throw answer.error;
      }
      await llm.close();
      if (getEventListeners(call.signal, 'abort').length > 0) throw new Error('a listener is left');
      emulator.log.entries.length = 0;
      emulator.desk.served.length = 0;
    };
    for (let call = 0; call < 20; call++) await oneCall();
    const before = heapMb();
    for (let call = 0; call < 100; call++) await oneCall();
    const grown = heapMb() - before;
    t.ok(grown < 8, `the heap grew by ${grown.toFixed(1)} MB`);
  });
}

/** What is still reachable, after the collector has run. */
function heapMb(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
