import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DISPATCH_PATH } from '../../src/contracts/room-requests.ts';
import { Appliance } from '../harness/appliance.ts';
import { mediaServer } from '../harness/room-guest.ts';
import { until } from '../harness/wait.ts';
import { openRtpEndpoint } from '../stack/rtp-endpoint.ts';
import { startSipp } from '../stack/sipp-peer.ts';
import { ownStack, uniqueNumber } from '../stack/use-stack.ts';

t.setTimeout(280_000);

const FROM = '+15550007777';
// Its own, since every harness on a media server hears of every caller there and sends away those it does not know.
const stack = await ownStack(t);
const appliance = await Appliance.start({
  SLOTS: '2',
  LIVEKIT_URL: stack.wsUrl,
  LIVEKIT_API_KEY: stack.apiKey,
  LIVEKIT_API_SECRET: stack.apiSecret,
});
t.teardown(() => appliance.destroy());
t.teardown(await stack.sendWebhooksTo(`http://127.0.0.1:${appliance.fleetPort}${DISPATCH_PATH}`));

const { token: operator } = JSON.parse(readFileSync(join(appliance.dataDir, 'operator.json'), 'utf8')) as {
  token: string;
};
const ADMIN = { authorization: `Bearer ${operator}` };

// biome-ignore lint/suspicious/noExplicitAny: answers are read as an outsider reads them, field by field.
async function ask(method: string, path: string, body?: unknown, headers: object = ADMIN): Promise<any> {
  const answer = await fetch(`http://127.0.0.1:${appliance.controlPort}/api/v1${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === '' ? null : JSON.parse(text);
}

for (const id of ['sales', 'support']) {
  await ask('POST', '/bots', {
    bot_id: id,
    name: id,
    timezone: 'UTC',
    system_prompt: 'Be brief.',
    opening_message: `Good morning, this is ${id}. How can I help you?`,
    stt: { provider: 'scripted' },
    llm: { provider: 'scripted', fallback: { reply: 'I see.' } },
    tts: { provider: 'espeak', language: 'en', voice: 'en-gb' },
    publish: true,
  });
}
const dialler = await ask('POST', '/api-keys', { name: 'crm', scopes: ['calls:write'] });
const KEY = { 'x-api-key': dialler.key as string };
const trunk = await ask('POST', '/trunks', {
  name: 'Carrier',
  direction: 'both',
  address: '127.0.0.1:9',
  transport: 'udp',
  allowed_addresses: ['127.0.0.1/32'],
  numbers: [FROM],
  default_outbound: true,
});
/** Changes something and waits until the media server has it. */
async function synced(method: string, path: string, body: unknown): Promise<void> {
  await ask(method, path, body);
  const { checks } = await ask('POST', '/media-server/check');
  const state = checks.find(({ name }: { name: string }) => name === 'trunk Carrier');
  if (state?.status !== 'ok') throw new Error(JSON.stringify(checks));
}

t.test(
  'R23 R156 R157 R161 a call by the API rings a telephone from the number of the default trunk',
  async (t) => {
    const media = await openRtpEndpoint(t);
    const peer = await startSipp(t, 'uas-answer', { media, ringMs: 1_000 });
    await synced('PATCH', `/trunks/${trunk.id}`, { address: peer.address });
    const to = uniqueNumber();
    const body = { bot_id: 'sales', to_number: to, variables: { customer_name: 'Asha' } };
    const placed = await ask('POST', '/calls/outbound', body, KEY);
    t.match(placed, { status: 'accepted', to_number: to, from_number: FROM, room_name: /^call-/ });
    const invite = await peer.until(({ method }) => method === 'INVITE');
    t.match(invite.startLine, to.slice(1));
    t.match(invite.headers.from?.[0], FROM);
    await media.until(({ counts }) => counts().received > 100, 60_000);
    t.match(await ask('GET', `/calls/${placed.call_id}`, undefined, KEY), { status: 'active' });

    const cancelled = await ask('POST', `/calls/${placed.call_id}/cancel`, undefined, KEY);
    t.equal(cancelled.call_id, placed.call_id);
    await peer.until(({ method, direction }) => method === 'BYE' && direction === 'received', 60_000);
    const record = await untilEnded(placed.session_id);
    t.match(record, {
      transport: 'rtc_sip',
      call_direction: 'outbound',
      call_id: placed.call_id,
      room_name: placed.room_name,
      to_number: to,
      from_number: FROM,
      trunk_id: /^ST_/,
      answered_at: /Z$/,
      crm_data: { customer_name: 'Asha' },
    });
    await untilGone(placed.room_name);
  },
);

t.test('a call that rings is let go by the same route, and the telephone falls silent', async (t) => {
  const peer = await startSipp(t, 'uas-ring-forever');
  await synced('PATCH', `/trunks/${trunk.id}`, { address: peer.address });
  const placed = await ask('POST', '/calls', { bot_id: 'sales', to_number: uniqueNumber() }, KEY);
  await peer.until(({ status }) => status === 180);
  await ask('POST', `/calls/${placed.call_id}/cancel`, undefined, KEY);
  await peer.until(({ method }) => method === 'CANCEL', 60_000);
  const record = await untilEnded(placed.session_id);
  t.equal(record.call_duration_seconds, 0, 'nobody has talked');
  t.equal(record.answered_at, null);
  await untilGone(placed.room_name);
});

t.test('R101 R102 what the telephone network says is in the record', async (t) => {
  for (const [scenario, sipCode, by] of [
    ['uas-486', 486, 'rejected'],
    ['uas-480', 480, 'no_answer'],
  ] as const) {
    const peer = await startSipp(t, scenario);
    await synced('PATCH', `/trunks/${trunk.id}`, { address: peer.address });
    const placed = await ask('POST', '/calls', { bot_id: 'sales', to_number: uniqueNumber() }, KEY);
    const record = await untilEnded(placed.session_id);
    t.match(record, { status: 'not_connected', disconnected_by: by, end_detail: { sip_code: sipCode } });
    const state = await ask('GET', `/calls/${placed.call_id}`, undefined, KEY);
    t.match(state, { status: 'not_connected', disconnected_by: by });
  }
});

t.test('R1 R19 each number is answered by its own bot, whose record tells who called whom', async (t) => {
  for (const bot of ['sales', 'support']) {
    const number = uniqueNumber();
    const caller = uniqueNumber();
    await synced('POST', '/numbers', { number, bot_id: bot, trunk_id: trunk.id });
    const media = await openRtpEndpoint(t);
    const peer = await startSipp(t, 'uac-call', {
      to: stack.sipAddress,
      fromUser: caller,
      toUser: number,
      media,
      hangUpAfterMs: 4_000,
    });
    await peer.until(({ status, cseqMethod }) => status === 200 && cseqMethod === 'INVITE', 60_000);
    await media.until(({ counts }) => counts().received > 50, 60_000);
    const { exitCode } = await peer.finished;
    t.equal(exitCode, 0);
    const record = await until(async () => {
      const { items } = await ask('GET', `/call-records?bot_id=${bot}`);
      const row = items.find(
        ({ to_number, status }: Record<string, string>) => to_number === number && status !== 'active',
      );
      return row && ask('GET', `/call-records/${row.session_id}`);
    });
    t.match(record, {
      bot_id: bot,
      transport: 'rtc_sip',
      call_direction: 'inbound',
      caller_id: caller,
      to_number: number,
      status: 'completed',
      disconnected_by: 'customer',
    });
    await untilGone(record.room_name);
  }
});

// biome-ignore lint/suspicious/noExplicitAny: the record as an outsider reads it.
function untilEnded(sessionId: string): Promise<any> {
  return until(async () => {
    const answer = await ask('GET', `/call-records/${sessionId}`).catch(() => null);
    return answer !== null && answer.status !== 'active' && answer;
  });
}

async function untilGone(room: string): Promise<void> {
  await until(async () => (await mediaServer(stack).listRooms([room])).length === 0);
}
