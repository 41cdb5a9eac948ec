import t from 'tap';
import { AppError } from '../../../src/platform/app-error.ts';
import { failureClass } from '../../../src/providers/contract/provider-error.ts';
import { llmError } from '../../../src/providers/llm/llm-errors.ts';

function thrown(fields: Record<string, unknown>, message = 'failed'): Error {
  return Object.assign(new Error(message), fields);
}

t.test('R8 an error of a client passes unchanged', (t) => {
  const own = new AppError('provider_timeout', 'late');
  t.equal(llmError('openai', own, []), own);
  t.end();
});

t.test('R8 keys and addresses never come through a message, whole or shortened', (t) => {
  const key = 'sk-proj-abcdef1234567890';
  const error = llmError(
    'openai',
    thrown({
      status: 401,
      error: {
        code: 'invalid_api_key',
        message: `Incorrect API key provided: sk-pr*****7890 (${key}). See https://example.com/keys?key=${key}.`,
      },
    }),
    [key],
  );
  t.notMatch(error.message, /sk-|abcdef|example\.com/);
  t.match(error.message, /Incorrect API key provided/);
  t.notMatch(
    llmError('gemini', thrown({ status: 400 }, '{"error":{"message":"AIzaSyABCDEF123 is bad"}}'), []).message,
    /AIza/,
  );
  t.end();
});

t.test('R8 a vendor that talks much is cut short', (t) => {
  const error = llmError(
    'anthropic',
    thrown({ status: 500, error: { error: { message: 'x '.repeat(5_000) } } }),
    [],
  );
  t.ok(error.message.length < 400);
  t.end();
});

t.test('R8 the wait that a vendor asks for is read from each place where it may stand', (t) => {
  const cases: [Record<string, unknown>, number | undefined][] = [
    [{ headers: new Headers({ 'retry-after-ms': '1250', 'retry-after': '9' }) }, 1_250],
    [{ headers: new Headers({ 'retry-after': '2' }) }, 2_000],
    [{ headers: new Headers({ 'retry-after': '999999' }) }, 600_000],
    [{ headers: new Headers({ 'retry-after': 'soon' }) }, undefined],
    [{ error: { error: { details: [{ retryDelay: '12.5s' }] } } }, 12_500],
    [{}, undefined],
  ];
  for (const [fields, expected] of cases) {
    const { details } = llmError('gemini', thrown({ status: 429, ...fields }), []);
    t.equal(details.retryAfterMs, expected, JSON.stringify(fields));
  }
  const date = new Date(Date.now() + 60_000).toUTCString();
  const { details } = llmError(
    'openai',
    thrown({ status: 429, headers: new Headers({ 'retry-after': date }) }),
    [],
  );
  t.ok((details.retryAfterMs as number) > 30_000 && (details.retryAfterMs as number) <= 60_000);
  t.end();
});

t.test('R8 a word of the vendor divides a status where it must', (t) => {
  const cases: [number | undefined, string, string, string][] = [
    [429, 'insufficient_quota', '', 'quota'],
    [429, 'rate_limit_exceeded', '', 'rate_limit'],
    [400, 'context_length_exceeded', '', 'content'],
    [400, 'invalid_request_error', 'prompt is too long: 300000 tokens > 200000 maximum', 'content'],
    [400, 'invalid_request_error', 'no such field', 'config'],
    [undefined, 'overloaded_error', '', 'transient'],
    [undefined, 'rate_limit_error', '', 'rate_limit'],
    [undefined, 'something_new', '', 'transient'],
    [529, 'overloaded_error', '', 'transient'],
  ];
  for (const [status, code, message, expected] of cases) {
    const error = llmError('openai', thrown({ status, error: { code, message: message || 'no' } }), []);
    t.equal(failureClass(error), expected, `${status} ${code}`);
  }
  t.end();
});

t.test('R8 what an answer held stays out of the error of a broken stream', (t) => {
  const broken = thrown(
    {},
    'exception parsing stream chunk {"candidates":[{"text":"your balance is 12"}]}. odd',
  );
  t.notMatch(llmError('gemini', broken, []).message, /balance/);
  t.notMatch(llmError('openai', new SyntaxError('Unexpected token: "your balance"'), []).message, /balance/);
  t.end();
});
