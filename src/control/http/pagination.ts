import { type TSchema, Type } from 'typebox';
import { invalidQuery } from './validation-issues.ts';

/** Page size where the caller names none, and at most (D-28). */
export const DEFAULT_PAGE = 50;
export const MAX_PAGE = 200;
/** No list of ours gives out a longer one. */
const MAX_CURSOR_CHARS = 1_000;
/** No list of ours is in the order of longer ids. */
const MAX_ID_CHARS = 64;

/** The two query fields that every list takes; spread them into the query schema of the route. */
export const PAGE_QUERY = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE,
      description: `Items on a page; ${DEFAULT_PAGE} where nothing is said`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({ description: '`next_cursor` of the page before, as it was given out' }),
  ),
};

/** Schema of a page of `item`. */
export function Page<T extends TSchema>(item: T) {
  return Type.Object({
    items: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
    has_more: Type.Boolean(),
  });
}

/**
 * A page out of what a store found when it was asked for one more than `limit`: the extra one tells that there is more.
 * `position` names where an item stands in the list, for the cursor.
 */
export function pageOf<Item, View>(
  found: readonly Item[],
  limit: number,
  view: (item: Item) => View,
  position: (item: Item) => unknown,
): { items: View[]; next_cursor: string | null; has_more: boolean } {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return {
    items: items.map((item) => view(item)),
    next_cursor: hasMore ? encodeCursor(position(last)) : null,
    has_more: hasMore,
  };
}

/** A place in a list as an opaque string. `position` must be plain JSON. */
export function encodeCursor(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** The place again, unchecked: the list decides whether it is one of its own. Throws `validation_error`. */
export function decodeCursor(cursor: string): unknown {
  try {
    if (cursor.length > MAX_CURSOR_CHARS) throw badCursor();
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw badCursor();
  }
}

/** Where a list in the order of creation goes on. */
export interface CreatedPosition {
  created_at: string;
  id: string;
}

/** The cursor `[created_at, id]`. Throws `validation_error`. */
export function readCreatedPosition(cursor: string): CreatedPosition {
  const position = decodeCursor(cursor);
  const [created_at, id, ...more] = Array.isArray(position) ? (position as unknown[]) : [];
  if (typeof created_at !== 'string' || typeof id !== 'string' || more.length > 0) throw badCursor();
  return { created_at, id };
}

/** The cursor of a list in the order of its ids. Throws `validation_error`. */
export function readTextPosition(cursor: string): string {
  const position = decodeCursor(cursor);
  if (typeof position !== 'string' || position === '' || position.length > MAX_ID_CHARS) throw badCursor();
  return position;
}

/** The cursor of a list in the order of a number that counts from one. Throws `validation_error`. */
export function readCountPosition(cursor: string): number {
  const position = decodeCursor(cursor);
  if (typeof position !== 'number' || !Number.isSafeInteger(position) || position < 1) throw badCursor();
  return position;
}

/** What a list throws for a cursor that decodes to no place of its own. */
export function badCursor() {
  return invalidQuery('cursor', 'cursor is not one that this list has given out');
}
