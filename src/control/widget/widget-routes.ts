import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { type WidgetTokenParts, widgetToken } from './widget-token.ts';

const PATH = `${API_PREFIX}/widget/token`;
/** The key, the id and a context of 8 KB with the escapes that JSON may need. */
const MAX_BODY_BYTES = 32_768;

const WidgetTokenRequest = Type.Object(
  {
    bot_id: Type.String(),
    api_key: Type.String({ description: 'Widget key of the bot; `rotate-widget-key` makes one' }),
    context: Type.Optional(
      Type.Unknown({
        description:
          'What the page tells about the visitor, `{{call.name}}` in prompts: at most 50 texts, numbers and booleans. Names that begin with `_`, or that the platform uses itself, are dropped',
      }),
    ),
  },
  // Looked at by the handler: a wrong key is told before a mistake in the rest (D-25).
  { title: 'WidgetTokenRequest', additionalProperties: true },
);

/** `POST /api/v1/widget/token` (R136, R137). The preflight of the same path comes with `cors`. */
export function widgetRoutes(parts: WidgetTokenParts): AnyRoute[] {
  return [
    route({
      method: 'POST',
      path: PATH,
      operationId: 'createWidgetToken',
      summary: 'Begin a browser call: a token for the room in which the bot waits',
      description:
        'Public, and answered to pages of any origin. Join `server_url` with the token within two minutes. Ten requests a minute from one address, sixty for one bot.',
      tag: 'Widget',
      auth: { kind: 'public' },
      cors: true,
      body: {
        schema: WidgetTokenRequest,
        maxBytes: MAX_BODY_BYTES,
        example: { bot_id: 'demo', api_key: 'wk_of_the_bot' },
      },
      responses: {
        201: {
          description: 'The bot is in the room',
          schema: Type.Object(
            {
              server_url: Type.String({ description: 'Media server as browsers reach it' }),
              participant_token: Type.String({ description: 'JWT for this one room' }),
            },
            { title: 'WidgetToken', additionalProperties: false },
          ),
        },
        401: { description: 'The bot has no widget key, or another one' },
        403: { description: 'The page is not among the origins that the bot allows' },
        404: { description: 'There is no bot with this id' },
        500: { description: 'The token could not be made' },
        503: {
          description: 'No fleet server brings the bot into the room',
          headers: { 'Retry-After': 'Seconds; absent where trying again would not help' },
        },
      },
      async handler(request) {
        // Both are asked for now: once the visitor has gone they cannot be had.
        const { remoteAddress, signal } = request;
        const body = request.body as { bot_id: string; api_key: string };
        const token = await widgetToken(parts, { body, headers: request.headers, remoteAddress, signal });
        return { status: 201, json: token };
      },
    }),
  ];
}
