import t from 'tap';
import { retryAfterMs } from '../../../src/platform/retry-after.ts';
import { tidyVendorText } from '../../../src/providers/connect/vendor-refusal.ts';
import { openVendorSocket, type VendorSocketOptions } from '../../../src/providers/connect/vendor-socket.ts';
import { vendorUrl } from '../../../src/providers/connect/vendor-url.ts';
import { ProviderSettings } from '../../../src/providers/contract/provider-settings.ts';
import { startEmulator } from '../../emulators/kit/emulator.ts';
import { testAuthority } from '../../emulators/kit/test-authority.ts';
import { HandClock } from '../../harness/hand-clock.ts';
import { until } from '../../harness/wait.ts';
import { rejection } from './caller.ts';

async function echo(t: { teardown(end: () => Promise<void>): void }, tls = false) {
  const clock = new HandClock(1_000);
  const emulator = await startEmulator({
    vendor: 'echo',
    clock,
    tls,
    sockets: [{ path: '/', session: (socket) => socket.onText((_, text) => socket.sendText(text)) }],
  });
  t.teardown(() => emulator.close());
  const heard: (string | Buffer)[] = [];
  const ends: Error[] = [];
  let rooms = 0;
  const open = (more: Partial<VendorSocketOptions> = {}) =>
    openVendorSocket({
      provider: 'echo',
      family: 'tts',
      url: `${emulator.wsUrl}/`,
      clock,
      highWaterBytes: 65_536,
      onMessage: (message) => heard.push(message),
      onEnd: (error) => ends.push(error),
      onRoom: () => rooms++,
      ...more,
    });
  return { clock, emulator, heard, ends, open, rooms: () => rooms };
}

t.test('R8 sockets: a vendor behind TLS is reached with the authority that is trusted', async (t) => {
  const { emulator, open, heard } = await echo(t, true);
  const socket = await open({ ca: testAuthority().ca });
  socket.send('over TLS');
  await until(() => heard.length === 1, 'the echo');
  await socket.close();
  t.equal(emulator.counters().handshakes, 1);
});

t.test('R8 sockets: a congested line holds senders back and lets them go on', async (t) => {
  const { clock, emulator, open, rooms, ends } = await echo(t);
  const socket = await open();
  emulator.control.latest().goSilent();
  const block = Buffer.alloc(65_536);
  let sent = 0;
  while (socket.offer(block) && sent < 2_000) {
    sent++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.ok(sent > 0 && sent < 2_000, `${sent} blocks went before the line was full`);
  t.ok(socket.unsentBytes < 65_536 * 3, 'not much more than the mark is kept');
  const abort = new AbortController();
  const given = rejection(socket.sendWhenClear(block, abort.signal));
  abort.abort(new Error('no longer wanted'));
  t.equal((await given).message, 'no longer wanted');
  const waiting = socket.sendWhenClear(block);
  emulator.control.latest().wake();
  await waiting;
  await until(() => rooms() > 0, 'the news that there is room');
  await until(() => socket.unsentBytes === 0, 'the end of the queue');
  t.same(ends, []);
  await socket.close();
  await until(() => clock.pendingTimers === 0, 'the end of every timer');
});

t.test('R8 sockets: a line that takes no byte for 5 s is dead, and who waited is let go', async (t) => {
  const { clock, emulator, open, ends } = await echo(t);
  const socket = await open();
  emulator.control.latest().goSilent();
  const block = Buffer.alloc(65_536);
  for (let sent = 0; socket.offer(block) && sent < 2_000; sent++)
    await new Promise((resolve) => setImmediate(resolve));
  const waiting = socket.sendWhenClear(block);
  await clock.advance(4_000, 500);
  t.same(ends, [], 'not yet');
  await clock.advance(2_500, 500);
  await until(() => ends.length === 1, 'the end');
  t.match(ends[0], {
    code: 'provider_timeout',
    details: { class: 'transient', provider: 'echo', family: 'tts' },
  });
  t.match(ends[0]?.message, /took no data for 5000 ms/);
  await waiting;
  await socket.close();
  t.equal(clock.pendingTimers, 0);
});

t.test('R8 sockets: pings keep watch, and a vendor that answers them is left alone for ever', async (t) => {
  const { clock, emulator, open, ends } = await echo(t);
  const socket = await open();
  for (let round = 0; round < 12; round++) {
    const pings = emulator.log.entries.filter((entry) => entry.kind === 'ping').length;
    await clock.advance(10_000, 10_000);
    await until(() => emulator.log.entries.filter((entry) => entry.kind === 'ping').length > pings, 'a ping');
    // The pong is on its way back; another message proves that it has come, since messages keep their order.
    socket.send(`round ${round}`);
    await until(() => emulator.log.entries.some((entry) => entry.text === `round ${round}`), 'the echo');
  }
  t.same(ends, []);
  await socket.close();
  await socket.gone;
  t.equal(clock.pendingTimers, 0);
  t.same(ends, [], 'our own close is no failure');
});

t.test('R8 sockets: a vendor that does not answer our close is cut off in time', async (t) => {
  const { clock, emulator, open, ends } = await echo(t);
  const socket = await open();
  emulator.control.latest().goSilent();
  const closing = socket.close({ farewell: 'goodbye', deadlineMs: 500 });
  const again = socket.close();
  for (let round = 0; round < 10; round++) await clock.advance(500, 100);
  await Promise.all([closing, again, socket.gone]);
  t.equal(socket.isOpen, false);
  t.equal(clock.pendingTimers, 0);
  t.same(ends, []);
  socket.send('into the void');
  t.equal(socket.offer('into the void'), true, 'nothing is sent and nothing thrown');
});

t.test('R8 sockets: giving up while dialling ends the dialling', async (t) => {
  const { clock, emulator, open } = await echo(t);
  emulator.control.next({ never: true });
  const giveUp = new AbortController();
  const dialling = rejection(open({ signal: giveUp.signal }));
  await until(() => emulator.log.entries.length === 1, 'the handshake');
  giveUp.abort(new Error('hung up'));
  t.equal((await dialling).message, 'hung up');
  t.equal((await rejection(open({ signal: giveUp.signal }))).message, 'hung up');
  t.equal(clock.pendingTimers, 0);
  t.match((await rejection(open({ headers: { 'x-key': 'two\nlines' } }))).message, /cannot be dialled/);
});

t.test('R8 sockets: a message handler that throws ends the socket and nothing else', async (t) => {
  const { open, ends } = await echo(t);
  const socket = await open({
    secrets: ['s3cret'],
    onMessage: () => {
      throw new Error('unreadable s3cret');
    },
  });
  socket.send('x');
  await until(() => ends.length === 1, 'the end');
  t.match(ends[0]?.message, /cannot be used: unreadable \*\*\*$/);
  await socket.close();
});

t.test('R8 sockets: close codes are mapped to what can be done about them', async (t) => {
  const { emulator, open, ends } = await echo(t);
  for (const [code, expected] of [
    [1000, 'transient'],
    [1001, 'transient'],
    [1003, 'config'],
    [1007, 'config'],
    [1008, 'config'],
    [1009, 'config'],
    [1011, 'transient'],
    [1012, 'transient'],
    [1013, 'transient'],
    [4000, 'transient'],
  ] as const) {
    ends.length = 0;
    const socket = await open();
    emulator.control.latest().close(code, 'because of wss://a.b/c?key=1');
    await until(() => ends.length === 1, 'the end');
    t.match(ends[0], { details: { class: expected, status: code } });
    t.notMatch(ends[0]?.message, /key=1/);
    await socket.close();
  }
});

t.test('R8 sockets: base_url takes the place of the host and keeps its path and query', async (t) => {
  const url = (base: string | undefined, transport: 'ws' | 'http' = 'ws') =>
    vendorUrl(new ProviderSettings('stt', base === undefined ? {} : { base_url: base }), {
      transport,
      standard: 'wss://vendor.example',
      path: '/v1/listen',
      query: { model: 'm', term: ['a b', 'c+d'], on: true, absent: undefined, none: [] },
    });
  const query = 'model=m&term=a%20b&term=c%2Bd&on=true';
  t.equal(url(undefined), `wss://vendor.example/v1/listen?${query}`);
  t.equal(url('https://proxy.example:8443/dg/'), `wss://proxy.example:8443/dg/v1/listen?${query}`);
  t.equal(url('http://10.0.0.5/x?team=1'), `ws://10.0.0.5/x/v1/listen?team=1&${query}`);
  t.equal(url('ws://[::1]:9', 'http'), `http://[::1]:9/v1/listen?${query}`);
  for (const wrong of ['', 'vendor.example', 'ftp://vendor.example', 'wss://me@vendor.example', 'wss://a#b'])
    t.throws(() => url(wrong), { code: 'bad_provider_config' }, wrong);
});

t.test('R8 sockets: Retry-After is read as seconds and as a date, within an hour', async (t) => {
  const now = Date.parse('2026-11-20T10:00:00Z');
  t.equal(retryAfterMs('7', 3_600_000, now), 7_000);
  t.equal(retryAfterMs(' 0.5 ', 3_600_000, now), 500);
  t.equal(retryAfterMs('Fri, 20 Nov 2026 10:00:30 GMT', 3_600_000, now), 30_000);
  t.equal(retryAfterMs('Fri, 20 Nov 2026 09:00:00 GMT', 3_600_000, now), 0);
  t.equal(retryAfterMs('9999999', 3_600_000, now), 3_600_000);
  for (const useless of [undefined, '', 'soon', '-5'])
    t.equal(retryAfterMs(useless, 3_600_000, now), null, `"${useless}" says nothing`);
  t.equal(
    tidyVendorText('a\n\u0000b  key https://x/y?z=1 end', { secrets: ['key', undefined, ''] }),
    'a b *** (address) end',
  );
});
