import t from 'tap';
import { ConversationPolicy, TransferTarget } from '../../../src/contracts/bot/conversation.ts';
import { HttpTool } from '../../../src/contracts/bot/tools.ts';
import { closurePhrases } from '../../../src/slot/think/closure-phrases.ts';
import { httpTool } from '../../../src/slot/tools/http-tool.ts';
import { chooseTransfer } from '../../../src/slot/transfer/transfer-order.ts';
import { localHttp, startReceiver } from '../../harness/receiver.ts';

/** What the API docs show (D-26), run as a call would run it. */
const exampleOf = <T>(schema: unknown): T => (schema as { examples: T[] }).examples[0] as T;

const variables = { crm: { id: '7', CUSTOMERNAME: 'Asha' }, call: { caller_id: '+919820000001' } };

t.test('R15 the example of an HTTP tool books a visit', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const example = exampleOf<HttpTool>(HttpTool);
  const url = example.url.replace('https://crm.example.com', `http://crm.example.test:${receiver.port}`);
  const tool = httpTool({ ...example, url }, { http: localHttp(), variables });
  t.match(tool, { name: 'book_visit', isSideEffect: true, timeoutMs: 4_000, filler: example.filler });
  const context = { signal: new AbortController().signal, idempotencyKey: 'k' };
  t.match(await tool.run({ day: '2026-11-23' }, context), { status: 'ok', result: { ok: true } });
  t.match(receiver.seen[0], {
    method: 'POST',
    path: '/customers/7/visits',
    headers: { 'idempotency-key': 'k' },
    body: '{"day":"2026-11-23","phone":"+919820000001"}',
  });
});

t.test('R63 the example of a transfer target is where the caller goes', async (t) => {
  const config = {
    transfer_targets: [exampleOf<TransferTarget>(TransferTarget)],
    transfer_numbers: {},
    pre_transfer_message: null,
    conversation_policy: null,
  };
  t.same(chooseTransfer(config, variables, { target: 'collections', reason: 'plan' }), {
    status: 'ok',
    order: {
      destination: 'sip:collections@pbx.example.com',
      target: 'collections',
      reason: 'plan',
      headers: { 'X-Customer': '7' },
      message: 'I am passing you to a colleague.',
    },
  });
});

t.test('R42 RT-22 the example of a policy names where to escalate to and what ends the call', async (t) => {
  const policy = exampleOf<ConversationPolicy>(ConversationPolicy);
  const config = {
    transfer_targets: [{ name: 'other', destination: '+911140000000' }],
    transfer_numbers: { [policy.escalation?.target ?? '']: '+912240000001' },
    pre_transfer_message: null,
    conversation_policy: policy,
  };
  t.match(chooseTransfer(config, variables, { target: '', reason: '' }), {
    order: { destination: '+912240000001' },
  });
  t.equal(closurePhrases(policy).find('Thank you for your time, Asha.'), 'Thank you for your time');
});
