import t from 'tap';
import { postResults, testResults } from '../../harness/control.ts';
import { openFleetPort } from '../../harness/fleet-port.ts';
import { planeUnderTest } from '../../harness/plane-harness.ts';
import { CORE_SECRET } from '../../harness/served-api.ts';

// A whole control plane on a machine that may be busy with other things.
t.setTimeout(280_000);

t.test(
  'R158 an outbound call from the API key to the record: the bot says the variables, the caller finds the result',
  async (t) => {
    const ingress = await openFleetPort(CORE_SECRET, 2);
    const plane = await planeUnderTest({
      env: { FLEET_URLS: ingress.url, SIP_OUTBOUND_TRUNK_ID: 'ST_trunk', SIP_DEFAULT_FROM: '+911140000000' },
    });
    t.teardown(async () => {
      await plane.stop();
      await ingress.close();
    });
    const send = async (method: string, path: string, credential: string, body?: unknown) => {
      const answer = await fetch(plane.url(path), {
        method,
        headers: {
          ...plane.credentials.get(credential),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: the test looks at whatever came back.
      return { status: answer.status, json: (await answer.json()) as any };
    };
    const bot = {
      bot_id: 'dues',
      name: 'Dues',
      system_prompt: 'You speak with {{crm.customer_name}}.',
      opening_message: 'Namaste {{crm.customer_name}}, {{crm.due}} rupees are due.',
      stt: { provider: 'scripted' },
      llm: { provider: 'scripted' },
      tts: { provider: 'scripted' },
    };
    t.equal((await send('POST', '/api/v1/bots', 'bearer admin', bot)).status, 201);
    await send('POST', '/api/v1/bots/dues/publish', 'bearer admin', {});

    const placed = await send('POST', '/api/v1/calls/outbound', 'key calls:write', {
      bot_id: 'dues',
      to_number: '+911140001234',
      variables: { customer_name: 'Asha', due: 1200 },
    });
    t.equal(placed.status, 200, JSON.stringify(placed.json));
    const { call_id: callId, session_id: sessionId } = placed.json;
    const [dialled] = ingress.dialled;

    // The worker's part: it asks for the config with what the ingress was given, and reports the end.
    const query = new URLSearchParams({
      caller_id: dialled?.to_number ?? '',
      connected_event: JSON.stringify(dialled?.connected_event),
    });
    const config = await send('GET', `/api/v1/config/${dialled?.bot_id}?${query}`, 'core');
    t.match(config.json, {
      session_id: sessionId,
      opening_message: 'Namaste Asha, 1200 rupees are due.',
      system_prompt: /You speak with Asha\./,
    });
    const state = () => send('GET', `/api/v1/calls/${callId}`, 'key calls:write');
    t.match((await state()).json, { status: 'active', session_id: sessionId });
    t.equal((await postResults(plane, testResults(sessionId))).status, 200);
    t.match((await state()).json, { status: 'completed', disconnected_by: 'customer' });
    const record = await send('GET', placed.json.links.record, 'key records:read');
    t.match(record.json, { session_id: sessionId, status: 'completed', caller_id: '+911234567890' });
    t.notOk('_campaign_session_id' in record.json.connected_event, 'the flag is no variable of the bot');
    t.same(plane.mismatches, [], 'every answer was as it is declared');
  },
);
