import { parentPort, workerData } from 'node:worker_threads';
import type { InferenceSession } from 'onnxruntime-node';
import { describeError } from '../../platform/app-error.ts';
import { enterGate, leaveGate } from '../process/native-run-gate.ts';
import { createSession, onnxRuntime } from './onnx-session.ts';
import { FEATURE_CELLS, FEATURE_SHAPE, TurnFeatures } from './turn-features.ts';
import type { TurnAnswer, TurnRequest, WorkerSetup } from './turn-messages.ts';

/**
 * Entry of the inference thread of a slot: owns the turn model, computes features and verdicts, one request after the
 * other. It ends itself on `close`, because ending it from outside can abort the process (see native-run-gate.ts).
 */
const { modelPath, segment, gate } = workerData as WorkerSetup;
if (!parentPort) throw new Error('inference-worker.ts runs as a worker thread only');
const port = parentPort;

const features = new Float32Array(FEATURE_CELLS);
const logit = new Float32Array(1);
let judgeFeatures: () => Promise<void>;
let turnFeatures: TurnFeatures;
let session: InferenceSession;

try {
  await load();
  answer({ type: 'ready' });
  port.on('message', (request: TurnRequest) => {
    void (request.type === 'close' ? close() : judge(request));
  });
} catch (error) {
  answer({ type: 'cannot_start', message: describeError(error) });
} finally {
  // The slot made the gate in the entered state for this load.
  leaveGate(gate);
}

/** Loads everything and runs once, so that the first real verdict pays for no first touch. */
async function load(): Promise<void> {
  session = await createSession(modelPath);
  const { Tensor } = onnxRuntime();
  const feeds = { input_features: new Tensor('float32', features, FEATURE_SHAPE) };
  // The output is named for logits but holds a probability: the sigmoid is inside the model.
  const fetches = { logits: new Tensor('float32', logit, [1, 1]) };
  judgeFeatures = async () => {
    await session.run(feeds, fetches);
  };
  turnFeatures = new TurnFeatures();
  turnFeatures.compute(new Int16Array(0), features);
  await judgeFeatures();
}

async function judge({ id, samples, rateHz }: Extract<TurnRequest, { type: 'judge' }>): Promise<void> {
  if (!enterGate(gate)) return;
  const startedMs = performance.now();
  try {
    turnFeatures.compute(segment.subarray(0, samples), features, rateHz);
    await judgeFeatures();
    const probability = logit[0] as number;
    answer({ type: 'verdict', id, probability, computeMs: performance.now() - startedMs });
  } catch (error) {
    answer({ type: 'failed', id, message: describeError(error) });
  } finally {
    leaveGate(gate);
  }
}

async function close(): Promise<void> {
  if (enterGate(gate)) {
    try {
      await session.release();
    } finally {
      leaveGate(gate);
    }
  }
  port.close();
}

function answer(message: TurnAnswer): void {
  port.postMessage(message);
}
