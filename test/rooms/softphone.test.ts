import t from 'tap';
import { startBaresip } from '../stack/baresip-peer.ts';
import { uniqueNumber } from '../stack/use-stack.ts';
import { humanSpeech } from '../support/human-speech.ts';
import { eventOf, piecesIn, SipHouse, SPOKEN } from './sip-house.ts';

t.setTimeout(240_000);
const house = await SipHouse.start(t, { slots: 2 });

t.test(
  'R20 RT-62 a softphone is dialled, heard and understood, its keys come in, and it hangs up',
  async (t) => {
    const speech = humanSpeech('goforward.raw');
    const to = uniqueNumber();
    const phone = await startBaresip(t, { speech, user: to });
    await house.pointTrunkAt(phone);
    // It talks from the first moment on; the opening is to be heard whole all the same.
    const session = house.serve(house.bot({ vad: { protect_opening: true } }));
    const accepted = await house.dialout({ to_number: to });
    await phone.until('CALL_ESTABLISHED');
    await talkedLongEnough();
    await phone.sendDigits('42');
    await talkedLongEnough();
    await phone.hangUp();

    const result = await house.resultOf(session);
    t.match(result, { disconnected_by: 'customer', transport: 'rtc_sip', answered_at: String });
    const said = result.transcript.filter(({ speaker }) => speaker === 'customer').map(({ text }) => text);
    t.ok(
      said.some((text) => text.includes(SPOKEN)),
      `it was understood: ${said.join(' / ')}`,
    );
    const keys = result.events.filter(({ event }) => event === 'dtmf').map(({ digit }) => digit);
    t.same(keys, ['4', '2'], 'each key once');
    const sides = house.recording(result);
    const heard = piecesIn(sides.bot, phone.heard());
    t.ok(heard.share > 0.5, `the bot at the softphone: ${heard.text}`);
    const recorded = piecesIn(speech, sides.caller);
    t.ok(recorded.share > 0.5, `the softphone in the recording: ${recorded.text}`);
    t.comment(heard.text);
    t.comment(recorded.text);
    await house.untilClear(accepted.room_name, 2);
  },
);

t.test('R102 RT-62 a softphone that declines by hand is a rejection', async (t) => {
  const to = uniqueNumber();
  const phone = await startBaresip(t, { answer: 'manual', user: to });
  await house.pointTrunkAt(phone);
  const session = house.serve(house.bot());
  const accepted = await house.dialout({ to_number: to });
  await phone.until('CALL_INCOMING');
  await phone.hangUp();
  const result = await house.resultOf(session);
  t.match(result, { disconnected_by: 'rejected', transcript: [], answered_at: null });
  t.match(eventOf(result, 'not_answered'), { sip_code: 486 });
  await house.untilClear(accepted.room_name, 2);
});

/** The recording is said twice in such a time, and the bot's opening once. */
function talkedLongEnough(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 6_000));
}
