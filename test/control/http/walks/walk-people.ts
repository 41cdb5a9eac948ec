import { generateSync } from 'otplib';
import { emailOf, type PlaneUnderTest, passwordOf } from '../../../harness/plane-harness.ts';
import type { Step } from './walk.ts';

const STALE = { 'if-match': '"999999"' };

/** Everything an admin and a person do with accounts and keys, once with success and once with each refusal. */
export async function walkPeople(plane: PlaneUnderTest, step: Step): Promise<void> {
  const as = (name: string) => plane.credentials.get(name) ?? {};
  await step('listUsers', 200);
  const made = await step('createUser', 201, {
    json: { email: 'ravi@example.org', name: 'Ravi Iyer', role: 'agent' },
  });
  await step('createUser', 409, { json: { email: 'ravi@example.org', name: 'Ravi Iyer', role: 'agent' } });
  const params = { user_id: made.user.id as string };
  await step('getUser', 200, { params });
  await step('changeUser', 200, { params, json: { role: 'supervisor' } });
  await step('changeUser', 412, { params, json: { role: 'agent' }, headers: STALE });
  await step('changeUser', 409, { params, json: { email: emailOf('admin') } });
  const reset = await step('resetUser', 200, { params });
  const link = new URLSearchParams(new URL(reset.password_url as string).hash.slice(1)).get('token');
  await step('choosePassword', 200, { json: { token: link, password: 'a long sentence of Ravi' } });
  await step('choosePassword', 401, { json: { token: link, password: 'a long sentence of Ravi' } });
  await step('changeUser', 200, { params, json: { disabled: true } });
  await step('resetUser', 409, { params });
  await step('removeUser', 412, { params, headers: STALE });
  await step('removeUser', 204, { params });
  const lastAdmin = { user_id: plane.userIds.get('admin') ?? '' };
  await step('removeUser', 409, { params: lastAdmin });

  const login = { email: emailOf('analyst'), password: passwordOf('analyst') };
  const tokens = await step('logIn', 200, { json: { ...login, mode: 'token' } });
  const own = { authorization: `Bearer ${tokens.access_token}` };
  await step('whoAmI', 200, { headers: own });
  await step('refreshTokens', 200, { json: { refresh_token: tokens.refresh_token } });
  await step('refreshTokens', 401, { json: { refresh_token: tokens.refresh_token } });
  const analyst = as('bearer analyst');
  await step('confirmSecondFactor', 409, { json: { code: '123456' }, headers: analyst });
  await step('disableSecondFactor', 409, { json: { password: login.password }, headers: analyst });
  const enrolled = await step('enrolSecondFactor', 200, {
    json: { password: login.password },
    headers: analyst,
  });
  await step('confirmSecondFactor', 200, {
    json: { code: generateSync({ secret: enrolled.secret as string }) },
    headers: analyst,
  });
  await step('enrolSecondFactor', 409, { json: { password: login.password }, headers: analyst });
  await step('disableSecondFactor', 200, { json: { password: login.password }, headers: analyst });
  await step('changePassword', 200, {
    json: { current_password: login.password, new_password: 'quite another sentence' },
    headers: analyst,
  });

  await step('listApiKeys', 200);
  const key = await step('createApiKey', 201, { json: { name: 'dialler', scopes: ['calls:write'] } });
  await step('getApiKey', 200, { params: { key_id: key.id } });
  await step('archiveApiKey', 200, { params: { key_id: key.id } });
  await step('listAuditEntries', 200);
  await step('verifyAuditLog', 200);

  await step('getSettings', 200);
  await step('changeSettings', 200, {
    json: { values: { sip_outbound_trunk_id: 'trunk-1', sip_default_from: '+911140000000' } },
  });
  await step('changeSettings', 412, {
    json: { values: { sip_default_from: '+911140000001' } },
    headers: STALE,
  });
  await step('probeSetting', 200, { params: { what: 'storage' } });
  await step('rotateSealingKey', 200);
}
