import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import {
  loadModelPath,
  modelEntry,
  modelManifest,
  modelStatus,
  sha256OfFile,
} from '../../src/platform/model-files.ts';
import { projectPath } from '../../src/platform/project-paths.ts';

t.test('R9 both models stand in the manifest with version, hash, licence and origin', async (t) => {
  t.same(
    modelManifest().map((entry) => entry.name),
    ['silero-vad', 'smart-turn'],
  );
  for (const entry of modelManifest()) {
    t.match(entry.sha256, /^[0-9a-f]{64}$/);
    t.ok(entry.version && entry.licence && entry.contract && entry.bytes > 0, entry.name);
    t.ok(Object.keys(entry.origin).length > 0, `${entry.name} can be had from somewhere`);
  }
});

t.test('a model is used only when its content has the hash of the manifest', async (t) => {
  const both = t.testdir({ first: {}, other: {} });
  const folder = join(both, 'first');
  const { file, sha256 } = modelEntry('silero-vad');
  const path = join(folder, file);
  await t.rejects(loadModelPath('silero-vad', folder), {
    code: 'model_missing',
    message: /is missing; run "trunkline models"/,
  });
  await copyFile(projectPath(`models/${file}`), path);
  t.equal(await loadModelPath('silero-vad', folder), path, 'a file that came later is found');
  t.equal(await sha256OfFile(path), sha256);

  const other = join(both, 'other');
  const bytes = Buffer.alloc(modelEntry('silero-vad').bytes);
  await writeFile(join(other, file), bytes);
  await t.rejects(loadModelPath('silero-vad', other), {
    code: 'model_missing',
    message: /does not match its hash/,
    details: { model: 'silero-vad', state: 'wrong_hash' },
  });
});

t.test('the status tells present, missing and wrong apart', async (t) => {
  const folder = t.testdir({ [modelEntry('smart-turn').file]: 'not a model' });
  await copyFile(projectPath('models/silero_vad_v6.onnx'), join(folder, 'silero_vad_v6.onnx'));
  t.match(await modelStatus(folder), [
    { name: 'silero-vad', state: 'present', need: 'always' },
    { name: 'smart-turn', state: 'wrong_hash', need: 'optional' },
  ]);
  t.match(await modelStatus(join(folder, 'nowhere')), [{ state: 'missing' }, { state: 'missing' }]);
});
