/** One line of the doctor. A `warn` still lets calls run; a `fail` does not, or loses something. */
export interface Finding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  text: string;
  /** What to do about it; every warn and fail has one. */
  advice?: string;
}
