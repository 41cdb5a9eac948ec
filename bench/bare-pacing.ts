import { connect } from 'node:net';
import { FRAME_MS, FRAME_SAMPLES } from '../src/contracts/limits.ts';
import { monotonicMs } from '../src/platform/clock.ts';

/**
 * The floor of frame pacing on this machine: a process that does nothing but send 20 ms frames on absolute deadlines
 * and throw away those that come, on a plain socket. What a slot costs beyond this is the product's own.
 *
 *   bare-pacing PORT
 */
const port = Number(process.argv[2]);
const frame = Buffer.alloc(FRAME_SAMPLES * 2, 1);

const socket = connect(port, '127.0.0.1', () => {
  socket.setNoDelay(true);
  let dueMs = monotonicMs();
  const tick = () => {
    socket.write(frame);
    dueMs += FRAME_MS;
    setTimeout(tick, Math.max(0, dueMs - monotonicMs()));
  };
  tick();
});
socket.on('data', () => undefined);
// The far end hangs up when the measurement is over.
socket.on('close', () => process.exit(0));
socket.on('error', () => process.exit(0));
