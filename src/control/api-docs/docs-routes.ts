import { Type } from 'typebox';
import { API_PREFIX } from '../../contracts/http-names.ts';
import type { HttpReply } from '../../platform/http-server.ts';
import { projectPath } from '../../platform/project-paths.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { type OpenApiDocument, openApiDocument } from './openapi.ts';

export interface DocsParts {
  /** All routes of the plane, these here included; asked for when the document is first read. */
  routes: () => readonly AnyRoute[];
  version: string;
  baseUrl: () => string;
  fleetUrl: string;
}

export const OPENAPI_PATH = `${API_PREFIX}/openapi.json`;
export const DOCS_PATH = `${API_PREFIX}/docs`;

/** The page runs its own files and asks its own origin, nothing else; its pictures are data URLs in the style sheet. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const FILES: Readonly<Record<string, { file: string; type: string }>> = {
  'swagger-ui.css': { file: 'swagger-ui-dist/swagger-ui.css', type: 'text/css; charset=utf-8' },
  'swagger-ui-bundle.js': {
    file: 'swagger-ui-dist/swagger-ui-bundle.js',
    type: 'text/javascript; charset=utf-8',
  },
};

/** `/api/v1/openapi.json`, and the page that shows it with a viewer from this machine. */
export function docsRoutes(parts: DocsParts): AnyRoute[] {
  let document: OpenApiDocument | undefined;
  const page = (path: string, operationId: string, handler: () => Promise<HttpReply>) =>
    route({
      method: 'GET',
      path,
      operationId,
      summary: 'Part of the documentation page',
      tag: 'docs',
      auth: { kind: 'public' },
      hidden: true,
      responses: { 200: { description: 'Part of the page', contentType: 'text/html' } },
      handler,
    });
  return [
    route({
      method: 'GET',
      path: OPENAPI_PATH,
      operationId: 'getOpenApi',
      summary: 'This document',
      tag: 'docs',
      auth: { kind: 'public' },
      cors: true,
      responses: {
        200: {
          description: 'The OpenAPI 3.1 document',
          schema: Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
        },
      },
      handler: async () => {
        document ??= openApiDocument({
          routes: parts.routes(),
          version: parts.version,
          baseUrl: parts.baseUrl(),
          fleetUrl: parts.fleetUrl,
        });
        return { status: 200, json: document };
      },
    }),
    page(DOCS_PATH, 'getDocsPage', async () => ({
      status: 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'referrer-policy': 'no-referrer',
      },
      body: PAGE,
    })),
    page(`${DOCS_PATH}/start.js`, 'getDocsStart', async () => ({
      status: 200,
      headers: { 'content-type': 'text/javascript; charset=utf-8' },
      body: START,
    })),
    ...Object.entries(FILES).map(([name, { file, type }]) =>
      page(`${DOCS_PATH}/${name}`, `getDocsFile_${name.replaceAll(/\W/g, '_')}`, async () => ({
        status: 200,
        headers: { 'content-type': type, 'cache-control': 'public, max-age=3600' },
        file: { path: projectPath(`node_modules/${file}`) },
      })),
    ),
  ];
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trunkline API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${DOCS_PATH}/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<noscript>This page needs JavaScript. The document itself is at <a href="${OPENAPI_PATH}">${OPENAPI_PATH}</a>.</noscript>
<script src="${DOCS_PATH}/swagger-ui-bundle.js"></script>
<script src="${DOCS_PATH}/start.js"></script>
</body>
</html>
`;

/** Without the validator badge and the query configuration, which would lead to other sites. */
const START = `SwaggerUIBundle({
  url: '${OPENAPI_PATH}',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  queryConfigEnabled: false,
  validatorUrl: null,
});
`;
