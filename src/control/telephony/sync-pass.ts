import type { SIPInboundTrunkInfo, SIPOutboundTrunkInfo, SipClient } from 'livekit-server-sdk';
import { describeError } from '../../platform/app-error.ts';
import {
  hasFields,
  inboundFields,
  isRule,
  markOf,
  outboundFields,
  readMark,
  ruleFields,
  withInbound,
  withOutbound,
  withRule,
} from './server-trunks.ts';
import { dials, type Trunk, takesCalls } from './trunk.ts';

/** A trunk with all that the media server is to know of it. */
export interface WantedTrunk {
  trunk: Trunk;
  /** Plain; empty without one. */
  password: string;
  /** The enabled numbers that are called through it. */
  numbers: readonly string[];
}

/** What a pass has found out about one trunk. */
export interface TrunkOutcome {
  inboundId: string | null;
  outboundId: string | null;
  /** Null where the media server has it as it is wanted. */
  error: string | null;
}

/**
 * Makes the media server have exactly the wanted trunks, and one dispatch rule for those that take calls. What does not
 * carry the mark of this installation is left alone, and what is right already is not written again, so a pass over
 * a server in order only reads. Rejects where the server does not answer; what it refuses is an outcome of that trunk.
 */
export async function syncPass(
  sip: SipClient,
  installation: string,
  wanted: readonly WantedTrunk[],
): Promise<{ outcomes: Map<string, TrunkOutcome>; ruleError: string | null; writes: number }> {
  const pass = new Pass(sip, installation, wanted);
  await pass.run();
  return { outcomes: pass.outcomes, ruleError: pass.ruleError, writes: pass.writes };
}

class Pass {
  readonly outcomes = new Map<string, TrunkOutcome>();
  ruleError: string | null = null;
  writes = 0;
  private readonly sip: SipClient;
  private readonly installation: string;
  private readonly wanted: readonly WantedTrunk[];

  constructor(sip: SipClient, installation: string, wanted: readonly WantedTrunk[]) {
    this.sip = sip;
    this.installation = installation;
    this.wanted = wanted;
    for (const { trunk } of wanted) {
      this.outcomes.set(trunk.id, { inboundId: null, outboundId: null, error: null });
    }
  }

  async run(): Promise<void> {
    const inbound = this.byTrunk(await this.sip.listSipInboundTrunk());
    const outbound = this.byTrunk(await this.sip.listSipOutboundTrunk());
    const callable = this.wanted.filter(
      ({ trunk, numbers }) => trunk.enabled && takesCalls(trunk) && numbers.length > 0,
    );
    const diallers = this.wanted.filter(({ trunk }) => trunk.enabled && dials(trunk));
    // A rule without trunks would take the calls of every trunk of the server, so it goes before its last trunk does.
    if (callable.length === 0) await this.syncRule([]);
    await this.removeOthers(inbound, callable);
    await this.removeOthers(outbound, diallers);
    for (const wanted of diallers) {
      await this.guarded(wanted, async (outcome) => {
        outcome.outboundId = await this.putOutbound(wanted, outbound.get(wanted.trunk.id)?.[0]);
      });
    }
    await this.putInbounds(callable, inbound);
    const ids = callable.map(({ trunk }) => this.outcomes.get(trunk.id)?.inboundId ?? null);
    const inServer = ids.filter((id) => id !== null);
    if (inServer.length > 0) await this.syncRule(inServer);
  }

  /** A number that moves from one trunk to another is refused until the first has let go of it: hence two rounds. */
  private async putInbounds(
    callable: readonly WantedTrunk[],
    inbound: ReadonlyMap<string, SIPInboundTrunkInfo[]>,
  ): Promise<void> {
    const refused: WantedTrunk[] = [];
    const put = async (wanted: WantedTrunk) => {
      const found = inbound.get(wanted.trunk.id)?.[0];
      const outcome = await this.guarded(wanted, async (outcome) => {
        // Whatever the server says to the change, the trunk that it has goes on.
        outcome.inboundId = found?.sipTrunkId ?? null;
        outcome.inboundId = await this.putInbound(wanted, found);
      });
      return outcome.error === null;
    };
    for (const wanted of callable) {
      if (!(await put(wanted))) refused.push(wanted);
    }
    for (const wanted of refused) {
      const outcome = this.outcomes.get(wanted.trunk.id);
      if (outcome) outcome.error = null;
      await put(wanted);
    }
  }

  private async putInbound(
    { trunk, numbers, password }: WantedTrunk,
    found: SIPInboundTrunkInfo | undefined,
  ): Promise<string> {
    const wanted = inboundFields(trunk, numbers, password, markOf(this.installation, trunk.id));
    if (!found) {
      this.writes++;
      const { name, numbers: called, ...options } = wanted;
      return (await this.sip.createSipInboundTrunk(name, called, options)).sipTrunkId;
    }
    if (!hasFields(found, wanted)) {
      this.writes++;
      await this.sip.updateSipInboundTrunk(found.sipTrunkId, withInbound(found, wanted));
    }
    return found.sipTrunkId;
  }

  private async putOutbound(
    { trunk, password }: WantedTrunk,
    found: SIPOutboundTrunkInfo | undefined,
  ): Promise<string> {
    const wanted = outboundFields(trunk, password, markOf(this.installation, trunk.id));
    if (!found) {
      this.writes++;
      const { name, address, numbers, ...options } = wanted;
      return (await this.sip.createSipOutboundTrunk(name, address, numbers, options)).sipTrunkId;
    }
    if (!hasFields(found, wanted)) {
      this.writes++;
      await this.sip.updateSipOutboundTrunk(found.sipTrunkId, withOutbound(found, wanted));
    }
    return found.sipTrunkId;
  }

  private async syncRule(trunkIds: readonly string[]): Promise<void> {
    const rules = await this.sip.listSipDispatchRule();
    const ours = rules.filter((rule) => readMark(rule.metadata, this.installation) !== undefined);
    const [kept, ...others] = trunkIds.length === 0 ? [undefined, ...ours] : ours;
    for (const rule of others) {
      if (!rule) continue;
      this.writes++;
      await this.sip.deleteSipDispatchRule(rule.sipDispatchRuleId);
    }
    if (trunkIds.length === 0) return;
    const wanted = ruleFields(trunkIds, markOf(this.installation, null));
    if (kept && isRule(kept, wanted)) return;
    this.writes++;
    try {
      if (kept) await this.sip.updateSipDispatchRule(kept.sipDispatchRuleId, withRule(kept, wanted));
      else {
        const { rule, ...options } = wanted;
        await this.sip.createSipDispatchRule(rule, options);
      }
    } catch (error) {
      this.ruleError = `the media server refuses the dispatch rule: ${describeError(error)}`;
    }
  }

  /** Takes out what no trunk wants any more, and what stands twice because an answer was lost. */
  private async removeOthers(
    found: ReadonlyMap<string, readonly { sipTrunkId: string }[]>,
    wanted: readonly WantedTrunk[],
  ): Promise<void> {
    const names = new Set(wanted.map(({ trunk }) => trunk.id));
    for (const [trunkId, copies] of found) {
      for (const copy of names.has(trunkId) ? copies.slice(1) : copies) {
        this.writes++;
        await this.sip.deleteSipTrunk(copy.sipTrunkId);
      }
    }
  }

  /** A refusal concerns one trunk, the others go on. */
  private async guarded(
    { trunk }: WantedTrunk,
    put: (outcome: TrunkOutcome) => Promise<void>,
  ): Promise<TrunkOutcome> {
    const outcome = this.outcomes.get(trunk.id) ?? { inboundId: null, outboundId: null, error: null };
    try {
      await put(outcome);
    } catch (error) {
      outcome.error = `the media server refuses it: ${describeError(error)}`;
    }
    return outcome;
  }

  private byTrunk<T extends { metadata: string; sipTrunkId: string }>(found: readonly T[]): Map<string, T[]> {
    const map = new Map<string, T[]>();
    for (const one of [...found].sort((a, b) => (a.sipTrunkId < b.sipTrunkId ? -1 : 1))) {
      const trunk = readMark(one.metadata, this.installation)?.trunk;
      if (trunk) map.set(trunk, [...(map.get(trunk) ?? []), one]);
    }
    return map;
  }
}
