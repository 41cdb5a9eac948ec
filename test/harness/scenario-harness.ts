import { readdirSync, readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { CpuMeter } from '../../bench/process-readings.ts';
import { type Check, judgeScenario } from '../../src/cli/scenario/judge-scenario.ts';
import { type PlayedCall, type PlayOptions, playScenario } from '../../src/cli/scenario/play-scenario.ts';
import { readScenario } from '../../src/cli/scenario/read-scenario.ts';
import { describeScenario } from '../../src/cli/scenario/scenario-call.ts';
import type { Scenario, Wire } from '../../src/cli/scenario/scenario-format.ts';
import type { CallResults } from '../../src/contracts/call-results.ts';
import { sleepMs } from '../../src/platform/clock.ts';
import { projectPath } from '../../src/platform/project-paths.ts';
import { Appliance } from './appliance.ts';
import { ForeignPlane } from './foreign-plane.ts';
import { startScenarioProviders } from './scenario-providers.ts';
import { undocumentedKeys } from './undocumented-keys.ts';

/** Scenario files, sources even when the tests run compiled. */
export const SCENARIO_FOLDER = projectPath('test/scenarios');
/** Calls at once: the slots of the shared appliance. */
const SLOTS = 6;
/** A result is delivered this soon after its call, whatever the machine is doing. */
const RESULT_TIMEOUT_MS = 60_000;
const AT_CAPACITY = 429;

export interface PlayedScenario {
  name: string;
  scenario: Scenario;
  wire: Wire;
  checks: Check[];
  /** The call as a person would read it, for a failed run. */
  text: string;
}

/** Names of the scenario files without their ending, in order. */
export function scenarioNames(): string[] {
  return readdirSync(SCENARIO_FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .sort();
}

export function loadScenario(name: string): Scenario {
  return readScenario(readFileSync(`${SCENARIO_FOLDER}/${name}.json`, 'utf8'));
}

/** One appliance with its control plane, on which all conversations take place, several at a time. */
export class ScenarioHarness {
  private readonly appliance: Appliance;
  private readonly plane: ForeignPlane;
  private readonly configs = new Map<string, { status: number; body: unknown; delayMs?: number }>();
  private free = SLOTS;
  private readonly waiting: (() => void)[] = [];

  private constructor(appliance: Appliance, plane: ForeignPlane) {
    this.appliance = appliance;
    this.plane = plane;
    plane.config = ({ botId }) => this.configs.get(botId) ?? { status: 404, body: { detail: 'no such bot' } };
  }

  static async start(t: Test): Promise<ScenarioHarness> {
    const plane = await ForeignPlane.start();
    const appliance = await Appliance.start({
      ...plane.env,
      SLOTS: String(SLOTS + 1),
      LOG_LEVEL: 'warn',
      ...(process.env.MODEL_DIR ? { MODEL_DIR: process.env.MODEL_DIR } : {}),
    });
    t.teardown(async () => {
      await appliance.destroy();
      await plane.close();
    });
    return new ScenarioHarness(appliance, plane);
  }

  /** Plays a scenario on one wire as soon as a slot is free. */
  async play(name: string, wire: Wire): Promise<PlayedScenario> {
    await this.enter();
    try {
      return await this.playNow(name, wire);
    } finally {
      this.leave();
    }
  }

  /** Processor time of the idle slots together, as a share of one core; a watcher that spins takes a whole one. */
  async idleCpuShare(measureMs: number): Promise<number> {
    const health = await this.appliance.until(
      ({ workers = [] }) => workers.every((worker) => worker.state === 'idle'),
      60_000,
    );
    const meter = new CpuMeter((health.workers ?? []).flatMap(({ pid }) => (pid === null ? [] : [pid])));
    await sleepMs(measureMs);
    return (meter.read().cpuSeconds * 1000) / measureMs;
  }

  get log(): string {
    return this.appliance.log;
  }

  private async playNow(name: string, wire: Wire): Promise<PlayedScenario> {
    const scenario = loadScenario(name);
    const providers = await startScenarioProviders(scenario);
    try {
      const botId = `${name}-${wire}`;
      const body = this.plane.scriptedBot({ bot_id: botId, ...providers.bot });
      this.configs.set(botId, providers.config(body));
      const path = wire === 'partner' ? 'partner' : 'ws';
      const call = await this.placed(scenario, {
        url: `ws://127.0.0.1:${this.appliance.fleetPort}/${path}/${botId}`,
        wire,
        folder: SCENARIO_FOLDER,
      });
      const results = call.refusal ? null : await this.resultOf(String(body.session_id));
      const checks = [
        ...judgeScenario(scenario, call, results),
        ...catalogued(results),
        ...providers.judge(),
      ];
      if (!call.refusal && !results) {
        checks.push({ what: 'a result is delivered', ok: false, found: `none in ${RESULT_TIMEOUT_MS} ms` });
      }
      const text = [
        ...describeScenario(scenario, call, checks),
        ...(results ? [`  result  ${shortResult(results)}`] : []),
      ].join('\n');
      return { name, scenario, wire, checks, text };
    } finally {
      await providers.close();
    }
  }

  /** A slot that has just ended a call may still be busy with its results: full is no failure of the conversation. */
  private async placed(scenario: Scenario, options: PlayOptions): Promise<PlayedCall> {
    const giveUpAtMs = performance.now() + RESULT_TIMEOUT_MS;
    for (;;) {
      const call = await playScenario(scenario, options);
      if (call.refusal?.code !== AT_CAPACITY || performance.now() > giveUpAtMs) return call;
      await sleepMs(500);
    }
  }

  private resultOf(sessionId: string): Promise<CallResults | null> {
    return this.plane.resultOf(sessionId).catch(() => null);
  }

  private async enter(): Promise<void> {
    while (this.free === 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.free--;
  }

  private leave(): void {
    this.free++;
    this.waiting.shift()?.();
  }
}

/** Every event of every call has the keys that the catalogue names, and no other. */
function catalogued(results: CallResults | null): Check[] {
  return (results?.events ?? []).flatMap((event) => {
    const strange = undocumentedKeys(event);
    if (strange.length === 0) return [];
    return [{ what: `"${event.event}" is as documented`, ok: false, found: strange.join(', ') }];
  });
}

function shortResult(results: CallResults): string {
  const { transcript, events, disconnected_by, end_detail } = results;
  return JSON.stringify({ disconnected_by, end_detail, transcript, events }).slice(0, 6_000);
}
