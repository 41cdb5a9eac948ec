import t from 'tap';
import { CALL_EVENTS } from '../../src/contracts/call-events.ts';
import { LINE_PARTS, SILENCE_OWNERS, WAIT_STAGES } from '../../src/contracts/call-measures.ts';
import { readProjectFile } from '../harness/source-files.ts';
import { undocumentedKeys } from '../harness/undocumented-keys.ts';

/** Rows of the tables under one heading of docs/results.md, as their cells. */
function rowsUnder(heading: string): string[][] {
  const text = readProjectFile('docs/results.md');
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return section
    .split('\n')
    .filter((line) => /^\| `/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

const namesIn = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1] as string);

t.test('R167 docs/results.md and the event catalogue name the same events with the same keys', async (t) => {
  const rows = rowsUnder('Events');
  t.ok(rows.length > 40, `${rows.length} events are documented`);
  const documented = Object.fromEntries(rows.map(([name, keys]) => [namesIn(name)[0], namesIn(keys).sort()]));
  const catalogue = Object.fromEntries(
    Object.entries(CALL_EVENTS).map(([name, keys]) => [name, [...keys].sort()]),
  );
  t.same(documented, catalogue);
  t.equal(rows.length, Object.keys(CALL_EVENTS).length, 'no event has two rows');
  for (const [name, , when = ''] of rows) t.ok(when.length > 10, `${name} says when it is written`);
});

t.test('every key of an event is explained once, and no other', async (t) => {
  const explained = rowsUnder('Keys').flatMap(([keys]) => namesIn(keys));
  const used = [...new Set(Object.values(CALL_EVENTS).flat())];
  t.same([...explained].sort(), used.sort());
});

t.test('R168 R169 R170 R171 the keys of the interface stand where the interface has them', async (t) => {
  const has = (event: keyof typeof CALL_EVENTS, ...keys: string[]) => {
    for (const key of keys) t.ok((CALL_EVENTS[event] as readonly string[]).includes(key), `${event}.${key}`);
  };
  has('disconnected', 'by', 'trigger', 'reason', 'duration_seconds');
  has('disconnected', 'raw_duration_seconds', 'billable_duration_seconds');
  has('tool_call', 'function', 'args', 'status', 'note');
  has('tool_result', 'function', 'status', 'duration_ms', 'error');
  // R172: both names of the interface, with everything that a receiver may want to know of a transfer.
  for (const event of ['transfer_sent', 'transfer_failed'] as const) {
    has(event, 'transfer_number', 'transfer_headers', 'reason', 'sip_code', 'sip_status', 'note');
  }
  has('transfer_failed', 'error');
});

t.test('the measures have the names that their tables have', async (t) => {
  const firstNames = (heading: string) => rowsUnder(heading).map(([cell]) => namesIn(cell)[0]);
  t.same(firstNames('Whose silence was it?'), [...SILENCE_OWNERS]);
  t.same(
    firstNames('How long did the caller wait?'),
    WAIT_STAGES.map((stage) => `${stage}_ms`),
  );
  t.same(firstNames('Bad line or bad bot?'), [...LINE_PARTS]);
});

t.test('an event that nobody could look up is found', async (t) => {
  t.same(undocumentedKeys({ event: 'dtmf', ts: 1, digit: '5' }), []);
  t.same(undocumentedKeys({ event: 'dtmf', ts: 1, digit: '5', colour: 'red' }), ['colour']);
  t.same(undocumentedKeys({ event: 'sneezed', ts: 1 }), ['event sneezed']);
});
