import { type Complaint, isRecord } from './llm/complaint.ts';

/** The version that SDK 1.x sends, and the one before it. */
export const API_VERSIONS = ['2023-06-01', '2026-10-21'];

export interface ClaudeRules {
  /** Smallest prefix that is cached. */
  floorTokens: number;
  /** Temperature and its like, under the old version of the API only. */
  sampling: boolean;
  /** Thinking at the model's own measure, and the effort that steers it. */
  adaptive: boolean;
}

const NEWER: ClaudeRules = { floorTokens: 1_024, sampling: false, adaptive: true };

const FAMILIES: readonly [RegExp, ClaudeRules][] = [
  [/^claude-haiku-5-5/, { ...NEWER, floorTokens: 512 }],
  [/^claude-opus-5/, { ...NEWER, floorTokens: 512 }],
  [/^claude-sonnet-5/, NEWER],
  [/^claude-opus-4-8/, NEWER],
  [/^claude-opus-4-7/, { ...NEWER, floorTokens: 2_048 }],
  [/^claude-opus-4-6/, { floorTokens: 4_096, sampling: true, adaptive: true }],
  [/^claude-opus-4-5/, { floorTokens: 4_096, sampling: true, adaptive: true }],
  [/^claude-sonnet-4-6/, { floorTokens: 1_024, sampling: true, adaptive: true }],
  [/^claude-sonnet-4/, { floorTokens: 1_024, sampling: true, adaptive: false }],
  [/^claude-haiku-4-5/, { floorTokens: 4_096, sampling: true, adaptive: false }],
];

export function claudeRules(model: string): ClaudeRules | undefined {
  return FAMILIES.find(([pattern]) => pattern.test(model))?.[1];
}

/** The first setting that the model or the version of the API does not take. */
export function claudeSettingComplaint(
  body: Record<string, unknown>,
  rules: ClaudeRules,
  version: string,
): Complaint | null {
  for (const name of ['temperature', 'top_p', 'top_k']) {
    if (body[name] === undefined) continue;
    if (version === '2026-10-21') return refused(`${name}: Extra inputs are not permitted`);
    const isDefault = name !== 'top_k' && body[name] === 1;
    if (!rules.sampling && !isDefault) return refused(`${name}: this model only takes the default`);
  }
  const effort = isRecord(body.output_config) ? body.output_config.effort : undefined;
  if (effort !== undefined && !rules.adaptive)
    return refused('This model does not support the effort parameter.');
  const thinking = isRecord(body.thinking) ? body.thinking : {};
  if (thinking.type === 'adaptive' && !rules.adaptive) {
    return refused('adaptive thinking is not supported on this model');
  }
  if (thinking.type === 'disabled' && (effort === 'xhigh' || effort === 'max')) {
    return refused(`thinking: disabled is not allowed at effort ${effort}`);
  }
  if (thinking.type === 'enabled') {
    const budget = thinking.budget_tokens;
    if (typeof budget !== 'number' || budget < 1_024) {
      return refused('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
    }
    if (budget >= Number(body.max_tokens)) {
      return refused('`max_tokens` must be greater than `thinking.budget_tokens`.');
    }
  }
  return null;
}

export function refused(message: string): Complaint {
  return { status: 400, code: 'invalid_request_error', message, violation: true };
}
