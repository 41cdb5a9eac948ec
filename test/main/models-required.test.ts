import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { startMain } from '../../src/main/main.ts';
import { projectPath, projectRoot } from '../../src/platform/project-paths.ts';
import { readSettings } from '../../src/platform/settings.ts';

const logger = pino({ level: 'silent' });

/** Starts a worker whose model folder holds these files only. */
function start(folder: string, files: string[], models: string) {
  for (const file of files) copyFileSync(projectPath(`models/${file}`), join(folder, file));
  const env = {
    ROLE: 'worker',
    CONFIG_URL: 'http://127.0.0.1:9/config',
    SLOTS: '1',
    DATA_DIR: join(folder, 'data'),
    MODEL_DIR: folder,
    FLEET_LISTEN: '127.0.0.1:0',
    MODELS: models,
  };
  return startMain(readSettings(env, folder, projectRoot), { logger });
}

t.test('without voice activity nothing starts, and the sentence names the command that helps', async (t) => {
  await t.rejects(start(t.testdir(), [], 'optional'), { code: 'model_missing', message: /trunkline models/ });
});

t.test('RT-04 without the turn model MODELS=required stops the start', async (t) => {
  await t.rejects(start(t.testdir(), ['silero_vad_v6.onnx'], 'required'), { code: 'model_missing' });
});

t.test('RT-04 without the turn model calls are taken by the silence rule, and health says so', async (t) => {
  const main = await start(t.testdir(), ['silero_vad_v6.onnx'], 'optional');
  const deadline = Date.now() + 20_000;
  while (main.health()?.fleet_available !== 1 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const health = main.health();
  t.equal(health?.fleet_available, 1);
  t.equal(health?.status, 'degraded');
  t.equal(health?.models?.['smart-turn'], 'missing');
  t.match(health?.reasons, [/turn model is missing/]);
  await main.stop();
});
