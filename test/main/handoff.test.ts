import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { DeskAnswer, DeskNote } from '../../src/contracts/handoff.ts';
import { DeskRelay } from '../../src/main/handoff/desk-relay.ts';
import { BACKOFF_FIRST_MS, BACKOFF_MAX_MS, IMMEDIATE_RETRIES_MS } from '../../src/main/outbox/post-json.ts';
import { removeFolder, takeFolder } from '../../src/main/outbox/spool-intake.ts';
import { openKeyValueStore } from '../../src/platform/key-value-store.ts';
import { AgentDesk } from '../harness/agent-desk.ts';
import { HandClock } from '../harness/hand-clock.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { until } from '../harness/wait.ts';
import { idleOutbox, quietLogger } from '../harness/worker.ts';

const SECRET = 'a-core-secret-of-some-length';

/** A spool with a relay on it, and a clock for its retries that is moved by hand. */
async function workplace(
  t: { teardown(end: () => unknown): unknown },
  options: { own?: string[]; root?: string; orphans?: string[] } = {},
) {
  const root = options.root ?? tempFolder();
  const spoolFolder = join(root, 'spool');
  await mkdir(spoolFolder, { recursive: true });
  const store = openKeyValueStore(join(root, 'store'));
  const clock = new HandClock(Date.now(), 1);
  const answers: { callId: string; answer: DeskAnswer }[] = [];
  const relay = new DeskRelay({
    store,
    spoolFolder,
    coreSecret: SECRET,
    ownOrigins: options.own ?? [],
    tellSlot: (callId, answer) => void answers.push({ callId, answer }),
    orphanCalls: () => options.orphans ?? [],
    logger: quietLogger(),
    clock,
  });
  await relay.start();
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await relay.stop();
    await store.close();
  };
  t.teardown(close);
  /** What a slot appends to the notes of a call. */
  const write = async (callId: string, ...notes: DeskNote[]) => {
    const folder = join(spoolFolder, callId);
    await mkdir(folder, { recursive: true });
    for (const note of notes) await appendFile(join(folder, 'handoff.jsonl'), `${JSON.stringify(note)}\n`);
    return folder;
  };
  return { root, spoolFolder, store, clock, relay, answers, write, close };
}

/** The notes of one call, as its slot would number them. */
function notesOf(callId: string, origin: string) {
  const at = new Date().toISOString();
  return {
    enqueue: {
      v: 1,
      seq: 1,
      kind: 'enqueue',
      origin,
      body: {
        call_id: callId,
        session_id: `s-${callId}`,
        room: `call-${callId}`,
        caller: { number: '+911140001234', identity: 'sip-1' },
        bot: { bot_id: 'b' },
        escalation_reason: 'asked',
        transcript: [],
        variables: {},
        context: null,
      },
    },
    gone: { v: 1, seq: 2, kind: 'customer_disconnected', origin, callId, body: { reason: 'left', at } },
    event: (seq: number, event: string): DeskNote => ({
      v: 1,
      seq,
      kind: 'event',
      origin,
      callId,
      body: { event, at },
    }),
  } satisfies Record<string, unknown> as {
    enqueue: DeskNote;
    gone: DeskNote;
    event: (seq: number, event: string) => DeskNote;
  };
}

async function deskFor(t: { teardown(end: () => unknown): unknown }): Promise<AgentDesk> {
  const desk = await AgentDesk.start();
  t.teardown(() => desk.goAway());
  return desk;
}

t.test(
  'R4 R164 a note goes to the desk with the secret, and the slot hears what the desk said',
  async (t) => {
    const desk = await deskFor(t);
    const { relay, answers, write } = await workplace(t, { own: [desk.url] });
    const notes = notesOf('c-1', desk.url);
    await write('c-1', notes.enqueue);
    await relay.heard('c-1');
    await until(() => answers.length === 1);
    t.match(desk.posts, [{ path: '/enqueue', status: 201, headers: { 'x-core-secret': SECRET } }]);
    t.strictSame(answers, [
      {
        callId: 'c-1',
        answer: { position: 2, agentsAvailable: 1, estimatedWaitSeconds: null, timeoutSeconds: 120 },
      },
    ]);
    await until(() => relay.pending === 0);
    await relay.heard('c-1');
    await write('c-1', notes.gone);
    await relay.heard('c-1');
    await until(() => relay.pending === 0 && desk.posts.length === 2);
    t.strictSame(desk.toldOf('c-1'), ['enqueue', 'customer-disconnected'], 'each note went once');
  },
);

t.test('R164 the secret goes to no desk that is not one of ours', async (t) => {
  const desk = await deskFor(t);
  const { relay, write } = await workplace(t, { own: ['https://elsewhere.example'] });
  await write('c-1', notesOf('c-1', desk.url).enqueue);
  await relay.heard('c-1');
  await until(() => desk.posts.length === 1);
  t.equal(desk.posts[0]?.headers['x-core-secret'], undefined);
});

t.test('R32 a desk that is away gets everything once it is back, in order', async (t) => {
  const desk = await deskFor(t);
  const { relay, write, clock } = await workplace(t, { own: [desk.url] });
  const notes = notesOf('c-1', desk.url);
  await desk.goAway();
  await write('c-1', notes.enqueue, notes.gone);
  await relay.heard('c-1');
  const waits: number[] = [];
  for (let failures = 0; failures < 6; failures++) {
    await until(() => clock.nextInMs() !== null);
    const waitMs = clock.nextInMs() ?? 0;
    waits.push(waitMs);
    clock.move(waitMs);
  }
  t.strictSame(
    waits.slice(0, 4),
    [...IMMEDIATE_RETRIES_MS, BACKOFF_FIRST_MS],
    'at once, then later and later',
  );
  t.ok(waits.every((waitMs) => waitMs <= BACKOFF_MAX_MS));
  t.equal(relay.pending, 1);
  await until(() => clock.nextInMs() !== null);
  await desk.comeBack();
  clock.move(BACKOFF_MAX_MS);
  await until(() => relay.pending === 0);
  t.strictSame(desk.toldOf('c-1'), ['enqueue', 'customer-disconnected']);
  t.match(
    desk.posts.map(({ status }) => status),
    [201, 200],
  );
});

t.test(
  'R32 a desk that refuses is asked again slowly, and nothing behind the refused note overtakes it',
  async (t) => {
    const desk = await deskFor(t);
    const { relay, write, clock } = await workplace(t, { own: [desk.url] });
    const notes = notesOf('c-1', desk.url);
    const waits: (number | null)[] = [];
    for (const status of [422, 403, 429]) {
      desk.refusesWith = status;
      const seen = desk.posts.length;
      if (seen === 0) {
        await write('c-1', notes.enqueue, notes.gone);
        await relay.heard('c-1');
      } else clock.move(BACKOFF_MAX_MS);
      await until(() => desk.posts.length === seen + 1 && clock.nextInMs() !== null);
      waits.push(clock.nextInMs());
    }
    t.strictSame(waits, [BACKOFF_FIRST_MS, 2 * BACKOFF_FIRST_MS, IMMEDIATE_RETRIES_MS[2]]);
    t.ok(desk.posts.every(({ path }) => path === '/enqueue'));
    desk.refusesWith = null;
    clock.move(BACKOFF_MAX_MS);
    await until(() => relay.pending === 0);
    t.strictSame(desk.toldOf('c-1'), ['enqueue', 'customer-disconnected']);
  },
);

t.test('R32 one desk that is away does not hold up another', async (t) => {
  const [away, there] = [await deskFor(t), await deskFor(t)];
  const { relay, write } = await workplace(t, { own: [away.url, there.url] });
  const lost = away.url;
  await away.goAway();
  for (let call = 0; call < 12; call++) {
    await write(`a-${call}`, notesOf(`a-${call}`, lost).enqueue);
    await relay.heard(`a-${call}`);
  }
  await write('b', notesOf('b', there.url).enqueue);
  await relay.heard('b');
  await until(() => there.calls.has('b') && relay.pending === 12);
  t.strictSame(there.toldOf('b'), ['enqueue']);
});

t.test('RT-37 what an earlier main had taken, and what it had not, both come', async (t) => {
  const desk = await deskFor(t);
  const before = await workplace(t, { own: [desk.url] });
  const notes = notesOf('c-1', desk.url);
  await desk.goAway();
  await before.write('c-1', notes.enqueue);
  await before.relay.heard('c-1');
  t.equal(before.relay.pending, 1);
  await before.close();
  await desk.comeBack();
  // The slot of an orphan writes on, and has no main to tell.
  const after = await workplace(t, { own: [desk.url], root: before.root, orphans: ['c-1'] });
  await after.write('c-1', notes.gone);
  await until(() => desk.calls.get('c-1')?.state === 'ended' || advance(after.clock));
  t.strictSame(desk.toldOf('c-1'), ['enqueue', 'customer-disconnected']);
});

t.test('RT-37 a folder goes only after its notes are in the outbox', async (t) => {
  const desk = await deskFor(t);
  const place = await workplace(t, { own: [desk.url] });
  const notes = notesOf('c-1', desk.url);
  const folder = await place.write('c-1', notes.enqueue, notes.gone);
  const result = { v: 1, webhookUrl: desk.resultsUrl, payload: { session_id: 's-c-1', recording_key: null } };
  await appendFile(join(folder, 'result.json'), JSON.stringify(result));
  const options = {
    spoolFolder: place.spoolFolder,
    recordingsFolder: join(place.root, 'recordings'),
    outbox: idleOutbox(place.store),
    logger: quietLogger(),
  };
  const refusing = {
    ...options,
    takeNotes: async () => {
      throw new Error('the store is full');
    },
  };
  await t.rejects(takeFolder('c-1', 'slot_died', refusing), /full/);
  t.equal(
    (await options.outbox.queue.all().next()).done,
    true,
    'no result was taken either: the folder is tried again',
  );
  await takeFolder('c-1', 'slot_died', {
    ...options,
    takeNotes: (callId, path, how) => place.relay.takeAll(callId, path, how),
  });
  await until(() => desk.calls.get('c-1')?.state === 'ended');
  t.strictSame(desk.toldOf('c-1'), ['enqueue', 'customer-disconnected']);
  const left = () => place.store.table('handoff-outbox').count();
  await until(() => left() === 0);
  t.equal(left(), 0, 'nothing of the handoff is left in the store');
});

t.test(
  'RT-37 a slot that died while the caller waited: the desk learns that they are gone, once',
  async (t) => {
    const desk = await deskFor(t);
    const { relay, write } = await workplace(t, { own: [desk.url] });
    const notes = notesOf('c-1', desk.url);
    const folder = await write('c-1', notes.enqueue, notes.event(2, 'hold_started'));
    await relay.takeAll('c-1', folder, { isDead: true });
    await until(() => relay.pending === 0);
    t.strictSame(desk.toldOf('c-1'), ['enqueue', 'hold_started', 'customer-disconnected']);
    t.match(desk.posts.at(-1)?.body, { reason: 'slot_died' });
    await removeFolder(folder);
  },
);

t.test('R24 RT-37 a slot that died after it had left the caller to an agent changes nothing', async (t) => {
  const desk = await deskFor(t);
  const { relay, write } = await workplace(t, { own: [desk.url] });
  const notes = notesOf('c-1', desk.url);
  const folder = await write('c-1', notes.enqueue, notes.event(2, 'bot_left'));
  await relay.takeAll('c-1', folder, { isDead: true });
  await until(() => relay.pending === 0);
  t.strictSame(desk.toldOf('c-1'), ['enqueue', 'bot_left']);
});

t.test('R24 RT-37 a slot that died while it recorded caller and agent leaves the two alone', async (t) => {
  const desk = await deskFor(t);
  const { relay, write } = await workplace(t, { own: [desk.url] });
  const notes = notesOf('c-1', desk.url);
  const folder = await write('c-1', notes.enqueue, notes.event(2, 'participant_joined'));
  await relay.takeAll('c-1', folder, { isDead: true });
  await until(() => relay.pending === 0);
  t.strictSame(desk.toldOf('c-1'), ['enqueue', 'participant_joined']);
  await relay.onRoomEvent({ event: 'participant_left', room: 'call-c-1', identity: 'sip-1' });
  await until(() => relay.pending === 0);
  t.equal(desk.toldOf('c-1').at(-1), 'customer-disconnected', 'the room tells when the caller leaves');
});

t.test(
  'R24 after the slot has left, the events of the room tell the desk what becomes of the caller',
  async (t) => {
    const desk = await deskFor(t);
    const place = await workplace(t, { own: [desk.url] });
    const notes = notesOf('c-1', desk.url);
    const room = 'call-c-1';
    await place.relay.onRoomEvent({ event: 'participant_left', room, identity: 'sip-1' });
    const folder = await place.write('c-1', notes.enqueue, notes.event(2, 'bot_left'));
    await place.relay.heard('c-1');
    await place.relay.takeAll('c-1', folder, { isDead: false });
    await until(() => place.relay.pending === 0);
    await place.close();
    // A main that was restarted meanwhile still knows whose room it is.
    const { relay } = await workplace(t, { own: [desk.url], root: place.root });
    const tell = (event: string, identity: string) => relay.onRoomEvent({ event, room, identity });
    await tell('participant_joined', 'agent-2');
    await tell('track_published', 'agent-2');
    await tell('participant_left', 'agent-1');
    await tell('participant_left', 'supervisor-1');
    await relay.onRoomEvent({ event: 'participant_left', room: 'another', identity: 'sip-1' });
    await tell('participant_left', 'sip-1');
    await tell('participant_left', 'sip-1');
    await tell('room_finished', '');
    await until(() => relay.pending === 0);
    t.strictSame(desk.toldOf('c-1'), [
      'enqueue',
      'bot_left',
      'participant_joined',
      'participant_left',
      'customer-disconnected',
    ]);
  },
);

/** Lets a wait of the clock pass; always false, for use in a condition. */
function advance(clock: HandClock): boolean {
  const nextInMs = clock.nextInMs();
  if (nextInMs !== null) clock.move(nextInMs);
  return false;
}
