import type { PostCallPush } from '../../contracts/crm.ts';
import { renderHeaders } from '../../platform/render-values.ts';
import {
  afterCallVariables,
  type RecordFacts,
  renderPush,
  type SystemVariables,
} from '../calls/after-call.ts';
import type { SecretBox } from '../settings/secret-box.ts';
import type { Delivery } from './delivery.ts';
import {
  activeSecrets,
  BOT_PUSH_PREFIX,
  type Endpoint,
  type EndpointStore,
  newEndpoint,
} from './endpoint-store.ts';
import type { Target } from './send-delivery.ts';
import { newWebhookSecret } from './sign-webhook.ts';

export interface TargetParts {
  endpoints: EndpointStore;
  box: SecretBox;
  /** The push of the bot as calls get it now; null where the bot has none or is gone. */
  pushOf: (botId: string) => Promise<PostCallPush | null>;
  secretsOf: (botId: string) => Promise<Readonly<Record<string, string>>>;
  call: (sessionId: string) => Promise<RecordFacts | null>;
  system: SystemVariables;
}

/** Where the message goes, or one sentence that says why nowhere: such a message is a dead letter. */
export async function targetOf(
  parts: TargetParts,
  delivery: Pick<Delivery, 'endpoint_id' | 'session_id'>,
  nowMs: number,
): Promise<Target | string> {
  const nowIso = new Date(nowMs).toISOString();
  if (!delivery.endpoint_id.startsWith(BOT_PUSH_PREFIX)) {
    const endpoint = parts.endpoints.get(delivery.endpoint_id);
    if (!endpoint || endpoint.url === null) return 'the webhook has been removed';
    if (!endpoint.enabled) return 'the webhook is disabled';
    return {
      url: endpoint.url,
      headers: openHeaders(endpoint, parts.box),
      signingSecrets: activeSecrets(endpoint, parts.box, nowIso),
    };
  }
  const botId = delivery.endpoint_id.slice(BOT_PUSH_PREFIX.length);
  const push = await parts.pushOf(botId);
  if (!push?.enabled) return 'the bot has no post-call push any more';
  const call = delivery.session_id === null ? null : await parts.call(delivery.session_id);
  if (!call) return 'the call record is gone';
  return await pushTarget(parts, botId, push, call, nowMs);
}

/** The target of a bot's push for one call. */
export async function pushTarget(
  parts: TargetParts,
  botId: string,
  push: PostCallPush,
  call: RecordFacts,
  nowMs: number,
): Promise<Target | string> {
  const nowIso = new Date(nowMs).toISOString();
  const endpoint = await pushEndpoint(parts, botId, nowMs);
  if (!endpoint.enabled && endpoint.disabled?.url === push.push_url) return endpoint.disabled.reason;
  const variables = afterCallVariables(call, parts.system, nowIso);
  const secret = await parts.secretsOf(botId);
  return {
    url: renderPush(push, call, variables).url,
    headers: renderHeaders(push.headers ?? {}, { ...variables, secret }),
    signingSecrets: activeSecrets(endpoint, parts.box, nowIso),
  };
}

/** What is kept beside the push of a bot; it begins with a signing secret that an admin may rotate to see one. */
export async function pushEndpoint(
  parts: Pick<TargetParts, 'endpoints' | 'box'>,
  botId: string,
  nowMs: number,
): Promise<Endpoint> {
  const id = `${BOT_PUSH_PREFIX}${botId}`;
  const standing = parts.endpoints.get(id);
  if (standing) return standing;
  const fresh = newEndpoint({ id }, parts.box.seal(newWebhookSecret()), nowMs);
  await parts.endpoints.put(fresh, 0);
  return parts.endpoints.get(id) ?? fresh;
}

export function openHeaders(endpoint: Endpoint, box: SecretBox): Record<string, string> {
  if (endpoint.headers_sealed === null) return {};
  return JSON.parse(box.open(endpoint.headers_sealed)) as Record<string, string>;
}
