import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { ADMIN } from '../http/authenticate.ts';
import { type AnyRoute, route } from '../http/route.ts';
import type { SystemSettings } from '../settings/system-settings.ts';
import { mediaAccess, publicMediaUrl } from './media-access.ts';
import type { TrunkStore } from './trunk-store.ts';
import type { TrunkSync } from './trunk-sync.ts';

export interface MediaServerRouteParts {
  settings: () => Promise<SystemSettings>;
  trunks: Pick<TrunkStore, 'all'>;
  sync: TrunkSync;
}

/** Each look makes two rooms and a call to nobody. */
const LOOKS_PER_MINUTE = 30;

const Check = Type.Object(
  {
    name: Type.String(),
    status: Type.Union([Type.Literal('ok'), Type.Literal('warn'), Type.Literal('fail')]),
    text: Type.String(),
    advice: Type.Optional(Type.String({ description: 'What to do about it' })),
  },
  { title: 'MediaCheck' },
);
type Finding = { name: string; status: 'ok' | 'warn' | 'fail'; text: string; advice?: string };

/** `POST /api/v1/media-server/check`: what `trunkline doctor` tells of the media server, with the keys of the settings. */
export function mediaServerRoute(parts: MediaServerRouteParts): AnyRoute {
  return route({
    method: 'POST',
    path: `${API_PREFIX}/media-server/check`,
    operationId: 'checkMediaServer',
    summary: 'Look at the media server as calls use it',
    description:
      'Whether it answers, takes the key, lets browsers join at the public address, has a living SIP service, and holds the trunks as they stand here. Whatever is found is a 200.',
    tag: 'Settings',
    auth: ADMIN,
    rateLimit: LOOKS_PER_MINUTE,
    responses: {
      200: {
        description: 'What was found; nothing where no media server is set up',
        schema: Type.Object({ configured: Type.Boolean(), checks: Type.Array(Check) }),
      },
    },
    async handler() {
      const settings = await parts.settings();
      const access = mediaAccess(settings);
      const publicUrl = publicMediaUrl(settings);
      if (access === null || publicUrl === null) {
        return { status: 200, json: { configured: false, checks: halfSet(settings) } };
      }
      const { checkMediaServer } = await import('../../platform/media-probe.ts');
      const found: Finding[] = await checkMediaServer(access, publicUrl);
      const checks = [...found, ...(await trunkFindings(parts))];
      return { status: 200, json: { configured: true, checks } };
    },
  });
}

/** An address without its keys, or keys without the address, is a mistake; none of them is a choice. */
function halfSet(settings: SystemSettings): Finding[] {
  const parts = {
    livekit_url: settings.values.livekit_url,
    livekit_api_key: settings.secret('livekit_api_key'),
    livekit_api_secret: settings.secret('livekit_api_secret'),
  };
  const missing = Object.entries(parts).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length === Object.keys(parts).length) return [];
  const text = `${missing.join(' and ')} missing`;
  return [{ name: 'media server', status: 'fail', text, advice: 'set all three in the system settings' }];
}

async function trunkFindings({ trunks, sync }: MediaServerRouteParts): Promise<Finding[]> {
  await sync.run();
  const all = await trunks.all();
  return all.map((trunk): Finding => {
    const { state, error } = sync.state(trunk);
    const name = `trunk ${trunk.name}`;
    if (state === 'in_sync')
      return { name, status: 'ok', text: 'stands in the media server as it does here' };
    if (state === 'off') return { name, status: 'ok', text: 'is switched off, or has no numbers' };
    const text = error ?? 'is not in the media server yet';
    return {
      name,
      status: 'warn',
      text,
      advice: 'GET /api/v1/trunks shows it; the next try comes by itself',
    };
  });
}
