import { accepted, type ScriptedHost } from '../../../harness/fleet-port.ts';
import type { Step } from './walk.ts';

const STALE = { 'if-match': '"999999"' };

/** A trunk with a number from their making to their end; no media server is there to bring them to. */
export async function walkTrunks(step: Step): Promise<void> {
  const trunk = await step('createTrunk', 201, {
    json: { name: 'Walk', direction: 'both', address: '127.0.0.1:9', numbers: ['+911140000000'] },
  });
  const params = { trunk_id: trunk.id as string };
  await step('listTrunks', 200);
  await step('getTrunk', 200, { params });
  await step('updateTrunk', 200, { params, json: { enabled: false } });
  await step('updateTrunk', 412, { params, json: { enabled: true }, headers: STALE });
  await step('testTrunk', 200, { params, json: {} });
  await step('testTrunk', 404, { params: { trunk_id: `trk_${'0'.repeat(24)}` }, json: {} });
  const json = { number: '+911140001234', bot_id: 'demo', trunk_id: trunk.id as string };
  const number = await step('createNumber', 201, { json });
  await step('createNumber', 409, { json });
  const numberParams = { number_id: number.id as string };
  await step('listNumbers', 200);
  await step('getNumber', 200, { params: numberParams });
  await step('updateNumber', 200, { params: numberParams, json: { label: 'Desk' } });
  await step('updateNumber', 412, { params: numberParams, json: { label: 'Desk' }, headers: STALE });
  await step('deleteTrunk', 409, { params });
  await step('deleteNumber', 412, { params: numberParams, headers: STALE });
  await step('deleteNumber', 204, { params: numberParams });
  await step('deleteTrunk', 412, { params, headers: STALE });
  await step('deleteTrunk', 204, { params });
  await step('checkMediaServer', 200);
}

/** A page that may call the bot, one that may not, and every way in which no bot comes. */
export async function walkWidget(step: Step, host: ScriptedHost): Promise<void> {
  await step('changeSettings', 200, {
    json: {
      values: { livekit_url: 'wss://media.example.org' },
      secrets: { livekit_api_key: 'key-of-the-walk', livekit_api_secret: 'secret-of-the-walk-of-32-letters' },
    },
  });
  const params = { bot_id: 'demo' };
  const { widget_api_key: key } = await step('rotateWidgetKey', 200, { params });
  const json = { bot_id: 'demo', api_key: key as string };
  await step('createWidgetToken', 201, { json });
  await step('createWidgetToken', 401, { json: { ...json, api_key: 'wk_another' } });
  await step('createWidgetToken', 404, { json: { ...json, bot_id: 'nosuch' } });
  host.answer = { status: 429, json: { error: 'At capacity', code: 'at_capacity' } };
  await step('createWidgetToken', 503, { json });
  host.answer = accepted();
  await step('patchBot', 200, { params, json: { widget: { allowed_origins: ['https://www.example.com'] } } });
  await step('publishBot', 200, { params, json: {} });
  await step('createWidgetToken', 403, { json, headers: { origin: 'https://evil.example' } });
  await step('createWidgetToken', 201, { json, headers: { origin: 'https://www.example.com' } });
}
