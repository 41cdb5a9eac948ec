import pino from 'pino';

/**
 * One JSON line per event, straight to the inherited standard output: slots share main's descriptor and never write
 * through a pipe that main owns, which would break with main (D-8). No transport threads.
 *
 * Ids stand under the same keys everywhere: `session_id`, `call_id`, `slot`. Telephone numbers are masked by
 * {@link maskNumber} at the call that logs them.
 */
export type Logger = pino.Logger;

export function createLogger(options: { level: string; role: string; slot?: number }): Logger {
  const destination = pino.destination({ fd: 1, sync: true });
  // A log reader that went away must not take a call with it.
  destination.on('error', () => undefined);
  return pino(
    {
      level: options.level,
      base: {
        role: options.role,
        pid: process.pid,
        ...(options.slot === undefined ? {} : { slot: options.slot }),
      },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: ['*.api_key', '*.coreSecret', 'coreSecret', 'headers["x-core-secret"]'],
        censor: '[secret]',
      },
    },
    destination,
  );
}

/** `+911234567890` as `********7890`: enough to find a call, too little to dial it. */
export function maskNumber(number: string | null | undefined): string {
  if (!number) return '';
  return number.length <= 4 ? '****' : `${'*'.repeat(number.length - 4)}${number.slice(-4)}`;
}
