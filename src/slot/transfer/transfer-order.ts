import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import { isRecord } from '../../platform/json-shapes.ts';
import { renderTemplate, type Variables } from '../../platform/render-template.ts';
import { renderHeaders } from '../../platform/render-values.ts';

/** Where a caller is to be passed on to, resolved and ready to be sent. */
export interface TransferOrder {
  destination: string;
  /** Configured name; null where a number stands alone. */
  target: string | null;
  reason: string;
  headers: Record<string, string>;
  /** What the caller hears before; null for nothing. */
  message: string | null;
}

export type TransferChoice =
  | { status: 'ok'; order: TransferOrder }
  | { status: 'no_number_configured' }
  /** The model named a target that the bot does not have, or none where there are several. */
  | { status: 'unknown_target'; known: string[] };

interface TransferTarget {
  name: string | null;
  destination: string;
  headers: Record<string, string>;
  message: string | null;
}

/** Of one transfer; more headers are left out. */
const MAX_HEADERS = 20;

/**
 * Finds the target of a transfer (R63). Only what the bot configures is ever called: a number that the model or the
 * caller names is none. Without a name the policy's escalation target counts, or the only one there is.
 */
export function chooseTransfer(
  config: Pick<
    RuntimeConfig,
    'transfer_targets' | 'transfer_numbers' | 'pre_transfer_message' | 'conversation_policy'
  >,
  variables: Variables,
  asked: { target: string; reason: string },
): TransferChoice {
  const targets = [...listedTargets(config.transfer_targets), ...targetsByName(config.transfer_numbers)];
  const usable = targets
    .map((target) => ({ ...target, destination: renderTemplate(target.destination, variables).trim() }))
    .filter(({ destination }) => isDestination(destination));
  const named = asked.target || escalationTarget(config.conversation_policy);
  const wanted = named.trim().toLowerCase();
  const matches = (target: TransferTarget) => target.name?.toLowerCase() === wanted;
  const target = wanted === '' && usable.length === 1 ? usable[0] : usable.find(matches);
  if (!target) {
    if (usable.length === 0 || targets.some(matches)) return { status: 'no_number_configured' };
    return { status: 'unknown_target', known: usable.flatMap(({ name }) => name ?? []) };
  }
  const message = target.message ?? textOf(config.pre_transfer_message);
  return {
    status: 'ok',
    order: {
      destination: target.destination,
      target: target.name,
      reason: asked.reason,
      headers: renderHeaders(target.headers, variables, { keepCase: true }),
      message: message === null ? null : renderTemplate(message, variables),
    },
  };
}

/** A number, a SIP or tel URI as contracts/bot/conversation.ts has it; a variable that stayed unfilled is none. */
function isDestination(text: string): boolean {
  return (
    text.length <= 200 &&
    /^(\+?[0-9*#]{2,32}|sips?:[^\s<>"{}]{3,190}|tel:\+?[0-9*#;=a-z-]{2,190})$/i.test(text)
  );
}

function listedTargets(value: unknown): TransferTarget[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap((target): TransferTarget[] => {
    // The interface leaves the inner shape open (D-26); a plane of another make may say `number`.
    const destination = textOf(target.destination) ?? textOf(target.number);
    if (destination === null) return [];
    return [
      {
        name: textOf(target.name),
        destination,
        headers: headerTemplates(target.headers),
        message: textOf(target.message),
      },
    ];
  });
}

/** Name to number; a foreign control plane may serve a plain list. */
function targetsByName(value: unknown): TransferTarget[] {
  const named = (name: string | null, destination: unknown): TransferTarget[] =>
    textOf(destination) === null
      ? []
      : [{ name, destination: String(destination), headers: {}, message: null }];
  if (Array.isArray(value)) return value.flatMap((number) => named(null, number));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, number]) => named(name, number));
}

function headerTemplates(value: unknown): Record<string, string> {
  if (!isRecord(value)) return {};
  const texts = Object.entries(value).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' && /^X-[A-Za-z0-9-]{1,60}$/i.test(entry[0]),
  );
  return Object.fromEntries(texts.slice(0, MAX_HEADERS));
}

function escalationTarget(policy: unknown): string {
  const escalation = isRecord(policy) ? policy.escalation : null;
  return isRecord(escalation) ? (textOf(escalation.target) ?? '') : '';
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
