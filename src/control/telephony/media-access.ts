import type { MediaServerAccess } from '../../contracts/rooms.ts';
import { socketUrl } from '../../platform/media-server.ts';
import type { SystemSettings } from '../settings/system-settings.ts';

/** The media server as this host reaches it; null where a part of it is not set. */
export function mediaAccess(settings: SystemSettings): MediaServerAccess | null {
  const url = settings.values.livekit_url;
  const apiKey = settings.secret('livekit_api_key');
  const apiSecret = settings.secret('livekit_api_secret');
  return url && apiKey && apiSecret ? { url, apiKey, apiSecret } : null;
}

/** `server_url` of browsers (D-43): they join on ws whatever way the setting is written. */
export function publicMediaUrl({ values }: SystemSettings): string | null {
  const url = values.livekit_public_url ?? values.livekit_url;
  return url === null ? null : socketUrl(url);
}
