import { accepted, type ScriptedHost } from '../../../harness/fleet-port.ts';
import type { Step } from './walk.ts';

/** Placing calls through another host, and asking for them afterwards. */
export async function walkOutbound(step: Step, host: ScriptedHost): Promise<void> {
  const json = { bot_id: 'demo', to_number: '+911140001234', variables: { customer_name: 'Asha' } };
  await step('changeSettings', 200, {
    json: { values: { sip_outbound_trunk_id: 'trunk-1', sip_default_from: '+911140000000' } },
  });
  let callId = '';
  for (const id of ['placeOutboundCall', 'placeCall']) {
    const placed = await step(id, 200, { json });
    callId = placed.call_id as string;
    await step('getOutboundCall', 200, { params: { call_id: callId } });
    await step('cancelOutboundCall', 200, { params: { call_id: callId } });
    await step(id, 404, { json: { ...json, bot_id: 'nosuch' } });
  }
  host.answer = { status: 429, json: { error: 'At capacity', code: 'at_capacity' } };
  await step('placeCall', 503, { json });
  host.answer = accepted();
  const { hangupAnswer } = host;
  host.hangupAnswer = { status: 500, json: { error: 'Internal' } };
  await step('cancelOutboundCall', 503, { params: { call_id: callId } });
  host.hangupAnswer = hangupAnswer;
}
