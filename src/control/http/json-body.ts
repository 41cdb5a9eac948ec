import { AppError } from '../../platform/app-error.ts';

export { readJson } from '../../platform/strict-json.ts';

/** Throws `unsupported_media_type` unless the header names JSON or nothing. */
export function requireJsonType(contentType: string | undefined): void {
  if (contentType === undefined || /^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i.test(contentType)) return;
  throw new AppError('unsupported_media_type', 'this route takes application/json');
}
