import { Validator } from '@seriousme/openapi-schema-validator';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { runControl } from '../../harness/control.ts';
import { readOperations } from './walks/api-document.ts';

const run = await runControl();
t.teardown(() => run.stop());

const document = (await (await fetch(run.url('/api/v1/openapi.json'))).json()) as Record<string, unknown>;
const operations = [...readOperations(document), ...readOperations(document, 'fleet')];

t.test('the API document is valid OpenAPI 3.1', async (t) => {
  const validator = new Validator();
  const verdict = await validator.validate(document);
  t.same(verdict.errors ?? [], []);
  t.equal(verdict.valid, true);
  t.equal(validator.version, '3.1');
});

t.test('every example of a body fits the schema that it stands for', (t) => {
  let examples = 0;
  for (const { id, body } of operations) {
    if (body?.example === undefined) continue;
    examples++;
    const mistakes = Compile(body.schema).Errors(body.example);
    t.same(
      mistakes.map((mistake) => `${mistake.instancePath} ${mistake.message}`),
      [],
      id,
    );
  }
  t.ok(examples > 15, `${examples} examples`);
  t.end();
});

t.test('every operation has a name of its own, a summary and at least one success', (t) => {
  t.equal(new Set(operations.map(({ id }) => id)).size, operations.length);
  for (const { id, statuses } of operations) {
    t.match(id, /^[a-z][A-Za-z]+$/);
    t.ok(
      statuses.some((status) => status < 300),
      id,
    );
  }
  t.end();
});

t.test('every path that needs an id says so, and nothing else', (t) => {
  for (const { id, path, params } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    t.same(
      params.map(({ name }) => name),
      named,
      id,
    );
  }
  t.end();
});
