import { needsSignatures } from './gemini-models.ts';
import { type Complaint, records } from './llm/complaint.ts';

/** A function call that the emulated model made: what must come back with its result. */
export interface IssuedCall {
  id: string | null;
  name: string;
  signature: string | null;
}

/**
 * Stands in the vendor's guide for calls that another model made and that therefore have no signature. The emulator
 * takes it for such calls only, never for one that it signed itself.
 */
export const FOREIGN_CALL_SIGNATURE = 'skip_thought_signature_validator';

/**
 * The first break of the rules for turns: a call comes after a user turn, its results come next and match it by id
 * and name, and a signature comes back as it was given (Gemini's documentation).
 */
export function turnComplaint(
  contents: readonly Record<string, unknown>[],
  model: string,
  issued: readonly IssuedCall[],
): Complaint | null {
  for (const [index, content] of contents.entries()) {
    const calls = partsWith(content, 'functionCall');
    const results = partsWith(content, 'functionResponse');
    if (calls.length > 0) {
      const problem = callTurnProblem(contents, index, calls, model, issued);
      if (problem) return invalid(problem);
    }
    if (results.length > 0) {
      const before = contents[index - 1];
      if (content.role !== 'user') return invalid('A function response must be in a turn of the role user.');
      if (!before || partsWith(before, 'functionCall').length === 0) {
        return invalid(
          'Please ensure that function response turn comes immediately after a function call turn.',
        );
      }
    }
  }
  return null;
}

function callTurnProblem(
  contents: readonly Record<string, unknown>[],
  index: number,
  calls: readonly Record<string, unknown>[],
  model: string,
  issued: readonly IssuedCall[],
): string | null {
  if (contents[index]?.role !== 'model') return 'A function call must be in a turn of the role model.';
  if (contents[index - 1]?.role !== 'user') {
    return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
  }
  const next = contents[index + 1];
  const results = next ? partsWith(next, 'functionResponse') : [];
  if (results.length !== calls.length) {
    return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
  }
  const open = calls.map((part) => inner(part, 'functionCall'));
  for (const part of results) {
    const result = inner(part, 'functionResponse');
    const at = open.findIndex((call) => call.name === result.name && call.id === result.id);
    if (at === -1)
      return `The function response ${result.name} does not match any function call by id and name.`;
    open.splice(at, 1);
  }
  for (const part of calls) {
    const problem = signatureProblem(part, model, issued);
    if (problem) return problem;
  }
  return null;
}

function signatureProblem(
  part: Record<string, unknown>,
  model: string,
  issued: readonly IssuedCall[],
): string | null {
  const call = inner(part, 'functionCall');
  const given = part.thoughtSignature;
  const ours = issued.findLast((one) => one.name === call.name && one.id === (call.id ?? null));
  if (ours?.signature) {
    if (given === ours.signature) return null;
    return given === undefined
      ? missing(call.name)
      : `Corrupted thought signature in function call ${call.name}.`;
  }
  if (!needsSignatures(model) || ours) return null;
  if (given === undefined) return missing(call.name);
  return given === FOREIGN_CALL_SIGNATURE
    ? null
    : `Corrupted thought signature in function call ${call.name}.`;
}

function missing(name: unknown): string {
  return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Function call ${name}.`;
}

export function partsWith(content: Record<string, unknown>, kind: string): Record<string, unknown>[] {
  return records(content.parts).filter((part) => part[kind] !== undefined);
}

export function inner(part: Record<string, unknown>, kind: string): Record<string, unknown> {
  return (part[kind] ?? {}) as Record<string, unknown>;
}

function invalid(message: string): Complaint {
  return { status: 400, code: 'INVALID_ARGUMENT', message, violation: true };
}
