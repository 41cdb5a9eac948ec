import { ACCEPTED, type FleetIngress } from './fleet-door.ts';
import type { Step } from './walk.ts';

/** Placing calls through another host's ingress, and asking for them afterwards. */
export async function walkOutbound(step: Step, ingress: FleetIngress): Promise<void> {
  const json = { bot_id: 'demo', to_number: '+911140001234', variables: { customer_name: 'Asha' } };
  await step('changeSettings', 200, {
    json: { values: { sip_outbound_trunk_id: 'trunk-1', sip_default_from: '+911140000000' } },
  });
  for (const id of ['placeOutboundCall', 'placeCall']) {
    const placed = await step(id, 200, { json });
    await step('getOutboundCall', 200, { params: { call_id: placed.call_id as string } });
    await step('cancelOutboundCall', 200, { params: { call_id: placed.call_id as string } });
    await step(id, 404, { json: { ...json, bot_id: 'nosuch' } });
  }
  ingress.answer = { status: 429, json: { error: 'At capacity', code: 'at_capacity' } };
  await step('placeCall', 503, { json });
  ingress.answer = { status: 500, json: { error: 'Internal' } };
  await step('cancelOutboundCall', 503, { params: { call_id: 'rtc-1' } });
  ingress.answer = ACCEPTED;
}
