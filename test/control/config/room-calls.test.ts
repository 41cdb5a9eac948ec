import t from 'tap';
import { configHarness } from '../../harness/config-harness.ts';
import { testResults } from '../../harness/control.ts';

const ROOM = {
  stream_id: 'call-1',
  call_id: 'call-1',
  room_name: 'room-1',
  from_number: '+911140000000',
  to_number: '+911140001234',
  trunk_id: 'ST_1',
};

t.test('R145 the record tells by which of the four transports a call has come', async (t) => {
  const harness = configHarness(t);
  const recordOf = async (event: object) => {
    const { session_id: id } = await harness.call({}, event);
    return await harness.records.get(id);
  };
  t.match(await recordOf({ ...ROOM, transport: 'rtc_sip', call_direction: 'outbound' }), {
    transport: 'rtc_sip',
    call_type: 'bot',
    call_direction: 'outbound',
    call_id: 'call-1',
    room_name: 'room-1',
    from_number: '+911140000000',
    to_number: '+911140001234',
    trunk_id: 'ST_1',
  });
  t.match(await recordOf({ ...ROOM, transport: 'rtc_widget' }), {
    transport: 'rtc_widget',
    call_type: 'widget',
  });
  t.match(await recordOf({ call_id: 'of the dialler', transport: 'rtc_sip' }), {
    transport: 'websocket',
    call_type: 'bot',
    call_id: null,
  });
  t.match(await recordOf({ call_sid: 'CA1', stream_sid: 'stream-1' }), { transport: 'partner' });
  t.match(await recordOf({ ...ROOM, transport: 'pigeon' }), { transport: null, call_id: null });
});

t.test(
  'R43 R44 what the results know of the telephone goes into the record, and blanks nothing',
  async (t) => {
    const harness = configHarness(t);
    const { session_id: id } = await harness.call({}, { ...ROOM, transport: 'rtc_sip' });
    const end = { sip_code: 486, sip_reason: 'Busy Here' };
    await harness.records.complete(
      testResults(id, {
        disconnected_by: 'rejected',
        end_detail: end,
        call_id: null,
        room_name: null,
        trunk_id: null,
        ringing_at: '2026-03-02T06:30:01.000Z',
        answered_at: null,
      }),
      '2026-03-02T06:31:00.000Z',
    );
    t.match(await harness.records.get(id), {
      status: 'not_connected',
      disconnected_by: 'rejected',
      end_detail: end,
      call_id: 'call-1',
      room_name: 'room-1',
      trunk_id: 'ST_1',
      to_number: '+911140001234',
      ringing_at: '2026-03-02T06:30:01.000Z',
      answered_at: null,
    });
  },
);

t.test('R62 R72 a bot with an agent desk gets the tool that leads there, once', async (t) => {
  const harness = configHarness(t);
  const names = async (bot: Parameters<typeof harness.call>[0]) =>
    (await harness.call(bot)).tools.map((tool) => tool.name);
  t.same(await names({ agent_desk: { enabled: true } }), ['transfer_to_agent']);
  t.same(await names({ agent_desk: { enabled: false } }), []);
  const served = await harness.call({
    agent_desk: { enabled: true },
    tools: [{ type: 'built_in', name: 'end_call' }],
  });
  t.match(served.tools[1], {
    type: 'built_in',
    name: 'transfer_to_agent',
    parameters: { required: ['reason'] },
  });
  t.equal(served.agent_desk_enabled, true);
});
