import t from 'tap';
import { hangUpParticipant } from '../../../src/platform/end-room.ts';
import { PlayoutMarks } from '../../../src/slot/room/playout-marks.ts';
import { EMPTY_MS, Presence, SOLO_MS } from '../../../src/slot/room/presence.ts';

t.test('RT-63 a bot waits 60 s for a customer who never comes', async (t) => {
  let now = 1_000;
  const presence = new Presence(() => now);
  now += SOLO_MS;
  t.equal(presence.look(0), null, 'to the last moment');
  now += 1;
  t.match(presence.look(0), { kind: 'never_came', afterMs: 60_001 });
  presence.came();
  t.equal(presence.look(0), null, 'and serves one who comes after all');
});

t.test('RT-63 an empty room ends after 20 s, one in which others stay after 60 s', async (t) => {
  let now = 0;
  const presence = new Presence(() => now);
  presence.came();
  now = 500_000;
  t.equal(presence.look(0), null, 'a customer who is there has no timer');
  presence.vanished();
  now += EMPTY_MS;
  presence.vanished();
  t.equal(presence.look(0), null);
  now += 1;
  t.match(presence.look(0), { kind: 'left_alone' }, 'counted from when the customer vanished');
  t.equal(presence.look(1), null, 'somebody else is still there');
  now += SOLO_MS - EMPTY_MS;
  t.match(presence.look(1), { kind: 'others_only' });
  presence.came();
  t.equal(presence.look(0), null, 'whoever comes back is served');
});

t.test('RT-16 more marks than any reply has are answered early, not kept', async (t) => {
  const answered: string[] = [];
  const marks = new PlayoutMarks(
    () => 0,
    (name) => answered.push(name),
  );
  for (let at = 0; at < 600; at++) marks.add(`${at}`, 60_000);
  await Promise.resolve();
  t.equal(answered.length, 100);
  t.equal(answered[0], '0', 'the oldest first');
  marks.clear();
});

t.test('RT-25 a leg that cannot be hung up is given up after 5 s', async (t) => {
  let tries = 0;
  const end = await hangUpParticipant(
    {
      removeParticipant: () => {
        tries++;
        return Promise.reject(new Error('away'));
      },
      participant: () => Promise.resolve(null),
    },
    'room',
    'sip-1',
  );
  t.match(end, { status: 'failed', attempts: tries });
  t.ok(tries > 2, `${tries} tries`);
});
