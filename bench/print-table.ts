import { type BenchResult, isBusy } from './bench-run.ts';
import type { FleetReadings } from './fleet-run.ts';
import type { MemoryReading } from './process-readings.ts';
import type { Spread } from './spread.ts';

/** The readings as a table for people; the JSON file holds the same and more. */
export function printTable(result: BenchResult, print: (line: string) => void): void {
  const { machine, plan } = result;
  print('');
  print(
    `machine   ${machine.cores} cores (${machine.processor}), ${machine.memoryGb} GB, Node ${machine.node}, Linux ${machine.kernel}`,
  );
  print(
    `load      ${machine.loadAtStart.toFixed(2)} at start${isBusy(machine) ? '  WARNING: the machine was busy with something else; absolute figures are too high' : ''}`,
  );
  print(
    `shape     ${plan.calls} calls on ${plan.slots} slots, ${plan.measureMs / 1000} s measured, seed ${plan.seed}`,
  );
  print('');
  print('bare loops, the floor of this machine');
  for (const bare of result.barePacing) {
    row('pacing lateness ms', spread(bare.lateness));
    row('pacing CPU per frame', `${bare.cpuPerFrameUs.toFixed(0)} us`);
  }
  const { bareVad } = result;
  row(
    'VAD CPU',
    `hot ${bareVad.hotUs.toFixed(0)} us, cold ${bareVad.coldUs.toFixed(0)} us per 32 ms; cold ${bareVad.cpuPerFrameUs.toFixed(0)} us per frame`,
  );
  print('');
  print('set-up, one call at a time, ms from the TCP connect');
  printSetUp(result.calm.setUp);
  for (const fleet of result.fleets) {
    print('');
    print(`${plan.calls} calls at once, ${fleet.framing} frames`);
    printFleet(fleet);
  }
  print('');
  print('ratios to the bare loops (medians over rounds)');
  for (const ratios of result.ratios) {
    row(
      `${ratios.framing} frames`,
      `lateness p50 ${ratios.latenessP50.toFixed(1)}, p99 ${ratios.latenessP99.toFixed(1)}; CPU per frame ${ratios.cpuPerFrame.toFixed(2)}`,
    );
  }
  print('');

  function printSetUp(setUp: { upgraded: Spread; ready: Spread; firstAudio: Spread }): void {
    row('to 101', spread(setUp.upgraded));
    row('to ready', spread(setUp.ready));
    row('to the first frame', spread(setUp.firstAudio));
  }

  function printFleet(fleet: FleetReadings): void {
    const { dialler } = fleet;
    const { counts } = dialler;
    row(
      'frames',
      `${counts.received} received: ${counts.missing} missing, ${counts.doubled} doubled, ${counts.afterClear} after clear, ${counts.damaged} damaged`,
    );
    row(
      'late',
      `${dialler.lateFrames} beyond a 60 ms jitter buffer, ${dialler.underruns} times the line ran dry`,
    );
    row('pacing lateness ms', spread(dialler.lateness));
    row("the dialler's own", spread(dialler.ownLateness));
    printSetUp(dialler.setUp);
    row('all bots heard after', `${dialler.allSpeakingMs.toFixed(0)} ms, calls dialled within 100 ms`);
    row('barge-in to clear ms', `${spread(dialler.bargeIn)}, ${dialler.missedBargeIns} missed`);
    row('end of speech to answer', `${spread(dialler.response)}, ${dialler.unanswered} unanswered`);
    row(
      'turns decided by',
      Object.entries(fleet.turnsBy)
        .map(([by, count]) => `${by} ${count}`)
        .join(', ') || 'none',
    );
    row(
      'CPU',
      `${fleet.cpuSecondsPerCallMinute.toFixed(2)} s per call-minute, ${fleet.cpuPerFrameUs.toFixed(0)} us per frame; main ${percent(fleet.mainCpuShare)} of it; idle fleet ${percent(fleet.idleCpuShare)} of a core`,
    );
    for (const state of ['idle', 'busy'] as const) {
      const memory = fleet[state];
      row(`memory ${state} MB`, `a slot ${megabytes(memory.slotMedian)}; main ${megabytes(memory.main)}`);
      row('', `all ${megabytes(memory.total)}`);
    }
    row('results', `${fleet.resultsDelivered} delivered, ${fleet.spoolsLeft} spool folders left`);
  }

  function row(name: string, text: string): void {
    print(`  ${name.padEnd(24)}${text}`);
  }
}

function spread(values: Spread): string {
  if (values.count === 0) return 'none';
  const digits = (value: number | null) =>
    value === null ? '-' : value.toFixed(Math.abs(value) < 100 ? 1 : 0);
  return `p50 ${digits(values.p50)}, p99 ${digits(values.p99)}, p99.9 ${digits(values.p999)}, max ${digits(values.max)} (${values.count})`;
}

function megabytes(memory: MemoryReading): string {
  return `RSS ${memory.rssMb.toFixed(0)}, PSS ${memory.pssMb.toFixed(1)}, private dirty ${memory.privateDirtyMb.toFixed(1)}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
