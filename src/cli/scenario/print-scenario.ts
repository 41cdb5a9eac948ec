import { FRAME_MS } from '../../contracts/limits.ts';
import type { Check } from './judge-scenario.ts';
import { stepTimes } from './line-times.ts';
import type { PlayedCall } from './play-scenario.ts';
import type { Scenario } from './scenario-format.ts';

/** The played conversation for a reader: each step with what it brought about, then every expectation. */
export function describeScenario(scenario: Scenario, call: PlayedCall, checks: readonly Check[]): string[] {
  const lines = [scenario.title];
  if (scenario.covers.length > 0) lines.push(`  covers ${scenario.covers.join(', ')}`);
  for (const [index, step] of scenario.steps.entries()) {
    const played = call.steps[index];
    if (!played?.played) {
      lines.push(`  step ${index + 1}  ${step.action.kind}: did not take place`);
      continue;
    }
    const times = stepTimes(played, call.spoken, call.heard, step.expect.goOnForMs ?? 0);
    const facts = [
      times.stopMs === null ? '' : `bot stopped after ${times.stopMs} ms`,
      times.resumeMs === null || times.stopMs === null ? '' : `next heard after ${times.resumeMs} ms`,
      times.stopMs !== null || times.answerMs === null ? '' : `answered after ${times.answerMs} ms`,
    ].filter(Boolean);
    const seconds = ((played.fromFrame * FRAME_MS) / 1000).toFixed(2);
    lines.push(
      `  step ${index + 1}  ${step.action.kind} at ${seconds} s${facts.length > 0 ? `: ${facts.join(', ')}` : ''}`,
    );
  }
  for (const check of checks) {
    const sign = check.ok === null ? '?' : check.ok ? 'ok' : 'NOT OK';
    lines.push(`  ${sign.padEnd(7)}${check.what}${check.ok ? '' : `; found: ${check.found}`}`);
  }
  return lines;
}

/** What a machine wants to know of it. */
export function scenarioSummary(scenario: Scenario, call: PlayedCall, checks: readonly Check[]) {
  return {
    type: 'scenario',
    title: scenario.title,
    session_id: call.sessionId,
    passed: checks.every((check) => check.ok !== false),
    unchecked: checks.filter((check) => check.ok === null).length,
    steps: call.steps.map((played, index) => ({
      action: scenario.steps[index]?.action.kind,
      played: played.played,
      ...stepTimes(played, call.spoken, call.heard, scenario.steps[index]?.expect.goOnForMs ?? 0),
    })),
    checks,
  };
}
