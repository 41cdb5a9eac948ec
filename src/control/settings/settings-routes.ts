import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { SettingsChange, SettingsView } from '../../contracts/system-settings.ts';
import type { GuardedHttp } from '../../platform/guarded-http.ts';
import type { HttpReply } from '../../platform/http-server.ts';
import type { KeyValueStore } from '../../platform/key-value-store.ts';
import { causedBy } from '../audit/audit-entry.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { ADMIN } from '../http/authenticate.ts';
import { etagOf, requireMatch } from '../http/etag.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { PROBE_NAMES, probe } from './probes.ts';
import { rotateKey } from './rotate-key.ts';
import type { KeyedSecretBox } from './secret-box.ts';
import type { SettingsService } from './settings-service.ts';

export interface SettingsRouteParts {
  settings: SettingsService;
  box: KeyedSecretBox;
  store: KeyValueStore;
  audit: Pick<AuditLog, 'record'>;
  /** Guarded by the networks of the settings themselves. */
  http: GuardedHttp;
}

const PATH = `${API_PREFIX}/settings`;
const TAG = 'Settings';
/** A probe is a request to somebody else. */
const PROBES_PER_MINUTE = 30;
const ROTATIONS_PER_MINUTE = 6;

const ProbeView = Type.Object(
  {
    what: Type.Union(PROBE_NAMES.map((name) => Type.Literal(name))),
    outcome: Type.Union(
      (['ok', 'not_configured', 'refused', 'not_found', 'unreachable', 'unexpected'] as const).map((name) =>
        Type.Literal(name),
      ),
    ),
    detail: Type.String(),
    http_status: Type.Union([Type.Integer(), Type.Null()]),
    ms: Type.Union([Type.Number(), Type.Null()]),
  },
  { title: 'ProbeResult' },
);

/** `/api/v1/settings`: reading and changing the system settings, live probes, a new sealing key. */
export function settingsRoutes(parts: SettingsRouteParts): AnyRoute[] {
  const { settings } = parts;
  return [
    route({
      method: 'GET',
      path: PATH,
      operationId: 'getSettings',
      summary: 'Read the system settings',
      description: 'Secrets are write-only: each shows whether it is set and its last characters.',
      tag: TAG,
      auth: ADMIN,
      responses: {
        200: {
          description: 'The settings as they stand in the store',
          schema: SettingsView,
          headers: { etag: 'Version of the settings, for `If-Match`' },
        },
      },
      handler: async () => viewReply(await settings.view()),
    }),
    route({
      method: 'PATCH',
      path: PATH,
      operationId: 'changeSettings',
      summary: 'Change system settings',
      description:
        'Fields that are not named stay. A new value holds for the next call. `null` takes a secret away.',
      tag: TAG,
      auth: ADMIN,
      body: {
        schema: SettingsChange,
        maxBytes: 131_072,
        example: {
          values: { display_timezone: 'Asia/Kolkata', sip_default_from: '+911140000000' },
          secrets: { deepgram_api_key: 'the-key-as-the-provider-shows-it' },
        },
      },
      responses: {
        200: {
          description: 'The settings after the change',
          schema: SettingsView,
          headers: { etag: 'Version of the settings, for `If-Match`' },
        },
        409: { description: 'Others keep changing the settings at this moment' },
        412: { description: 'The settings are not at the version of `If-Match`' },
      },
      handler: async (request) => {
        const { body, headers } = request;
        const changed = await settings.change(body, causedBy(request, 'settings.update'), (version) =>
          requireMatch(headers, version),
        );
        return viewReply(changed);
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/probe/{what}`,
      operationId: 'probeSetting',
      summary: 'Try a setting against the other end',
      description:
        'Asks the provider, storage or media server once, with what is stored. Whatever it finds is a 200; `outcome` says what.',
      tag: TAG,
      auth: ADMIN,
      rateLimit: PROBES_PER_MINUTE,
      params: Type.Object({ what: Type.Union(PROBE_NAMES.map((name) => Type.Literal(name))) }),
      responses: { 200: { description: 'What the probe has found', schema: ProbeView } },
      handler: async ({ params, signal }) => {
        const result = await probe(params.what, await settings.current(), parts.http, signal);
        return { status: 200, json: result };
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/rotate-key`,
      operationId: 'rotateSealingKey',
      summary: 'Seal all secrets with a new key',
      description:
        'Writes a new key into the key file of DATA_DIR and seals every secret anew. The old key leaves the file at the next start.',
      tag: TAG,
      auth: ADMIN,
      rateLimit: ROTATIONS_PER_MINUTE,
      responses: {
        200: {
          description: 'Every secret is sealed with the new key',
          schema: Type.Object({ key_id: Type.String(), resealed: Type.Integer() }),
        },
        409: { description: 'Keys of earlier rotations still wait for a start' },
      },
      handler: async (request) => {
        const result = await rotateKey(parts.box, parts.store);
        settings.invalidate();
        await parts.audit.record({
          ...causedBy(request, 'settings.rotate_key'),
          target: 'settings:system',
          before: null,
          after: { sealing_id: result.key_id, resealed: result.resealed },
        });
        return { status: 200, json: result };
      },
    }),
  ];
}

function viewReply(view: SettingsView): HttpReply {
  return { status: 200, headers: { etag: etagOf(view.version) }, json: view };
}
