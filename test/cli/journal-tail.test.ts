import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { followJournal, journalView } from '../../src/cli/journal-tail.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';

const json = (value: unknown) => `${JSON.stringify(value)}\n`;

t.test('the words of the own call are shown as they come, half lines and other calls are not', async (t) => {
  const dataDir = tempFolder();
  for (const call of ['own', 'other']) mkdirSync(join(dataDir, 'spool', call), { recursive: true });
  const own = join(dataDir, 'spool/own/journal.jsonl');
  const other = join(dataDir, 'spool/other/journal.jsonl');
  const shown: string[] = [];
  const stop = followJournal(
    dataDir,
    (call) => call.sessionId === 's-1',
    journalView((text) => shown.push(text.replace(/\s+/g, ' '))),
  );
  appendFileSync(other, json({ kind: 'call', sessionId: 's-2' }));
  appendFileSync(
    other,
    json({ kind: 'transcript', seq: 1, entry: { speaker: 'bot', text: 'Not for you.' } }),
  );
  appendFileSync(own, json({ kind: 'call', sessionId: 's-1' }));
  appendFileSync(own, json({ kind: 'transcript', seq: 1, entry: { speaker: 'bot', text: 'Hello,' } }));
  await until(() => shown.length > 0, 'the first words are shown');
  appendFileSync(other, json({ kind: 'transcript', seq: 2, entry: { speaker: 'bot', text: 'Nor this.' } }));
  appendFileSync(
    own,
    json({ kind: 'transcript', seq: 1, entry: { speaker: 'bot', text: 'Hello, caller.' } }),
  );
  appendFileSync(
    own,
    json({ kind: 'event', event: { event: 'user_turn', text: 'ten of clubs', note: 'rule:card' } }),
  );
  appendFileSync(own, '{"kind":"transcript","seq":2,');
  stop();
  t.same(shown, ['bot " Hello,"', 'bot " caller."', 'caller " ten of clubs" (rule:card)']);
});
