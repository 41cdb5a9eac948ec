import { type ChildProcess, spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { CallResults } from '../../src/contracts/call-results.ts';
import type { CallRow } from '../../src/control/calls/call-record.ts';
import type { CallPage } from '../../src/control/calls/call-search.ts';
import { createCallRecordStore } from '../../src/control/calls/lmdb-call-store.ts';
import { openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { testResults } from '../harness/control.ts';
import { tempFolder } from '../harness/temp-folder.ts';

// A busy machine may need longer than the runner's usual limit for a file.
t.setTimeout(280_000);

const ROUNDS = 10;
/** A busy machine answers little in one round: there are more of them, and longer ones, until so many results were. */
const ENOUGH = 50;
const MAX_ROUNDS = 60;
const CALLERS = 8;
/** Kill times per round, in ms after the first request; fixed, so that every run kills alike. */
const KILL_AFTER_MS = [40, 75, 110, 150, 190, 230, 270, 310, 350, 400];

const entry = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? './fixtures/control-process.ts' : './fixtures/control-process.js',
    import.meta.url,
  ),
);

t.test(
  'R44 R145 what a killed control plane has answered with 200 is in the store, whole',
  { timeout: 280_000 },
  async (t) => {
    const folder = tempFolder();
    const served = new Set<string>();
    const delivered = new Map<string, CallResults>();
    let round = 0;
    for (; round < ROUNDS || (delivered.size <= ENOUGH && round < MAX_ROUNDS); round++) {
      const killAfterMs = (KILL_AFTER_MS[round % ROUNDS] ?? 0) * (1 + Math.floor(round / ROUNDS));
      const { child, port } = await start(folder);
      const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
      const callers = Array.from({ length: CALLERS }, (_, caller) =>
        placeCalls(port, agent, caller, served, delivered),
      );
      await new Promise((resolve) => setTimeout(resolve, killAfterMs));
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
      await Promise.all(callers);
      agent.destroy();
    }

    const store = openKeyValueStore(join(folder, 'store'));
    const calls = createCallRecordStore(store);
    let missing = 0;
    let different = 0;
    for (const session of served) if ((await calls.get(session)) === null) missing++;
    for (const [session, results] of delivered) {
      const record = await calls.get(session);
      if (record?.status !== 'completed') missing++;
      else if (JSON.stringify(record.transcript) !== JSON.stringify(results.transcript)) different++;
    }
    const listed: CallRow[] = [];
    for (let next: CallPage['next'] | undefined; next !== null; ) {
      const page = await calls.list({ limit: 200, ...(next ? { after: next } : {}) });
      listed.push(...page.rows);
      next = page.next;
    }
    let torn = 0;
    for (const line of listed) {
      const record = await calls.get(line.session_id);
      if (record?.status !== line.status) torn++;
    }
    await store.close();
    t.comment(
      `${round} kills, ${served.size} configs and ${delivered.size} results answered, ${listed.length} records`,
    );
    t.ok(delivered.size > ENOUGH, 'the rounds did real work');
    t.equal(missing, 0, 'nothing that was answered is missing');
    t.equal(different, 0, 'nothing is half written');
    t.equal(torn, 0, 'records and their list agree');
    t.ok(listed.length >= served.size);
  },
);

/** Config, results, config, results … until the connection breaks. */
async function placeCalls(
  port: number,
  agent: Agent,
  caller: number,
  served: Set<string>,
  delivered: Map<string, CallResults>,
): Promise<void> {
  try {
    for (;;) {
      const config = await ask(port, agent, 'GET', '/api/v1/config/demo?caller_id=%2B91123');
      const { session_id } = JSON.parse(config) as { session_id: string };
      served.add(session_id);
      const results = testResults(session_id, {
        transcript: Array.from({ length: 1 + ((caller * 7) % 40) }, (_, i) => ({
          speaker: i % 2 === 0 ? 'bot' : 'customer',
          text: `sentence ${i} of caller ${caller}`,
          timestamp: i,
        })),
      });
      await ask(port, agent, 'POST', '/api/v1/call-results', JSON.stringify(results));
      delivered.set(session_id, results);
    }
  } catch {
    // The plane was killed, which is what this round is about.
  }
}

/** Resolves with the body of a 200 and rejects for everything else. */
function ask(port: number, agent: Agent, method: string, path: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers =
      body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request({ port, host: '127.0.0.1', agent, method, path, headers }, (response) => {
      let text = '';
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function start(folder: string): Promise<{ child: ChildProcess; port: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [entry, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.once('data', (data) => resolve({ child, port: Number(String(data)) }));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the control plane ended at its start with code ${code}`)));
  });
}
