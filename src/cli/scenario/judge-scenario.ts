import type { CallResults } from '../../contracts/call-results.ts';
import { stepTimes } from './line-times.ts';
import type { PlayedCall } from './play-scenario.ts';
import type { CallExpectation, Scenario, Step } from './scenario-format.ts';

/** One thing that was expected, and what was found. */
export interface Check {
  what: string;
  /** Null where it could not be looked at: there was no results payload. */
  ok: boolean | null;
  found: string;
}

/** Holds a played call against its scenario. `results` is null where nobody could be asked for them. */
export function judgeScenario(scenario: Scenario, call: PlayedCall, results: CallResults | null): Check[] {
  if (call.refusal && scenario.expect.closedBy !== 'refused') {
    const { code, reason } = call.refusal;
    return [{ what: 'the call is taken', ok: false, found: `refused with ${code} ${reason}` }];
  }
  return [
    ...scenario.steps.flatMap((step, index) => judgeStep(step, index, call)),
    ...judgeLine(scenario.expect, call),
    ...judgeResults(scenario.expect, results),
  ];
}

function judgeStep(step: Step, index: number, call: PlayedCall): Check[] {
  const name = `step ${index + 1} (${step.action.kind})`;
  const played = call.steps[index];
  if (!played?.played) {
    return [{ what: `${name} takes place`, ok: false, found: 'its moment never came, or the call was over' }];
  }
  const { expect } = step;
  const times = stepTimes(played, call.spoken, call.heard, expect.goOnForMs ?? 0);
  const checks: Check[] = [];
  const within = (what: string, found: number | null, limit: number | null) => {
    if (limit === null) return;
    checks.push({
      what: `${name}: the bot ${what} within ${limit} ms`,
      ok: found !== null && found <= limit,
      found: found === null ? 'it never did' : `${found} ms`,
    });
  };
  const atLeast = (what: string, found: number, limit: number | null) => {
    if (limit === null) return;
    checks.push({
      what: `${name}: the bot ${what} for ${limit} ms`,
      ok: found >= limit,
      found: `${found} ms`,
    });
  };
  within('answers', times.answerMs, expect.answerWithinMs);
  within('stops', times.stopMs, expect.stopWithinMs);
  within('goes on', times.resumeMs, expect.resumeWithinMs);
  atLeast('is heard', times.goesOnMs, expect.goOnForMs);
  atLeast('is silent', times.quietMs, expect.quietForMs);
  return checks;
}

function judgeLine(expect: CallExpectation, call: PlayedCall): Check[] {
  const checks: Check[] = [];
  if (expect.closedBy !== null) {
    const by = call.refusal ? 'refused' : call.callerClosed ? 'caller' : 'bot';
    checks.push({
      what: `the call is ended by: ${expect.closedBy}`,
      ok: by === expect.closedBy,
      found: call.refusal ? `refused with ${call.refusal.code} ${call.refusal.reason}` : by,
    });
  }
  if (expect.closeCode !== null) {
    const { code, reason } = call.closed;
    checks.push({
      what: `the close code is ${expect.closeCode}`,
      ok: code === expect.closeCode,
      found: `${code} ${reason}`,
    });
  }
  if (expect.endsWithinMs !== null) {
    const ms = Math.round(call.closed.atMs - call.startedAtMs);
    checks.push({
      what: `the call ends within ${expect.endsWithinMs} ms`,
      ok: ms <= expect.endsWithinMs,
      found: `${ms} ms`,
    });
  }
  if (expect.clears !== null) {
    const clears = call.events.filter((event) => event.type === 'clear').length;
    checks.push({
      what: `the bot's voice is cleared ${expect.clears} times`,
      ok: clears === expect.clears,
      found: String(clears),
    });
  }
  for (const like of expect.receives) {
    checks.push({
      what: `the far end receives ${JSON.stringify(like)}`,
      ok: call.events.some((event) => matches(event, like)),
      found: [...new Set(call.events.map((event) => event.type))].join(', '),
    });
  }
  return checks;
}

function judgeResults(expect: CallExpectation, results: CallResults | null): Check[] {
  const expectations = [
    ...inOrder('bot', expect.botSays),
    ...inOrder('customer', expect.callerSays),
    ...expect.neverSays.map(neverSaid),
    ...expect.events.map(eventRequest),
    ...expect.noEvents.map(noEventRequest),
    ...Object.entries(expect.results).map(resultRequest),
  ];
  return expectations.map(({ what, look }) => {
    if (!results) return { what, ok: null, found: 'no results payload to look at' };
    return { what, ...look(results) };
  });
}

interface Expectation {
  what: string;
  look(results: CallResults): { ok: boolean; found: string };
}

/** Each pattern is found behind the one before it; one entry may hold several. */
function inOrder(speaker: 'bot' | 'customer', patterns: readonly string[]): Expectation[] {
  return patterns.map((pattern, index) => ({
    what: `the ${speaker === 'bot' ? 'bot' : 'caller'} says /${pattern}/`,
    look: (results) => {
      const text = saidBy(results, speaker);
      let rest = text;
      for (const wanted of patterns.slice(0, index + 1)) {
        const found = new RegExp(wanted, 'iu').exec(rest);
        if (!found) return { ok: false, found: shortened(text) };
        rest = rest.slice(found.index + found[0].length);
      }
      return { ok: true, found: shortened(text) };
    },
  }));
}

function neverSaid(pattern: string): Expectation {
  return {
    what: `the bot never says /${pattern}/`,
    look: (results) => {
      const text = saidBy(results, 'bot');
      return { ok: !new RegExp(pattern, 'iu').test(text), found: shortened(text) };
    },
  };
}

function eventRequest({ like, count }: CallExpectation['events'][number]): Expectation {
  const times = count === null ? '' : ` ${count} times`;
  return {
    what: `the record holds ${JSON.stringify(like)}${times}`,
    look: (results) => {
      const found = results.events.filter((event) => matches(event, like)).length;
      const alike = results.events.filter((event) => event.event === like.event);
      return {
        ok: count === null ? found > 0 : found === count,
        found: alike.length === 0 ? eventNames(results) : shortened(JSON.stringify(alike)),
      };
    },
  };
}

function noEventRequest(like: Record<string, unknown>): Expectation {
  return {
    what: `the record holds no ${JSON.stringify(like)}`,
    look: (results) => {
      const found = results.events.filter((event) => matches(event, like));
      return { ok: found.length === 0, found: shortened(JSON.stringify(found)) };
    },
  };
}

function resultRequest([key, expected]: [string, unknown]): Expectation {
  return {
    what: `results.${key} is ${JSON.stringify(expected)}`,
    look: (results) => {
      const value = (results as Record<string, unknown>)[key];
      return { ok: matches(value, expected), found: shortened(JSON.stringify(value) ?? 'missing') };
    },
  };
}

function saidBy(results: CallResults, speaker: string): string {
  return results.transcript
    .filter((entry) => entry.speaker === speaker)
    .map((entry) => entry.text)
    .join(' | ');
}

function eventNames(results: CallResults): string {
  return [...new Set(results.events.map((event) => event.event))].join(', ');
}

function shortened(text: string): string {
  return text.length > 600 ? `${text.slice(0, 600)}...` : text;
}

/**
 * Whether a value fits what is expected of it, in part: an object's named keys fit, a list holds each expected item, a
 * text between slashes is a regular expression, `{"above": 3}` and `{"below": 3}` bound a number, and anything else is
 * equal.
 */
export function matches(value: unknown, expected: unknown): boolean {
  if (typeof expected === 'string') {
    const pattern = /^\/(.*)\/$/su.exec(expected);
    if (!pattern) return value === expected;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return text !== undefined && new RegExp(pattern[1] as string, 'iu').test(text);
  }
  if (Array.isArray(expected)) {
    return Array.isArray(value) && expected.every((item) => value.some((one) => matches(one, item)));
  }
  if (typeof expected === 'object' && expected !== null) {
    const bounds = expected as { above?: unknown; below?: unknown };
    if (typeof bounds.above === 'number' || typeof bounds.below === 'number') {
      if (typeof value !== 'number') return false;
      return value > number(bounds.above, -Infinity) && value < number(bounds.below, Infinity);
    }
    if (typeof value !== 'object' || value === null) return false;
    return Object.entries(expected).every(([key, inner]) =>
      matches((value as Record<string, unknown>)[key], inner),
    );
  }
  return value === expected;
}

function number(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
