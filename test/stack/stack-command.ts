// Starts a media stack and prints its addresses as one line of JSON; runs until its standard input ends or it is told
// to end. For the test run, the demo and people:
//
//   ./trunkline node dist/test/stack/stack-command.js
//
// A line "leftovers" on standard input prints what is still on the media server, as one line of JSON, and ends it.
import { createInterface } from 'node:readline';
import { findLeftovers } from './leftovers.ts';
import { type OwnStack, type StackAddresses, startStack } from './start-stack.ts';

const commands = createInterface({ input: process.stdin });
const told = new Promise<'leftovers' | 'end'>((resolve) => {
  commands.on('line', (line) => line.trim() === 'leftovers' && resolve('leftovers'));
  commands.once('close', () => resolve('end'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => resolve('end'));
});

try {
  const stack = await startStack();
  process.stdout.write(`${JSON.stringify(addressesOf(stack))}\n`);
  if ((await told) === 'leftovers') {
    process.stdout.write(`${JSON.stringify(await findLeftovers(stack))}\n`);
  }
  await stack.stop();
} catch (error) {
  process.stderr.write(`the media stack could not be started: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
commands.close();
process.stdin.destroy();

function addressesOf(stack: OwnStack): StackAddresses {
  // Functions do not survive JSON, and only the addresses are left.
  return JSON.parse(JSON.stringify(stack)) as StackAddresses;
}
