/**
 * Versions of what outlives one process or crosses between two of them.
 * An unknown version is refused with a sentence (D-6); a change of shape raises the number.
 */
export const SLOT_MESSAGES_VERSION = 3;
export const SPOOL_VERSION = 1;
export const STORE_VERSION = 2;
/** The oldest store that the migrations can lead to the present one. */
export const OLDEST_STORE_VERSION = 1;
