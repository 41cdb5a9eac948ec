import type { Complaint } from './llm/complaint.ts';

/** Models that the emulated vendor knows; a date or `-preview` may follow. */
const KNOWN = /^gemini-(2\.5|3(\.\d)?)-(flash-lite|flash|pro)(-.+)?$/;

export function modelComplaint(model: string, method: string): Complaint | null {
  if (KNOWN.test(model)) return null;
  return {
    status: 404,
    code: 'NOT_FOUND',
    message: `models/${model} is not found for this API version, or is not supported for ${method}. Call ListModels to see the list of available models and their supported methods.`,
    violation: false,
  };
}

/** Smallest entry that may be cached (observed; a test may set its own). */
export function geminiFloor(model: string): number {
  if (/^gemini-2\.5-flash-lite/.test(model)) return 2_048;
  if (/^gemini-2\.5-flash/.test(model)) return 1_024;
  return 4_096;
}

/** Gemini 3 wants back the signature of every function call. */
export function needsSignatures(model: string): boolean {
  return model.startsWith('gemini-3');
}

/**
 * What a model says to a thinking setting it does not have: levels begin with the 3 family, and of these 3.7 flash,
 * 3.8 flash and every pro know no MINIMAL (Gemini's documentation, thinking).
 */
export function thinkingComplaint(
  model: string,
  thinking: Record<string, unknown> | undefined,
): Complaint | null {
  if (!thinking) return null;
  const { thinkingLevel: level, thinkingBudget: budget } = thinking;
  if (level !== undefined && budget !== undefined) {
    return refused('You can only set one of thinking budget and thinking level.');
  }
  if (level !== undefined && !model.startsWith('gemini-3')) {
    return refused('Thinking level is not supported for this model.');
  }
  const flash = /^gemini-3\.[0-6]-flash|^gemini-3-flash|^gemini-3\.\d-flash-lite/.test(model);
  if (level === 'MINIMAL' && !flash) {
    return refused('Thinking level MINIMAL is not supported for this model.');
  }
  if (budget === 0 && /-pro/.test(model)) {
    return refused('Budget 0 is invalid. This model only works in thinking mode.');
  }
  return null;
}

function refused(message: string): Complaint {
  return { status: 400, code: 'INVALID_ARGUMENT', message, violation: true };
}
