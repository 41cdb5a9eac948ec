import { CALL_EVENTS } from '../../src/contracts/call-events.ts';

/** Keys of an event that its catalogue entry does not name: what a reader of the documentation could not know. */
export function undocumentedKeys(event: { event: string; [key: string]: unknown }): string[] {
  const known: readonly string[] | undefined = (CALL_EVENTS as Record<string, readonly string[]>)[
    event.event
  ];
  if (!known) return [`event ${event.event}`];
  return Object.keys(event).filter((key) => key !== 'event' && key !== 'ts' && !known.includes(key));
}
