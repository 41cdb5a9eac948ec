import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testResults } from '../../../harness/control.ts';
import type { PlaneUnderTest } from '../../../harness/plane-harness.ts';
import type { Receiver } from '../../../harness/receiver.ts';
import type { Step } from './walk.ts';

const STALE = { 'if-match': '"999999"' };

/** A call from its config to its deletion, its exports, and what is told about it to others. */
export async function walkCalls(plane: PlaneUnderTest, step: Step, receiver: Receiver): Promise<void> {
  const bot = { bot_id: 'demo' };
  const call = async (recording: string | null) => {
    const { session_id: sessionId } = await step('getRuntimeConfig', 200, { params: bot });
    const results = testResults(sessionId, { recording_key: recording });
    await step('postCallResults', 200, { json: results });
    return sessionId as string;
  };
  writeFileSync(join(plane.recordingsFolder, 'walk.wav'), Buffer.alloc(10_000));
  const session_id = await call('walk.wav');
  const params = { session_id };
  await step('listCallRecords', 200, { query: 'limit=1&include_total=true' });
  await step('getCallRecord', 200, { params });
  for (const form of ['Txt', 'Vtt', 'Json']) await step(`getTranscript${form}`, 200, { params });
  await step('getRecording', 200, { params });
  await step('getRecording', 206, { params, headers: { range: 'bytes=0-9' } });
  await step('getRecording', 416, { params, headers: { range: 'bytes=99999999-' } });
  await step('editCallRecord', 200, { params, json: { tags: ['refund'], disposition: 'Resolved' } });
  await step('editCallRecord', 412, { params, json: { tags: [] }, headers: STALE });

  const job = await step('exportCallRecords', 202, { json: { format: 'jsonl' } });
  const exported = { export_id: job.export_id as string };
  let state = '';
  for (let i = 0; i < 200 && state !== 'ready' && state !== 'done'; i++) {
    state = (await step('getExport', 200, { params: exported })).state as string;
    if (state === 'failed') throw new Error('the export failed');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await step('downloadExport', 200, { params: exported });
  await step('downloadExport', 206, { params: exported, headers: { range: 'bytes=0-9' } });
  await step('downloadExport', 416, { params: exported, headers: { range: 'bytes=99999999-' } });

  await webhooks(step, receiver);
  await crm(step, receiver, session_id);

  const named = `connected_event=${encodeURIComponent('{"_campaign_session_id":"walk-1"}')}`;
  const { session_id: active } = await step('getRuntimeConfig', 200, { params: bot, query: named });
  await step('getRuntimeConfig', 409, { params: bot, query: named });
  await step('deleteCallRecord', 409, { params: { session_id: active as string } });
  await step('deleteCallRecord', 200, { params });
  await step('getCallDeletionReceipt', 200, { params });
  await step('editCallRecord', 409, { params, json: { tags: [] } });
}

async function webhooks(step: Step, receiver: Receiver): Promise<void> {
  const url = `http://hooks.example.test:${receiver.port}/hook`;
  const made = await step('createWebhook', 201, { json: { url, types: ['call.ended'] } });
  const params = { webhook_id: made.webhook.id as string };
  await step('listWebhooks', 200);
  await step('getWebhook', 200, { params });
  await step('updateWebhook', 200, { params, json: { description: 'of the walk' } });
  await step('updateWebhook', 412, { params, json: { enabled: true }, headers: STALE });
  await step('rotateWebhookSecret', 200, { params, json: { overlap_hours: 1 } });
  await step('testWebhook', 200, { params });
  await step('listWebhookDeliveries', 200, { params });
  await step('replayWebhook', 200, {
    params,
    json: { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' },
  });
  await step('updateWebhook', 200, { params, json: { enabled: false } });
  await step('testWebhook', 409, { params });
  await step('deleteWebhook', 412, { params, headers: STALE });
  await step('deleteWebhook', 204, { params });
}

async function crm(step: Step, receiver: Receiver, sessionId: string): Promise<void> {
  const bot = { bot_id: 'demo' };
  const origin = `http://crm.example.test:${receiver.port}`;
  await step('previewPush', 409, { params: bot, json: { session_id: sessionId } });
  await step('testPush', 409, { params: bot, json: { session_id: sessionId } });
  await step('setCrmSecret', 204, {
    params: { ...bot, name: 'crm_token' },
    json: { value: 'token of the CRM' },
  });
  await step('listCrmSecrets', 200, { params: bot });
  for (let i = 1; i < 20; i++) {
    await step('setCrmSecret', 204, { params: { ...bot, name: `crm_${i}` }, json: { value: 'x' } });
  }
  await step('setCrmSecret', 409, { params: { ...bot, name: 'one_more' }, json: { value: 'x' } });
  await step('removeCrmSecret', 204, { params: { ...bot, name: 'crm_token' } });
  const push = { enabled: true, push_url: `${origin}/calls` };
  await step('patchBot', 200, { params: bot, json: { post_call_push: push } });
  await step('publishBot', 200, { params: bot });
  await step('previewPush', 200, { params: bot, json: { session_id: sessionId, push } });
  await step('testPush', 200, { params: bot, json: { session_id: sessionId } });
  await step('listPushDeliveries', 200, { params: bot });
  await step('replayPush', 200, {
    params: bot,
    json: { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' },
  });
  await step('rotatePushSecret', 200, { params: bot, json: {} });
  await step('enablePush', 200, { params: bot });
  await step('testPrefetch', 200, {
    params: bot,
    json: {
      variables: {},
      prefetch: { enabled: true, url: `${origin}/customers`, method: 'GET', mapping: {} },
    },
  });
}
