import t from 'tap';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { FleetHealth } from '../../../src/contracts/fleet.ts';
import type { ConnectedMessage, DiallerMessage, SlotMessage } from '../../../src/contracts/wire.ts';
import {
  type ConnectedMessageSchema,
  DiallerMessageSchema,
  type FleetHealthSchema,
  SlotMessageSchema,
} from '../../../src/contracts/wire-schemas.ts';

/** Compiles only where each type fits the other: a field that is added to one alone stops the type check. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

t.test('the schemas of the call socket are the types that the slots work with', (t) => {
  const slot: Same<Static<typeof SlotMessageSchema>, Loose<SlotMessage>> = true;
  const dialler: Static<typeof DiallerMessageSchema> extends DiallerMessage ? true : false = true;
  const connected: Required<Static<typeof ConnectedMessageSchema>> extends Required<ConnectedMessage>
    ? true
    : false = true;
  const health: FleetHealth extends Static<typeof FleetHealthSchema> ? true : false = true;
  t.same([slot, dialler, connected, health], [true, true, true, true]);
  t.end();
});

/** An optional field of a schema may be undefined; of a type it may only be left out. */
type Loose<T> = T extends object ? { [K in keyof T]: Loose<T[K]> } : T;

t.test('every message that travels fits its schema, and what does not travel fits none', (t) => {
  const fromDialler = Compile(DiallerMessageSchema);
  const dialler: DiallerMessage[] = [
    {
      event: 'connected',
      stream_id: 's',
      caller_id: '+91',
      call_direction: 'outbound',
      media: { encoding: 'linear16', sample_rate: 8000, framing: 'binary' },
      campaign: 'spring',
    },
    { event: 'media', media: { payload: 'AAAA', chunk: 1, timestamp: '20' } },
    { event: 'dtmf', dtmf: { digit: '5' } },
    { event: 'mark', mark: { name: 'm' } },
    { event: 'transfer_result', status: 'failed', sip_code: 486, sip_status: 'Busy Here' },
    { event: 'stop', reason: 'done' },
  ];
  for (const message of dialler) t.ok(fromDialler.Check(message), message.event);
  const fromSlot = Compile(SlotMessageSchema);
  const slot: SlotMessage[] = [
    { event: 'ready', session_id: 'x' },
    { event: 'media', media: { payload: 'AAAA' } },
    { event: 'clear' },
    { event: 'mark', mark: { name: 'm' } },
    { event: 'transfer', transfer: { destination: '+91', headers: { 'X-Reason': 'r' } } },
    { event: 'hangup', reason: 'end' },
  ];
  for (const message of slot) t.ok(fromSlot.Check(message), message.event);
  for (const wrong of [{}, { event: 'media' }, { event: 'connected', media: { framing: 'xml' } }]) {
    t.notOk(fromDialler.Check(wrong), JSON.stringify(wrong));
    t.notOk(fromSlot.Check(wrong), JSON.stringify(wrong));
  }
  t.end();
});
