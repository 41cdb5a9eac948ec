import type { AddressInfo } from 'node:net';
import { createServer as createTcp } from 'node:net';
import t from 'tap';
import { createGuardedHttp } from '../../../src/platform/guarded-http.ts';
import type { ToolOutcome } from '../../../src/slot/tools/call-tool.ts';
import { callVariables } from '../../../src/slot/tools/call-variables.ts';
import { httpTool } from '../../../src/slot/tools/http-tool.ts';
import { localHttp, type Receiver, startReceiver, status } from '../../harness/receiver.ts';

const receiver = await startReceiver();
t.teardown(() => receiver.close());
t.beforeEach(() => {
  receiver.seen.length = 0;
});

const origin = () => `http://crm.example.test:${receiver.port}`;
const variables = callVariables({
  call_context: { caller_id: '+91 98200/00001', city: 'Pune' },
  crm_context: { id: 'a/b ü', tags: ['x', 1], due: 12.5 },
  sip_context: { ticket: 'T1' },
});
const BOOK = {
  type: 'http',
  name: 'book',
  description: 'Book.',
  parameters: {
    type: 'object',
    properties: { day: { type: 'string' }, note: { type: 'string' } },
    required: ['day'],
  },
};

function run(
  tool: Record<string, unknown>,
  args: Record<string, unknown> = { day: 'Monday' },
  signal = new AbortController().signal,
  http = localHttp(),
): Promise<ToolOutcome> {
  const made = httpTool({ ...BOOK, ...tool }, { http, variables });
  return Promise.resolve(made.run(args, { signal, idempotencyKey: 'key-1' }));
}

function answering(answer: Receiver['answer']): void {
  receiver.answer = answer;
}

t.test('R15 URL, headers and body are templates over the contexts and the arguments', async (t) => {
  answering(status(200, { 'content-type': 'application/json' }, '{"visit": 7}'));
  const outcome = await run({
    method: 'POST',
    url: `${origin()}/customers/{{crm.id}}/visits?from={{call_context.caller_id}}&note={{args.note}}`,
    headers: { authorization: 'Bearer secret', 'x-ticket': '{{sip.ticket}}', host: 'evil.example' },
    body: {
      day: '{{args.day}}',
      note: '{{args.note}}',
      due: '{{crm_context.due}}',
      text: 'in {{call.city}}',
    },
  });
  t.same(outcome, { status: 'ok', result: { visit: 7 } });
  const [seen] = receiver.seen;
  t.equal(seen?.path, '/customers/a%2Fb%20%C3%BC/visits?from=%2B91%2098200%2F00001&note=');
  t.same(JSON.parse(seen?.body ?? ''), { day: 'Monday', note: null, due: 12.5, text: 'in Pune' });
  t.match(seen?.headers, {
    authorization: 'Bearer secret',
    'x-ticket': 'T1',
    'content-type': 'application/json',
  });
  t.match(seen?.headers.host, /^crm\.example\.test/);
});

t.test('RT-32 a placeholder of secret digits is filled in the request, and only there', async (t) => {
  answering(status(200, {}, 'fine'));
  const reveal = (text: string) => text.replaceAll('[[digits-1]]', '4711');
  const tool = httpTool({ ...BOOK, method: 'POST', url: origin() }, { http: localHttp(), variables, reveal });
  const args = { day: '[[digits-1]]', note: 'as it is' };
  await tool.run(args, { signal: new AbortController().signal, idempotencyKey: 'key-1' });
  t.same(JSON.parse(receiver.seen[0]?.body ?? ''), { day: '4711', note: 'as it is' });
  t.equal(args.day, '[[digits-1]]', 'what is written down afterwards is the placeholder');
});

t.test('without a body template the arguments are the body; GET has none', async (t) => {
  answering(status(200, {}, 'fine'));
  t.equal((await run({ method: 'PUT', url: origin() })).result, 'fine', 'text comes back as text');
  t.same(JSON.parse(receiver.seen[0]?.body ?? ''), { day: 'Monday' });
  await run({ method: 'GET', url: `${origin()}/slots?day={{args.day}}` });
  t.match(receiver.seen[1], { method: 'GET', path: '/slots?day=Monday', body: '' });
});

t.test('RT-49 an act carries its Idempotency-Key and nobody calls it off; a question neither', async (t) => {
  answering((_request, response) => setTimeout(() => response.end('{"ok":1}'), 400));
  const gone = AbortSignal.abort(new Error('cut'));
  const act = await run({ method: 'POST', url: origin(), side_effect: true }, undefined, gone);
  t.equal(act.status, 'ok', 'the caller has spoken, and it was done all the same');
  t.equal(receiver.seen[0]?.headers['idempotency-key'], 'key-1');
  await t.rejects(run({ method: 'GET', url: origin() }, undefined, gone), 'a question ends with the reply');
  t.equal(receiver.seen.length, 1);
  await run({ method: 'GET', url: origin() });
  t.equal(receiver.seen[1]?.headers['idempotency-key'], undefined);
});

t.test('RT-48 a server that is slow, fails, says too much, redirects or is not there', async (t) => {
  answering(() => undefined);
  const slow = await run({ method: 'GET', url: origin(), timeout_ms: 300 });
  t.match(slow, { status: 'timeout', error: /no answer within 300 ms/ });
  const act = await run({ method: 'POST', url: origin(), timeout_ms: 300, side_effect: true });
  t.match(act, { status: 'timeout', result: { warning: /not known whether/ } });

  answering(status(503, { 'content-type': 'application/json' }, '{"error":"closed"}'));
  t.match(await run({ method: 'GET', url: origin() }), {
    status: 'failed',
    error: 'the server answered 503',
    result: { error: 'the server answered 503', answer: { error: 'closed' } },
  });

  answering(status(200, {}, 'x'.repeat(200_000)));
  t.match(await run({ method: 'GET', url: origin() }), {
    status: 'failed',
    error: /larger than 65536 bytes/,
  });

  answering(status(200, {}, 'y'.repeat(20_000)));
  const long = (await run({ method: 'GET', url: origin() })).result as string;
  t.ok(long.length < 8_100 && long.endsWith('[cut]'), 'the model is told the beginning');

  answering(status(302, { location: 'http://169.254.169.254/' }));
  t.match(await run({ method: 'GET', url: origin() }), {
    status: 'failed',
    error: /redirects are not followed/,
  });

  const closed = createTcp();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  t.match(await run({ method: 'GET', url: `http://crm.example.test:${port}/` }), {
    status: 'failed',
    error: /refused/,
  });
});

t.test('RT-48 private, loopback and metadata addresses are refused, by number and by name', async (t) => {
  answering(status(200, {}, 'reached'));
  const names: Record<string, string> = { 'rebind.example': '127.0.0.1', 'inner.example': '192.168.1.5' };
  const http = createGuardedHttp({
    allowedNetworks: () => [],
    resolve: async (name) => [names[name] ?? '93.184.216.34'],
  });
  for (const url of [
    `http://127.0.0.1:${receiver.port}/`,
    `https://localhost:${receiver.port}/`.replace('localhost', '[::1]'),
    'http://169.254.169.254/latest/meta-data',
    'https://10.0.0.7/',
    'https://[::ffff:10.0.0.7]/',
    `https://rebind.example:${receiver.port}/`,
    'https://inner.example/',
    'http://public.example/',
  ]) {
    const outcome = await run({ method: 'GET', url }, undefined, undefined, http);
    t.equal(outcome.status, 'refused', url);
    t.notMatch(outcome.error, /\d+\.\d+\.\d+\.\d+/, 'the sentence names no address');
  }
  t.equal(receiver.seen.length, 0);
});

t.test('no value of a template chooses the host, a step up in the path or a second header', async (t) => {
  answering(status(200, {}, '{}'));
  for (const url of ['http://{{args.day}}/', 'https://user@host.example/', 'ftp://host.example/', 7]) {
    t.match(await run({ method: 'GET', url }), { status: 'failed', error: /correct it in the bot/ });
  }
  await run({ method: 'GET', url: `${origin()}/a/{{args.day}}/b` }, { day: '..' });
  t.equal(receiver.seen[0]?.path, '/a/%252E%252E/b', 'two dots are no step up');
  await run(
    { method: 'GET', url: `${origin()}/`, headers: { 'x-day': '{{args.day}}' } },
    { day: 'a\r\nx-admin: 1' },
  );
  t.equal(receiver.seen[1]?.headers['x-admin'], undefined);
});

t.test('what is missing is said before anything is sent', async (t) => {
  t.match(await run({ method: 'GET', url: origin() }, {}), {
    status: 'bad_arguments',
    result: { error: 'these arguments are missing: day' },
  });
  t.match(await run({ method: 'GET', url: `${origin()}/{{crm.nobody}}` }), {
    status: 'failed',
    error: /the URL needs crm\.nobody/,
  });
  t.equal(receiver.seen.length, 0);
});
