import t from 'tap';
import { humanSpeech } from '../harness/human-speech.ts';
import { eventOf, piecesIn, SipHarness, SPOKEN, untilHeard, withPause } from '../harness/sip-harness.ts';
import { startBaresip } from '../stack/baresip-peer.ts';
import { uniqueNumber } from '../stack/use-stack.ts';

t.setTimeout(280_000);
const harness = await SipHarness.start(t, { slots: 2 });

t.test(
  'R20 RT-62 a softphone is dialled, heard and understood, its keys come in, and it hangs up',
  async (t) => {
    const speech = humanSpeech('goforward.raw');
    const to = uniqueNumber();
    const phone = await startBaresip(t, { speech: withPause(speech), user: to });
    await harness.pointTrunkAt(phone);
    // It talks from the first moment on; the opening is to be heard whole all the same.
    const session = harness.serve(harness.bot({ vad: { protect_opening: true } }));
    const accepted = await harness.dialout({ to_number: to });
    await phone.until('CALL_ESTABLISHED');
    await untilHeard(() => phone.heard(), 3);
    await phone.sendDigits('42');
    await untilHeard(() => phone.heard(), 4);
    await phone.hangUp();

    const result = await harness.resultOf(session);
    t.match(result, { disconnected_by: 'customer', transport: 'rtc_sip', answered_at: String });
    const said = result.transcript.filter(({ speaker }) => speaker === 'customer').map(({ text }) => text);
    t.ok(
      said.some((text) => text.includes(SPOKEN)),
      `it was understood: ${said.join(' / ')}`,
    );
    const keys = result.events.filter(({ event }) => event === 'dtmf').map(({ digit }) => digit);
    t.equal(keys.join(''), '42', 'each key once');
    const sides = harness.recording(result);
    const heard = piecesIn(sides.bot, phone.heard());
    t.ok(heard.share > 0.5, `the bot at the softphone: ${heard.text}`);
    const recorded = piecesIn(speech, sides.caller);
    t.ok(recorded.share > 0.5, `the softphone in the recording: ${recorded.text}`);
    t.comment(heard.text);
    t.comment(recorded.text);
    await harness.untilClear(accepted.room_name, 2);
  },
);

t.test('R102 RT-62 a softphone that declines by hand is a rejection', async (t) => {
  const to = uniqueNumber();
  const phone = await startBaresip(t, { answer: 'manual', user: to });
  await harness.pointTrunkAt(phone);
  const session = harness.serve(harness.bot());
  const accepted = await harness.dialout({ to_number: to });
  await phone.until('CALL_INCOMING');
  await phone.hangUp();
  const result = await harness.resultOf(session);
  t.match(result, { disconnected_by: 'rejected', transcript: [], answered_at: null });
  t.match(eventOf(result, 'not_answered'), { sip_code: 486 });
  await harness.untilClear(accepted.room_name, 2);
});
