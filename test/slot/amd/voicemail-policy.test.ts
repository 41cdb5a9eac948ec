import t from 'tap';
import { type GuardOptions, VoicemailPolicy } from '../../../src/slot/amd/voicemail-policy.ts';
import { joined, silence, tones } from '../../harness/line-sounds.ts';
import { undocumentedKeys } from '../../harness/undocumented-keys.ts';

const SECOND = 8_000;
const FRAME = 160;

t.test(
  'R74 R98 RT-28 a bot that talks to a mailbox stops, leaves its message after the beep and hangs up',
  async (t) => {
    const { guard, did, events, play } = guarded({ message: 'Please call us back.' });
    guard.speechStart(0.5 * SECOND);
    play(silence(6_000));
    guard.text('you have reached sam please leave a message', 5 * SECOND);
    t.same(did.splice(0), ['stop'], 'at once');
    t.ok(guard.isLeaving);
    guard.speechStop(5.9 * SECOND);
    play(joined(silence(500), tones([1_000], 400, -15)));
    t.same(did, [], 'not into the greeting, nor into the beep');
    play(silence(600));
    t.same(did.splice(0), ['say Please call us back.']);
    play(silence(3_000));
    guard.messageEnded('played', 12 * SECOND);
    t.same(did, ['hang up voicemail left']);
    const names = events.map(({ event }) => event);
    t.same(names, ['screening', 'screening', 'voicemail_detected', 'beep', 'message_left']);
    t.match(events[1], { verdict: 'voicemail', is_retraction: true });
    t.same(events.flatMap(undocumentedKeys), [], 'events have the keys of their catalogue');
  },
);

t.test(
  'R13 RT-27 what the model says counts without settings, and an announcement gets no message',
  async (t) => {
    const told = guarded({ settings: null, message: 'Hello.' });
    told.guard.text('leave a message after the tone', SECOND);
    told.play(joined(tones([1_000], 400, -15), silence(3_000)));
    t.same(told.did, [], 'without detection nothing is looked for');
    told.guard.toldByModel(4 * SECOND);
    told.play(silence(2_500));
    told.guard.messageEnded('failed', 7 * SECOND);
    t.same(told.did, ['stop', 'say Hello.', 'hang up voicemail failed']);

    const network = guarded({ message: 'Hello.' });
    network.guard.speechStart(0.2 * SECOND);
    network.play(silence(2_000));
    network.guard.text('the number you have dialled is switched off', 2 * SECOND);
    network.guard.speechStop(2 * SECOND);
    network.play(silence(1_500));
    t.same(network.did, ['stop', 'hang up voicemail no_message']);

    const bare = guarded({ message: null });
    bare.guard.text('after the tone', SECOND);
    t.same(bare.did, ['stop', 'hang up voicemail no_message'], 'a bot without a message hangs up');
  },
);

t.test('RT-29 an assistant gets one answer, the configured one', async (t) => {
  const { guard, did, play } = guarded({
    message: 'Hello.',
    settings: { enabled: true, screening_answer: 'This is the shop.' },
  });
  guard.text('please state your name', SECOND);
  guard.text('please state your name and reason for calling', 2 * SECOND);
  t.same(did, ['answer This is the shop.']);
  t.notOk(guard.isLeaving);
  play(silence(2_000));
  t.same(did.length, 1);
});

t.test('RT-27 a person is never stopped, and busy means that the far end has gone', async (t) => {
  const person = guarded({ message: 'Hello.' });
  person.guard.speechStart(0.3 * SECOND);
  person.play(silence(800));
  person.guard.speechStop(0.7 * SECOND);
  person.play(silence(1_000));
  person.guard.text('I am not available now', 2 * SECOND);
  person.guard.digit(2 * SECOND);
  person.play(joined(tones([1_000], 300, -15), silence(25_000)));
  t.same(person.did, [], 'though she is not available and something beeps');
  t.match(person.events[0], { event: 'screening', verdict: 'human', is_provisional: false });

  const busy = guarded({ message: 'Hello.' });
  const cycle = joined(tones([400], 750, -15), silence(750));
  busy.play(joined(cycle, cycle, cycle, cycle));
  t.same(busy.did, ['stop', 'hang up customer busy']);
});

function guarded(options: Partial<GuardOptions>) {
  const did: string[] = [];
  const events: { event: string; [key: string]: unknown }[] = [];
  const guard = new VoicemailPolicy({
    language: 'en-IN',
    settings: { enabled: true },
    message: null,
    hooks: {
      report: (event, detail) => {
        events.push({ event, ...detail });
      },
      stopBot: () => did.push('stop'),
      sayMessage: (text) => did.push(`say ${text}`),
      answerScreening: (text) => did.push(`answer ${text}`),
      hangUp: (by, reason) => did.push(`hang up ${by} ${reason}`),
    },
    ...options,
  });
  let at = 0;
  const play = (line: Int16Array) => {
    for (let from = 0; from + FRAME <= line.length; from += FRAME, at += FRAME) {
      guard.audio(line.subarray(from, from + FRAME), at);
    }
  };
  return { guard, did, events, play };
}
