import { Type } from 'typebox';
import { AppError } from '../../platform/app-error.ts';
import { causedBy } from '../audit/audit-entry.ts';
import { ADMIN } from '../http/authenticate.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { CRM, CrmParams, type CrmRouteParts, requireBot } from './crm-route-parts.ts';
import { MAX_SECRETS_PER_BOT } from './crm-secrets.ts';

const SecretName = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,63}$' });
const Named = Type.Object({ ...CrmParams.properties, name: SecretName });

/** Write-only values that the headers of a bot's CRM requests name as `{{secret.NAME}}`. */
export function crmSecretRoutes(parts: CrmRouteParts): AnyRoute[] {
  const { secrets, audit } = parts;
  return [
    route({
      method: 'GET',
      path: `${CRM}/secrets`,
      operationId: 'listCrmSecrets',
      summary: 'Names of the CRM secrets of a bot',
      description: 'The values are never shown again.',
      tag: 'CRM',
      auth: ADMIN,
      params: CrmParams,
      responses: {
        200: {
          description: `At most ${MAX_SECRETS_PER_BOT}`,
          schema: Type.Object({
            items: Type.Array(Type.Object({ name: Type.String(), updated_at: Type.String() })),
          }),
        },
      },
      async handler({ params }) {
        await requireBot(parts, params.bot_id);
        return { status: 200, json: { items: await secrets.list(params.bot_id) } };
      },
    }),
    route({
      method: 'PUT',
      path: `${CRM}/secrets/{name}`,
      operationId: 'setCrmSecret',
      summary: 'Set a CRM secret of a bot',
      description:
        'Header values of pre-fetch and push name it as `{{secret.NAME}}`. Encrypted where it lies.',
      tag: 'CRM',
      auth: ADMIN,
      params: Named,
      body: {
        schema: Type.Object(
          { value: Type.String({ minLength: 1, maxLength: 2_000, pattern: '^[\\x20-\\x7e]*$' }) },
          { additionalProperties: false },
        ),
        example: { value: 'token of the CRM' },
      },
      responses: {
        204: { description: 'It is set' },
        409: { description: `The bot has ${MAX_SECRETS_PER_BOT} secrets already` },
      },
      async handler(request) {
        const { bot_id, name } = request.params;
        await requireBot(parts, bot_id);
        await secrets.set(bot_id, name, request.body.value);
        await audit.record({
          ...causedBy(request, 'crm.set_secret'),
          target: `bot:${bot_id}`,
          after: { name },
        });
        return { status: 204 };
      },
    }),
    route({
      method: 'DELETE',
      path: `${CRM}/secrets/{name}`,
      operationId: 'removeCrmSecret',
      summary: 'Remove a CRM secret of a bot',
      tag: 'CRM',
      auth: ADMIN,
      params: Named,
      responses: { 204: { description: 'It is gone' } },
      async handler(request) {
        const { bot_id, name } = request.params;
        await requireBot(parts, bot_id);
        if (!(await secrets.remove(bot_id, name))) throw new AppError('not_found', 'there is no such secret');
        await audit.record({
          ...causedBy(request, 'crm.remove_secret'),
          target: `bot:${bot_id}`,
          before: { name },
        });
        return { status: 204 };
      },
    }),
  ];
}
