import t from 'tap';
import {
  ASK_ANEW_LOOKS,
  HearingWatch,
  JOIN_ANEW_LOOKS,
  MAX_FRESH_JOINS,
} from '../../../src/slot/room/hearing-watch.ts';

/** One person who is listened to, and all that is done to hear them. */
function aPerson(options: { trackSid?: string; hasMicrophone?: boolean | null } = {}) {
  const person = {
    identity: 'sip-1',
    frames: 0,
    trackSid: options.trackSid,
    isAskable: options.trackSid !== undefined,
    askAnew: () => person.isAskable,
  };
  const server = { hasMicrophone: options.hasMicrophone ?? (options.hasMicrophone === null ? null : true) };
  const done: string[] = [];
  let looks = 0;
  let healed = () => undefined as unknown;
  const watch = new HearingWatch({
    voices: () => [person],
    hasMicrophone: async () => {
      done.push(`${looks}: server asked`);
      return server.hasMicrophone;
    },
    onAskedAnew: () => done.push(`${looks}: asked anew`),
    joinAnew: async () => {
      done.push(`${looks}: joined anew`);
      watch.beginAnew();
      healed();
    },
    onGivenUp: () => done.push(`${looks}: given up`),
  });
  return {
    person,
    server,
    done,
    onJoined: (action: () => unknown) => {
      healed = action;
    },
    /** The first look only takes notice, so that after n + 1 looks n have been in vain. */
    look: async (times: number) => {
      for (let time = 0; time < times; time++) {
        await watch.look();
        looks++;
      }
    },
  };
}

t.test('RT-62 whoever is heard is left alone, however long', async (t) => {
  const { person, look, done } = aPerson({ trackSid: 'TR_1' });
  for (let round = 0; round < 50; round++) {
    person.frames += 25;
    await look(1);
  }
  t.same(done, []);
});

t.test('RT-62 a track that stays silent is asked for anew, then the room is joined anew', async (t) => {
  const { person, look, done, onJoined } = aPerson({ trackSid: 'TR_1' });
  let isHeard = false;
  onJoined(() => {
    isHeard = true;
  });
  for (let round = 0; round < 40; round++) {
    await look(1);
    if (isHeard) person.frames += 25;
  }
  t.same(done, [
    `${ASK_ANEW_LOOKS}: asked anew`,
    `${JOIN_ANEW_LOOKS}: server asked`,
    `${JOIN_ANEW_LOOKS}: joined anew`,
  ]);
});

t.test('RT-62 a track that is heard when it was asked for anew needs no join', async (t) => {
  const { person, look, done } = aPerson({ trackSid: 'TR_1' });
  await look(ASK_ANEW_LOOKS + 1);
  for (let round = 0; round < 20; round++) {
    person.frames++;
    await look(1);
  }
  t.same(done, [`${ASK_ANEW_LOOKS}: asked anew`]);
});

t.test('RT-62 fresh joins that bring nothing are given up, and it is told once', async (t) => {
  const { look, done } = aPerson({ trackSid: 'TR_1' });
  await look(100);
  const count = (what: string) => done.filter((entry) => entry.endsWith(what)).length;
  t.equal(count('joined anew'), MAX_FRESH_JOINS);
  t.equal(count('given up'), 1);
  t.match(done.at(-1), /given up/, 'and nothing is tried any more');
  const joinedAt = done
    .filter((entry) => entry.endsWith('joined anew'))
    .map((entry) => Number.parseInt(entry, 10));
  const [first = 0, second = 0] = joinedAt;
  const givenUpAt = Number.parseInt(done.at(-1) ?? '', 10);
  t.equal(first, JOIN_ANEW_LOOKS);
  t.ok(
    second - first >= 2 * JOIN_ANEW_LOOKS && givenUpAt - second >= 4 * JOIN_ANEW_LOOKS,
    'with ever more patience',
  );
});

t.test(
  'RT-62 who has no microphone, or a muted one, is not joined for; nor while the server is away',
  async (t) => {
    for (const hasMicrophone of [false, null]) {
      const { look, done, person } = aPerson({ trackSid: 'TR_1', hasMicrophone });
      person.isAskable = false;
      await look(3 * JOIN_ANEW_LOOKS + 1);
      t.same(
        done.map((entry) => entry.replace(/^\d+: /, '')),
        ['server asked', 'server asked', 'server asked'],
        'the server is asked every three seconds',
      );
    }
  },
);

t.test('RT-62 a track that we were never told of must be there for a while', async (t) => {
  const { person, server, look, done } = aPerson({ hasMicrophone: false });
  await look(JOIN_ANEW_LOOKS + 1);
  server.hasMicrophone = true;
  await look(JOIN_ANEW_LOOKS);
  t.notOk(
    done.some((entry) => entry.endsWith('joined anew')),
    'it may have come this moment',
  );
  await look(JOIN_ANEW_LOOKS);
  t.equal(done.at(-1), `${3 * JOIN_ANEW_LOOKS}: joined anew`);
  person.frames++;
  person.trackSid = 'TR_1';
  await look(1);
});

t.test('RT-62 a track that is there only now has its own time', async (t) => {
  const { person, look, done } = aPerson({ hasMicrophone: false });
  await look(JOIN_ANEW_LOOKS - 1);
  person.trackSid = 'TR_1';
  await look(ASK_ANEW_LOOKS);
  t.same(done, [], 'nothing is asked for before its second has passed');
});
