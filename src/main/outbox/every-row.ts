import type { Table } from '../../platform/key-value-store.ts';

/** Rows that are read from the store in one go while the appliance starts. */
const PAGE = 500;

/** Every row of an outbox, oldest key first, read page by page so that the event loop gets its turns. */
export async function* everyRow<T extends { callId: string }>(rows: Table<T>): AsyncGenerator<T> {
  let after: string | undefined;
  for (;;) {
    const page = rows.range({
      limit: PAGE,
      ...(after === undefined ? {} : { start: after, exclusiveStart: true }),
    });
    for (const { value } of page) yield value;
    if (page.length < PAGE) return;
    after = page.at(-1)?.value.callId;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
