import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { botServer, NEW_BOT } from '../../harness/bots-harness.ts';
import { CORE_SECRET } from '../../harness/served-api.ts';

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const ENTRY = fileURLToPath(new URL(`./fixtures/run-cache-command.${extension}`, import.meta.url));

function run(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH ?? '', ...env } };
    execFile(process.execPath, [...process.execArgv, ENTRY, ...args], options, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err });
    });
  });
}

t.test('R177 trunkline cache clear KEY makes the running plane read the store again', async (t) => {
  const { ask, cached, bots, port } = await botServer(t);
  const env = { CORE_SECRET, CONTROL_LISTEN: `127.0.0.1:${port}` };
  await ask('POST', '/bots', { ...NEW_BOT, publish: true });
  const first = await cached.get('clinic');
  if (first) await bots.put({ ...first, name: 'Changed behind the back' });
  t.match(await cached.get('clinic'), { name: 'Clinic' });
  t.match(await run(['clear', 'bot:clinic'], env), { code: 0, out: /bot:clinic is cleared/ });
  t.match(await cached.get('clinic'), { name: 'Changed behind the back' });
  t.match(await run(['clear', 'bot:other', '--json'], env), {
    code: 0,
    out: '{"key":"bot:other","cleared":false}\n',
  });
  t.match(await run(['clear', 'nonsense'], env), { code: 1, err: /cache keys are bot:\{bot_id\}/ });
  t.match(await run(['clear', 'bot:clinic'], { ...env, CORE_SECRET: 'wrong' }), { code: 1, err: /./ });
  t.match(await run(['clear'], env), { code: 2, err: /clear KEY/ });
  t.match(await run(['clear', 'bot:clinic'], { ...env, CONTROL_LISTEN: 'here' }), { code: 78 });
});
