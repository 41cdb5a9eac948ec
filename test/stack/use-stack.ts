import { randomInt } from 'node:crypto';
import { RoomServiceClient } from 'livekit-server-sdk';
import tap from 'tap';
import {
  type OwnStack,
  type Stack,
  type StackAddresses,
  type StackOptions,
  startStack,
} from './start-stack.ts';
import { registerWebhookTarget } from './webhook-relay.ts';

/** What is needed of a test: to be told when it is over. */
export interface Test {
  teardown(end: () => unknown): unknown;
}

/** Holds the addresses of the stack that the test run shares, as JSON; set by test/run.mjs, or by a person. */
export const SHARED_STACK_VARIABLE = 'STACK_ADDRESSES';

let alone: Promise<OwnStack> | undefined;

/**
 * The media stack that test files share: that of the test run, or, for a file that is run by itself, one that this
 * process starts once and stops at its end. Use names of rooms and numbers that nobody else has, and kill nothing.
 */
export async function useStack(_t: Test): Promise<Stack> {
  const shared = process.env[SHARED_STACK_VARIABLE];
  if (shared) {
    const addresses = JSON.parse(shared) as StackAddresses;
    return { ...addresses, sendWebhooksTo: (url) => registerWebhookTarget(addresses.webhookRelayUrl, url) };
  }
  if (!alone) {
    alone = startStack();
    const started = alone;
    tap.teardown(async () => (await started).stop());
  }
  return alone;
}

/** A stack for this test alone, whose parts it may kill; stopped when the test is over. */
export async function ownStack(t: Test, options: StackOptions = {}): Promise<OwnStack> {
  const stack = await startStack(options);
  t.teardown(() => stack.stop());
  return stack;
}

/** A room name that no other test has; whoever is still in that room at the end of the test is sent away. */
export function uniqueRoom(t: Test, stack: StackAddresses, prefix: string): string {
  const name = `${prefix}-${process.pid}-${randomInt(1_000_000_000)}`;
  t.teardown(async () => {
    const rooms = new RoomServiceClient(stack.url, stack.apiKey, stack.apiSecret);
    // It was seldom made, or is closed already; and a private stack may be gone.
    await rooms.deleteRoom(name).catch(() => undefined);
  });
  return name;
}

/** A number in a range that is not given to anyone, different in each test. */
export function uniqueNumber(): string {
  return `+1555${randomInt(10_000_000).toString().padStart(7, '0')}`;
}
