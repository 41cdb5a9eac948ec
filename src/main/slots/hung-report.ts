import { readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { describeError } from '../../platform/app-error.ts';
import { isoNow, sleepMs, within } from '../../platform/clock.ts';
import { httpCall } from '../../platform/http-client.ts';

/** Reports that are kept; the oldest goes first. */
export const MAX_REPORTS = 20;
/** A hung slot is dumped for no longer than this, then killed. */
export const DUMP_BOUND_MS = 1_500;
/** TCP_LISTEN in the `st` column of /proc/net/tcp. */
const LISTENING = '0A';
const LOOK_AGAIN_MS = 25;
const MAX_ANSWER_BYTES = 65_536;

/** The two events of the debugger protocol that matter here, as far as they matter. */
interface DebuggerEvent {
  method?: string;
  params?: {
    scriptId?: string;
    url?: string;
    callFrames?: {
      functionName: string;
      location: { scriptId: string; lineNumber: number; columnNumber: number };
    }[];
  };
}

/**
 * Writes down what a hung slot is doing, for the developer who asks later. Node's own report (SIGUSR2) needs a turning
 * event loop; where the loop itself is stuck, the stack comes from the debugger that SIGUSR1 opens on loopback, for the
 * moment until the process is killed. Never throws and takes at most {@link DUMP_BOUND_MS}.
 */
export async function reportHungProcess(pid: number, callId: string | null, folder: string): Promise<void> {
  const stack = await within(stackOf(pid), DUMP_BOUND_MS, 'the debugger did not answer').catch(describeError);
  try {
    const report = { pid, call_id: callId, written_at: isoNow(), stack, kernel: await kernelView(pid) };
    const name = `report.${report.written_at.replaceAll(/[:.]/g, '-')}.${pid}.hung.json`;
    await writeFile(join(folder, name), `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 });
    await prune(folder);
  } catch {
    // The report is a help, not a duty: a full disk must not keep the hung slot alive.
  }
}

async function stackOf(pid: number): Promise<string[]> {
  process.kill(pid, 'SIGUSR2');
  process.kill(pid, 'SIGUSR1');
  const port = await inspectorPort(pid);
  const answer = await httpCall(`http://127.0.0.1:${port}/json/list`, {
    timeoutMs: DUMP_BOUND_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
  const [target] = JSON.parse(answer.body) as { webSocketDebuggerUrl: string }[];
  if (!target) throw new Error('the debugger names no target');
  return pausedStack(target.webSocketDebuggerUrl);
}

/** The frames, innermost first, as `function file:line:column`. */
function pausedStack(url: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const files = new Map<string, string>();
    const socket = new WebSocket(url, { handshakeTimeout: DUMP_BOUND_MS });
    const giveUp = setTimeout(() => socket.terminate(), DUMP_BOUND_MS);
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(giveUp);
      reject(new Error('the debugger closed the connection'));
    });
    socket.on('open', () => {
      socket.send('{"id":1,"method":"Debugger.enable"}');
      socket.send('{"id":2,"method":"Debugger.pause"}');
    });
    socket.on('message', (data) => {
      const { method, params } = JSON.parse(String(data)) as DebuggerEvent;
      if (method === 'Debugger.scriptParsed') files.set(params?.scriptId ?? '', params?.url ?? '');
      if (method !== 'Debugger.paused') return;
      const frames = params?.callFrames ?? [];
      resolve(
        frames.map(
          ({ functionName, location: at }) =>
            `${functionName || '(anonymous)'} ${files.get(at.scriptId)}:${at.lineNumber + 1}:${at.columnNumber + 1}`,
        ),
      );
      socket.terminate();
    });
  });
}

/** The loopback port on which the process listens; a slot listens on nothing but its debugger. */
async function inspectorPort(pid: number): Promise<number> {
  const giveUpAt = Date.now() + DUMP_BOUND_MS;
  while (Date.now() < giveUpAt) {
    const inodes = await socketInodes(pid);
    const table = await readFile(`/proc/${pid}/net/tcp`, 'utf8');
    for (const line of table.split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === LISTENING && inodes.has(inode)) return Number.parseInt(local.split(':')[1] ?? '', 16);
    }
    await sleepMs(LOOK_AGAIN_MS);
  }
  throw new Error('the debugger did not open');
}

async function socketInodes(pid: number): Promise<Set<string>> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all(
    (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')),
  );
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}

/** State, waiting place and times of the process as the kernel sees them: enough to tell a spin from a wait. */
async function kernelView(pid: number): Promise<Record<string, string>> {
  const view: Record<string, string> = {};
  for (const name of ['status', 'wchan', 'stat']) {
    view[name] = (await readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')).trim();
  }
  return view;
}

async function prune(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('report.'));
  if (names.length <= MAX_REPORTS) return;
  const dated = await Promise.all(
    names.map(async (name) => ({ name, atMs: (await stat(join(folder, name))).mtimeMs })),
  );
  dated.sort((a, b) => b.atMs - a.atMs);
  for (const { name } of dated.slice(MAX_REPORTS)) await rm(join(folder, name), { force: true });
}
