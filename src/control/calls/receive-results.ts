import { Type } from 'typebox';
import type { AutoDisposition } from '../../contracts/bot/operation.ts';
import { CallResults } from '../../contracts/call-results.ts';
import { RESULTS_PATH } from '../../contracts/http-names.ts';
import { RESULTS_MAX_BYTES } from '../../contracts/limits.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CoreSecretGuard } from '../http/core-secret-guard.ts';
import { type AnyRoute, route } from '../http/route.ts';
import type { CallRecord } from './call-record-schema.ts';
import type { CallRecordStore, Completion } from './call-store.ts';
import { removeRecording } from './delete-call.ts';

export interface ReceiveResultsParts {
  calls: CallRecordStore;
  recordingsFolder: string;
  /** The bot's `auto_dispositions` (D-26). */
  dispositionRules: (botId: string) => Promise<readonly AutoDisposition[]>;
  /** What the call says about calling its contact back, for the campaign. */
  settleCallback: (record: CallRecord) => Promise<void>;
  guard: CoreSecretGuard;
  /** `STRICT_RESULTS`: only who knows the core secret may deliver. */
  strict: boolean;
  logger: Logger;
  nowIso: () => string;
}

/**
 * `POST /api/v1/call-results` (R151, D-46, D-47). 200 is said only when the record is on
 * disk; results that come at the same time share a commit. Unsigned results are taken for a session that this plane
 * opened: its id is the capability. A stream id is none, so only who knows the core secret is matched by it.
 */
export function resultsRoute(parts: ReceiveResultsParts): AnyRoute {
  return route({
    method: 'POST',
    path: RESULTS_PATH,
    operationId: 'postCallResults',
    summary: 'Takes the results of a call',
    description:
      'Idempotent by `session_id`: the first results stay, a repeat answers `duplicate`. Signed results of an unknown session go to the open socket call with the same `stream_id`; what belongs to no call answers `orphan` and is kept for seven days.',
    tag: 'calls',
    auth: parts.strict ? { kind: 'core_secret' } : { kind: 'public' },
    rateLimit: false,
    body: { schema: CallResults, maxBytes: RESULTS_MAX_BYTES },
    responses: {
      200: {
        description: 'On disk',
        schema: Type.Object({
          status: Type.Union([Type.Literal('ok'), Type.Literal('duplicate'), Type.Literal('orphan')]),
        }),
        example: { status: 'ok' },
      },
    },
    handler: async ({ body: results, headers }) => {
      const signed = parts.strict || knowsSecret(parts.guard, headers);
      const botId = (await parts.calls.get(results.session_id))?.bot_id ?? results.bot_id;
      const rules = botId === undefined ? [] : await parts.dispositionRules(botId);
      const completion = await parts.calls.complete(results, parts.nowIso(), {
        matchStream: signed,
        autoDisposition: autoDisposition(rules, results),
      });
      // The recording of a call that was deleted meanwhile came in before these results. Unsigned ones may lie.
      if (signed && completion.outcome === 'duplicate' && completion.deleted) {
        await removeRecording(parts, results.session_id, results.recording_key);
      }
      // Said `ok` to only once it is kept: a delivery that is repeated after a crash in between keeps it then.
      const record = await recordOf(parts, results, completion);
      if (record) await parts.settleCallback(record);
      logCompletion(parts.logger, results, completion);
      return {
        status: 200,
        json: { status: completion.outcome === 'completed' ? 'ok' : completion.outcome },
      };
    },
  });
}

function knowsSecret(guard: CoreSecretGuard, headers: Readonly<Record<string, string>>): boolean {
  try {
    guard.check({ headers });
    return true;
  } catch {
    return false;
  }
}

/** The record that these results are the results of; null where they are not. */
async function recordOf(
  parts: ReceiveResultsParts,
  results: CallResults,
  completion: Completion,
): Promise<CallRecord | null> {
  if (completion.outcome === 'completed') return completion.record;
  const isRepeat = completion.outcome === 'duplicate' && completion.same && !completion.deleted;
  return isRepeat ? await parts.calls.get(results.session_id) : null;
}

function logCompletion(logger: Logger, results: CallResults, completion: Completion): void {
  const log = { session_id: results.session_id, disconnected_by: results.disconnected_by };
  if (completion.outcome === 'orphan') {
    logger.warn(log, 'results came for a session that was never opened here');
  } else if (completion.outcome === 'completed') {
    logger.info({ ...log, late: completion.record.late_result }, 'call results stored');
  } else if (completion.deleted) {
    logger.warn(log, 'results came for a call that was deleted; they were not kept');
  } else if (!completion.same) {
    logger.warn(log, 'different results came for a call that has its results; the first stay');
  } else {
    logger.info(log, 'call results repeated');
  }
}

type Outcome = Pick<
  CallResults,
  'disconnected_by' | 'call_duration_seconds' | 'was_transferred' | 'transcript' | 'events'
>;

/** The disposition of the first rule that fits how a call went; null where none does (D-26). */
export function autoDisposition(rules: readonly AutoDisposition[], outcome: Outcome): string | null {
  return rules.find(({ when }) => fits(when, outcome))?.disposition ?? null;
}

/** Every condition that is named must hold. */
function fits(when: AutoDisposition['when'], outcome: Outcome): boolean {
  const { call_duration_seconds: seconds } = outcome;
  if (when.disconnected_by && !when.disconnected_by.includes(outcome.disconnected_by)) return false;
  if (when.min_duration_seconds !== undefined && seconds < when.min_duration_seconds) return false;
  if (when.max_duration_seconds !== undefined && seconds > when.max_duration_seconds) return false;
  if (when.was_transferred !== undefined && outcome.was_transferred !== when.was_transferred) return false;
  if (when.event !== undefined && !outcome.events.some((entry) => entry.event === when.event)) return false;
  return when.customer_spoke === undefined || customerSpoke(outcome) === when.customer_spoke;
}

function customerSpoke(outcome: Outcome): boolean {
  return outcome.transcript.some((entry) => entry.speaker === 'customer' && entry.text.trim() !== '');
}
