import { createRequire } from 'node:module';
import type * as Onnx from 'onnxruntime-node';
import { AppError } from '../../platform/app-error.ts';

/**
 * The model runtime. It is loaded through `require` because that costs a third less memory per slot than `import`
 * (D-14), and on the first use, so that a process without models never pays for it.
 */
export function onnxRuntime(): typeof Onnx {
  loaded ??= createRequire(import.meta.url)('onnxruntime-node') as typeof Onnx;
  return loaded;
}

/**
 * A session on one thread that never spins: a second thread brings no gain here and spinning doubles the CPU time
 * (D-3). Rejects with `model_missing` when the runtime refuses the file.
 */
export async function createSession(modelPath: string): Promise<Onnx.InferenceSession> {
  try {
    return await onnxRuntime().InferenceSession.create(modelPath, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      // With the pattern planner on and the arena off, version 1.30 keeps some 13 MB of every run of the turn model.
      enableCpuMemArena: true,
      enableMemPattern: false,
      extra: {
        session: {
          intra_op: { allow_spinning: '0' },
          inter_op: { allow_spinning: '0' },
          // Processors without VNNI saturate in the fast product of 8-bit numbers, and the turn model judges otherwise.
          x64quantprecision: '1',
        },
      },
    });
  } catch (cause) {
    throw new AppError(
      'model_missing',
      `the model ${modelPath} does not load; run "trunkline models" to place it`,
      { cause },
    );
  }
}

let loaded: typeof Onnx | undefined;
