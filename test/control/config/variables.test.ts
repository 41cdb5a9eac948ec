import fc from 'fast-check';
import t from 'tap';
import type { SipHeaderConfig } from '../../../src/contracts/bot/operation.ts';
import { filterSipHeaders } from '../../../src/control/runtime-config/sip-context.ts';
import { effectiveCrm } from '../../../src/control/runtime-config/variables.ts';
import { configHarness } from '../../harness/config-harness.ts';

const entry = {
  kind: 'prefetch' as const,
  at: '2026-03-02T06:30:00.000Z',
  url_host: 'crm.example.com',
  status: 200,
  ms: 1,
  attempt: 1,
  error: null,
};
const PREFETCH = { enabled: true, url: 'https://crm.example.com/' };

t.test('R77 the system variables show the clock of the bot', async (t) => {
  const served = await configHarness(t).call({
    timezone: 'Asia/Kolkata',
    system_prompt:
      '{{system.current_date}}|{{system.current_time}}|{{system.current_datetime}}|{{system.timezone}}',
  });
  t.equal(served.system_prompt, '2026-03-02|12:00|2026-03-02 12:00|Asia/Kolkata');
});

t.test('R78 R90 every field of the handshake and the filtered headers are call variables', async (t) => {
  const harness = configHarness(t);
  const served = await harness.call(
    {
      system_prompt: '{{call.city}} {{call.visits}} {{call.branch}}',
      sip_header_config: { headers: [{ header: 'X-Branch' }] },
    },
    { city: 'Pune', visits: 3, sip_candidate_headers: { 'X-Branch': 'west', 'X-Other': 'hidden' } },
  );
  t.equal(served.system_prompt, 'Pune 3 west');
  t.strictSame(served.call_context, { branch: 'west', city: 'Pune', visits: 3 });
  t.strictSame((await harness.calls.get(served.session_id))?.connected_event, { city: 'Pune', visits: 3 });
});

t.test('R79 R88 an attempt that calls back knows why, and the campaign is on the record', async (t) => {
  const harness = configHarness(t);
  const callback = {
    requested_at: '2026-03-01T10:00:00.000Z',
    at: '2026-03-02T06:30:00.000Z',
    timezone: 'Asia/Kolkata',
    note: 'after lunch',
    previous_session_id: 'run-0',
    previous_summary: null,
  };
  await harness.campaigns.setCallback('cmp_1', 'ctc_1', callback);
  const bot = { system_prompt: 'They asked for {{call.callback_note}}. {{call.callback_previous_summary}}' };
  const flags = { _campaign_id: 'cmp_1', _campaign_call_id: 'ctc_1', _campaign_attempt: '2' };
  const served = await harness.call(bot, flags);
  t.equal(served.system_prompt, 'They asked for after lunch. {{call.callback_previous_summary}}');
  t.match(served.call_context, { callback_at: callback.at, callback_previous_session_id: 'run-0' });
  t.match(await harness.calls.get(served.session_id), {
    campaign_id: 'cmp_1',
    campaign_call_id: 'ctc_1',
    attempt: 2,
  });
  t.strictSame((await harness.open('clinic', { ...flags, _campaign_call_id: 'ctc_2' })).call_context, {});
  await harness.campaigns.setCallback('cmp_1', 'ctc_1', null);
  t.strictSame((await harness.open('clinic', flags)).call_context, {});
});

t.test('R80 R87 the handshake gives way to the mock, and the mock to the CRM itself', async (t) => {
  const harness = configHarness(t, { prefetch: async () => ({ data: { c: 'crm' }, entry }) });
  const served = await harness.call(
    { crm_prefetch: PREFETCH, system_prompt: '{{crm.a}} {{crm.b}} {{crm.c}}' },
    { a: 'event', b: 'event', c: 'event', _mock_crm: { b: 'mock', c: 'mock' } },
  );
  t.equal(served.system_prompt, 'event mock crm');
  const source = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer());
  fc.assert(
    fc.property(source, source, source, (fields, mockCrm, prefetched) => {
      const crm = effectiveCrm({ fields, mockCrm, prefetched });
      for (const key of ['a', 'b', 'c', 'd']) {
        const last = [prefetched, mockCrm, fields].find((values) => Object.hasOwn(values, key));
        if (crm[key] !== last?.[key]) throw new Error(key);
      }
    }),
    { seed: 31 },
  );
});

t.test('R81 R82 what is in no namespace stays as it is written, in every text', async (t) => {
  const open = 'x {{crm.nothing}} {{other.a}} y';
  const served = await configHarness(t).call({
    system_prompt: open,
    opening_message: open,
    post_call_analysis_prompt: open,
    qc_prompt: open,
    agent_desk: { enabled: true, context: open },
  });
  for (const name of [
    'system_prompt',
    'opening_message',
    'post_call_analysis_prompt',
    'qc_prompt',
    'agent_desk_context',
  ] as const) {
    t.equal(served[name], open, name);
  }
});

t.test('R86 the pre-fetch is skipped where the flag says so, and the record tells it', async (t) => {
  let asked = 0;
  const harness = configHarness(t, {
    prefetch: async () => {
      asked++;
      return { data: {}, entry };
    },
  });
  const skipped = await harness.call(
    { crm_prefetch: PREFETCH },
    { _skip_prefetch: true, _skip_post_push: 1 },
  );
  t.equal(asked, 0);
  const record = await harness.calls.get(skipped.session_id);
  t.match(record, {
    skip_post_push: true,
    integration_log: [{ kind: 'prefetch', attempt: 0, error: /_skip_prefetch/ }],
  });
  await harness.open('clinic', { _skip_prefetch: false });
  t.equal(asked, 1);
  await harness.call({ crm_prefetch: { ...PREFETCH, enabled: false } });
  t.equal(asked, 1, 'a bot whose pre-fetch is off asks nobody');
});

t.test('R80 the CRM is asked with the variables of the call', async (t) => {
  const harness = configHarness(t, {
    prefetch: async (_bot, variables) => ({ data: { seen: JSON.stringify(variables.call) }, entry }),
  });
  const served = await harness.call(
    { crm_prefetch: PREFETCH, system_prompt: '{{crm.seen}}' },
    { city: 'Pune' },
  );
  t.equal(served.system_prompt, '{"city":"Pune"}');
});

t.test('R39 R89 only headers that the bot names pass, whatever the case of their names', async (t) => {
  const config: SipHeaderConfig = {
    headers: [{ header: 'X-Customer-Id', as: 'customer_id' }, { header: 'P-Asserted-Identity' }],
    prefixes: ['x-crm-'],
  };
  const raw = {
    'x-customer-ID': '7',
    'p-asserted-identity': 'sip:a@b',
    'X-CRM-Plan.Name': 'gold',
    'X-Secret': 'no',
    'X-Crm-Object': { a: 1 },
    'X-Crm-Long': 'v'.repeat(5_000),
  };
  const context = filterSipHeaders(raw, config);
  t.strictSame(Object.keys(context).sort(), [
    'crm_long',
    'crm_plan_name',
    'customer_id',
    'p_asserted_identity',
  ]);
  t.equal(context.crm_long?.length, 1_000);
  for (const none of [null, undefined, {}]) t.strictSame(filterSipHeaders(raw, none), {});
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.anything()), (headers) => {
      for (const [name, value] of Object.entries(filterSipHeaders(headers, { prefixes: ['a', 'x-'] }))) {
        if (!/^[A-Za-z0-9_]{1,64}$/.test(name) || typeof value !== 'string') throw new Error(name);
      }
    }),
    { seed: 32 },
  );
});

t.test(
  'R78 the number of the caller is a variable, also where the handshake does not bring it',
  async (t) => {
    const harness = configHarness(t);
    const bot = { system_prompt: '{{call.caller_id}}' };
    t.equal((await harness.call(bot, {}, '+911234567890')).system_prompt, '+911234567890');
    t.equal((await harness.call(bot, { caller_id: '+9122' }, '+911234567890')).system_prompt, '+9122');
    t.equal((await harness.call(bot)).system_prompt, '{{call.caller_id}}');
  },
);

t.test('a header cannot replace what the dialler said', async (t) => {
  const served = await configHarness(t).call(
    { sip_header_config: { prefixes: ['X-'] } },
    { city: 'Pune', sip_candidate_headers: { 'X-City': 'Delhi' } },
  );
  t.strictSame(served.call_context, { city: 'Pune' });
  t.strictSame(served.sip_context, { city: 'Delhi' });
});

t.test(
  'R83 R84 a name brings its Devanagari forms along, and the first of the six fields wins',
  async (t) => {
    const harness = configHarness(t);
    const prompt = [
      '{{crm.CUSTOMERNAME_HI}}|{{crm.FIRSTNAME}}|{{crm.FIRSTNAME_HI}}',
      '{{call.customer_name_hi}}|{{call.customer_name_firstname}}|{{call.customer_name_firstname_hi}}',
    ].join('|');
    const names = { farmer_name: 'Ravi Patil', customer_name: 'Asha Sharma' };
    const served = await harness.call({ system_prompt: prompt }, names);
    t.equal(served.system_prompt, 'आशा शर्मा|Asha|आशा|आशा शर्मा|Asha|आशा');
    t.match(served.crm_context, { FIRSTNAME_HI: 'आशा', farmer_name: 'Ravi Patil' });
    t.match(served.call_context, { customer_name_firstname_hi: 'आशा' });
    t.strictSame(
      (await harness.calls.get(served.session_id))?.crm_data,
      names,
      'the record has it as it came',
    );

    const order = ['CUSTOMERNAME', 'name', 'customer_name', 'borrower_name', 'farmer_name', 'FIRSTNAME'];
    for (const [index, field] of order.entries()) {
      const later = Object.fromEntries(order.slice(index).map((other) => [other, 'Ravi']));
      const { call_context: context } = await harness.open('clinic', { ...later, [field]: 'Asha' });
      t.match(context, { [`${field}_hi`]: 'आशा' }, field);
    }
    t.equal((await harness.open('clinic', {})).system_prompt, prompt, 'without a name all six stay literal');
  },
);

t.test('R84 the name that the CRM brings is the one that is written in Devanagari', async (t) => {
  const harness = configHarness(t, {
    prefetch: async () => ({ data: { CUSTOMERNAME: 'Asha Sharma' }, entry }),
  });
  const bot = { crm_prefetch: PREFETCH, system_prompt: '{{crm.CUSTOMERNAME_HI}} {{crm.FIRSTNAME}}' };
  t.equal((await harness.call(bot, { name: 'Ravi' })).system_prompt, 'आशा शर्मा Asha');
  const own = await harness.open('clinic', { FIRSTNAME: 'Ashu' });
  t.equal(own.system_prompt, 'आशा शर्मा Ashu', 'what was said itself is not replaced');
});
