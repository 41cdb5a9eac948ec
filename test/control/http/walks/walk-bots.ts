import type { Step } from './walk.ts';

const STALE = { 'if-match': '"999999"' };

/** A bot from its making to its end, with its copies and versions on the way. */
export async function walkBots(step: Step): Promise<void> {
  const { draft: demo } = await step('getBot', 200, { params: { bot_id: 'demo' } });
  const file = await step('exportBot', 200, { params: { bot_id: 'demo' } });
  const content = file.bot ?? demo;
  await step('createBot', 201, { json: { ...content, bot_id: 'walk', publish: true } });
  await step('createBot', 409, { json: { ...content, bot_id: 'walk' } });
  const params = { bot_id: 'walk' };
  await step('listBots', 200);
  await step('replaceBot', 200, { params, json: content });
  await step('replaceBot', 412, { params, json: content, headers: STALE });
  await step('patchBot', 200, { params, json: { name: 'Walk' } });
  await step('patchBot', 412, { params, json: { name: 'Run' }, headers: STALE });
  await step('listBotVersions', 200, { params });
  await step('getBotVersion', 200, { params: { ...params, version: '1' } });
  await step('validateBot', 200, { params });
  await step('publishBot', 200, { params, json: {} });
  await step('publishBot', 412, { params, json: {}, headers: STALE });
  await step('rollbackBot', 200, { params, json: { version: 1 } });
  await step('rollbackBot', 412, { params, json: { version: 1 }, headers: STALE });
  await step('duplicateBot', 201, { params, json: { bot_id: 'walk-2' } });
  await step('duplicateBot', 409, { params, json: { bot_id: 'walk-2' } });
  const { exported_at: _, ...imported } = file;
  await step('importBot', 201, { query: 'bot_id=walk-3', json: imported });
  await step('importBot', 409, { query: 'bot_id=walk-3', json: imported });
  await step('importBot', 200, { query: 'bot_id=walk-3&replace=true', json: imported });
  await step('importBot', 412, { query: 'bot_id=walk-3&replace=true', json: imported, headers: STALE });
  await step('importBot', 404, { query: 'bot_id=nosuch&replace=true', json: imported });
  await step('rotateWidgetKey', 200, { params });
  await step('rotateWidgetKey', 412, { params, headers: STALE });
  await step('setLivePromptCache', 204, { params, json: { static_version: 'v1', cache_name: null } });
  await step('createCallTicket', 201, { params });
  await step('deleteBot', 412, { params, headers: STALE });
  await step('deleteBot', 204, { params });
  await step('clearCache', 200, { params: { key: 'bot:demo' } });
}
