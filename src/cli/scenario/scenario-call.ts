import { readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CallResults } from '../../contracts/call-results.ts';
import { CORE_SECRET_HEADER, RECORDS_PATH } from '../../contracts/http-names.ts';
import { FRAME_MS } from '../../contracts/limits.ts';
import { monotonicMs, sleepMs } from '../../platform/clock.ts';
import type { DiallerEvent } from '../dialler-events.ts';
import { stereoWav } from '../sound-track.ts';
import { type Check, judgeScenario } from './judge-scenario.ts';
import { stepTimes } from './line-times.ts';
import { type PlayedCall, playScenario } from './play-scenario.ts';
import { readScenario } from './read-scenario.ts';
import type { Scenario, Wire } from './scenario-format.ts';

export interface ScenarioCommand {
  file: string;
  url: string;
  wire: Wire;
  fields: Record<string, unknown>;
  secret: string | undefined;
  /** Base address of the control plane whose call record is looked at. */
  control: string;
  json: boolean;
  out: string | undefined;
  show(event: DiallerEvent, sinceMs: number): void;
}

/** The record of a call is complete this soon after its end, or its expectations stay unchecked. */
const RECORD_TIMEOUT_MS = 10_000;

/** `trunkline call BOT --scenario FILE`: acts a conversation out against any host. Exit code 0 when all held. */
export async function scenarioCall(command: ScenarioCommand): Promise<number> {
  const scenario = readScenario(await readFile(command.file, 'utf8'));
  scenario.caller.fields = { ...scenario.caller.fields, ...command.fields };
  let startedAtMs: number | undefined;
  const call = await playScenario(scenario, {
    url: command.url,
    wire: command.wire,
    folder: dirname(command.file),
    ...(command.secret ? { headers: { [CORE_SECRET_HEADER]: command.secret } } : {}),
    onEvent: (event) => {
      startedAtMs ??= event.atMs;
      command.show(event, event.atMs - startedAtMs);
    },
  });
  const results = call.refusal || call.sessionId === '' ? null : await readRecord(command, call.sessionId);
  const checks = judgeScenario(scenario, call, results);
  if (command.out) await writeFile(command.out, stereoWav(call.spoken, call.heard));
  const text = command.json
    ? JSON.stringify(scenarioSummary(scenario, call, checks))
    : [
        '',
        ...describeScenario(scenario, call, checks),
        ...hints(scenario.bot, checks.some(isUnchecked)),
      ].join('\n');
  process.stdout.write(`${text}\n`);
  return checks.some((check) => check.ok === false) ? 1 : 0;
}

const isUnchecked = (check: { ok: boolean | null }) => check.ok === null;

function hints(bot: Record<string, unknown>, unchecked: boolean): string[] {
  return [
    ...(Object.keys(bot).length > 0
      ? ['  note   the file expectations for a bot of its own; this host answers with the one it has']
      : []),
    ...(unchecked
      ? [
          '  note   "?" was not checked: set CORE_SECRET or TRUNKLINE_API_KEY, and --control, to read call records',
        ]
      : []),
  ];
}

/** The finished call record by the control plane's API; null when it cannot be read. */
async function readRecord(command: ScenarioCommand, sessionId: string): Promise<CallResults | null> {
  const key = process.env.TRUNKLINE_API_KEY;
  if (!command.secret && !key) return null;
  const headers: Record<string, string> = key
    ? { 'X-API-Key': key }
    : { [CORE_SECRET_HEADER]: command.secret ?? '' };
  const url = new URL(`${RECORDS_PATH}/${encodeURIComponent(sessionId)}`, command.control);
  const giveUpAtMs = monotonicMs() + RECORD_TIMEOUT_MS;
  while (monotonicMs() < giveUpAtMs) {
    try {
      const answer = await fetch(url, { headers, signal: AbortSignal.timeout(RECORD_TIMEOUT_MS) });
      if (!answer.ok) return null;
      const record = (await answer.json()) as CallResults & { status?: string };
      if (record.status !== 'active') return record;
    } catch {
      return null;
    }
    await sleepMs(250);
  }
  return null;
}

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
function scenarioSummary(scenario: Scenario, call: PlayedCall, checks: readonly Check[]) {
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
