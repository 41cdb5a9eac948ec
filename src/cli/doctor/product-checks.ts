import { describeError } from '../../platform/app-error.ts';
import { audioKernels } from '../../platform/audio-kernels.ts';
import { findEngine, findEngineData } from '../../platform/engine-programs.ts';
import { modelStatus } from '../../platform/model-files.ts';
import { type Settings, suggestedSlots } from '../../platform/settings.ts';
import { PRODUCT_VERSION } from '../../platform/version.ts';
import type { Finding } from './finding.ts';

/** The Node line that the lockfile pins; native packages are chosen for it. */
const RUNTIME_MAJOR = 22;

export function checkRuntime(): Finding {
  const text = `Trunkline ${PRODUCT_VERSION} on Node ${process.versions.node}, ${process.platform} ${process.arch}`;
  if (Number(process.versions.node.split('.')[0]) === RUNTIME_MAJOR)
    return { name: 'runtime', status: 'ok', text };
  const advice = `start it through ./trunkline, which runs the pinned Node ${RUNTIME_MAJOR}`;
  return { name: 'runtime', status: 'fail', text, advice };
}

/** Loads the addon and lets it convert 20 ms. */
export function checkKernels(): Finding {
  try {
    const { Resampler } = audioKernels();
    const samples = new Resampler(8000, 16_000).process(new Int16Array(160)).length;
    return {
      name: 'audio kernels',
      status: 'ok',
      text: `loaded; 160 samples at 8 kHz became ${samples} at 16 kHz`,
    };
  } catch (error) {
    const advice = 'run "npm run setup"; it needs cmake, make and g++';
    return { name: 'audio kernels', status: 'fail', text: describeError(error), advice };
  }
}

export async function checkModels(settings: Settings): Promise<Finding[]> {
  const found = await modelStatus(settings.modelDir);
  return found.map((model) => {
    const name = `model ${model.name}`;
    if (model.state === 'present')
      return { name, status: 'ok', text: `version ${model.version}, hash as listed` };
    const text = model.state === 'missing' ? `${model.path} is missing` : `${model.path} has the wrong hash`;
    const dispensable = model.need === 'optional' && settings.models !== 'required';
    return {
      name,
      status: dispensable ? 'warn' : 'fail',
      text: dispensable ? `${text}; turns end by the silence rule` : text,
      advice: 'run "trunkline models"',
    };
  });
}

/** Local speech engines: only bots on the local providers need them. */
export function checkEngines(): Finding[] {
  const engines = [
    { program: 'pocketsphinx_continuous', what: 'pocketsphinx', package: 'pocketsphinx' },
    { program: 'espeak-ng', what: 'espeak-ng', package: 'espeak-ng' },
  ];
  const findings = engines.map(({ program, what, package: debian }): Finding => {
    const engine = findEngine(program);
    if (engine) return { name: what, status: 'ok', text: engine.path };
    const advice = `"apt install ${debian}" or "npm run setup"; only bots on the local providers need it`;
    return { name: what, status: 'warn', text: `${program} is not installed`, advice };
  });
  const dictionary = '/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict';
  const path = findEngineData(dictionary);
  findings.push(
    path
      ? { name: 'English speech data', status: 'ok', text: path }
      : {
          name: 'English speech data',
          status: 'warn',
          text: `${dictionary} is not installed`,
          advice:
            '"apt install pocketsphinx-en-us" or "npm run setup"; only the local speech-to-text needs it',
        },
  );
  return findings;
}

export function checkSlots(settings: Settings): Finding {
  const suggested = suggestedSlots();
  if (settings.role === 'control') return { name: 'slots', status: 'ok', text: 'none in this role' };
  if (settings.slots <= suggested) {
    return {
      name: 'slots',
      status: 'ok',
      text: `${settings.slots}; this machine should be tried with up to ${suggested}`,
    };
  }
  return {
    name: 'slots',
    status: 'warn',
    text: `${settings.slots} slots are many for ${suggested / 4} processors`,
    advice: `set SLOTS=${suggested} first, and raise it while the bots still answer quickly`,
  };
}
