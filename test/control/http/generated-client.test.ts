import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import t from 'tap';
import { projectPath } from '../../../src/platform/project-paths.ts';
import { Appliance } from '../../harness/appliance.ts';

t.setTimeout(280_000);
const CORE_SECRET = 'correct horse battery staple';
const appliance = await Appliance.start({ SLOTS: '1', CORE_SECRET });
// Inside the project, so that the client finds its libraries.
mkdirSync(projectPath('.cache'), { recursive: true });
const folder = mkdtempSync(projectPath('.cache/client-'));
t.teardown(async () => {
  rmSync(folder, { recursive: true, force: true });
  await appliance.destroy();
});

const plane = `http://127.0.0.1:${appliance.controlPort}`;
const addresses = {
  plane,
  fleet: `http://127.0.0.1:${appliance.fleetPort}`,
  sockets: appliance.callUrl,
  coreSecret: CORE_SECRET,
  setupToken: /setup#token=(\S+)/.exec(appliance.log)?.[1] ?? '',
};

const SCENARIO = 'client-scenario.mts';
const STRICT = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024', '--lib', 'es2024,dom'];
const MODULES = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--allowImportingTsExtensions'];

t.test('a client that is generated from the API document compiles in strict mode', async (t) => {
  const document = await (await fetch(`${plane}/api/v1/openapi.json`)).text();
  writeFileSync(join(folder, 'generated.ts'), astToString(await openapiTS(document)));
  copyFileSync(projectPath(`test/control/http/fixtures/${SCENARIO}`), join(folder, SCENARIO));
  const compiler = projectPath('node_modules/typescript-7/bin/tsc');
  const program = [compiler, ...STRICT, ...MODULES, '--ignoreConfig', join(folder, SCENARIO)];
  try {
    execFileSync(process.execPath, program, { encoding: 'utf8', cwd: folder });
    t.pass();
  } catch (error) {
    t.fail((error as { stdout: string }).stdout);
  }
});

t.test('an orchestrator and a dialler written from the API document alone do their work', async (t) => {
  const client = (await import(pathToFileURL(join(folder, SCENARIO)).href)) as Scenario;
  const { botId, apiKey } = await client.administer(addresses);
  const heard = await client.dial(addresses, botId);
  t.match(heard.sessionId, /^[0-9a-f-]{36}$/);
  t.ok(heard.mediaFrames >= 20, `${heard.mediaFrames} frames of the bot`);
  const record = await client.readRecord(addresses, apiKey, heard.sessionId);
  t.match(record, {
    status: 'completed',
    bot_id: 'mine',
    stream_id: 'stream-7',
    disconnected_by: 'customer',
  });

  const own = await client.orchestrate(addresses, botId);
  t.match(own, { first: 'ok', again: 'duplicate', refusal: ['/call_duration_seconds'] });
  t.ok(own.listed.includes(own.sessionId));
  t.ok(own.listed.includes(heard.sessionId));
});

t.test('the fleet ingress answers what the API document says of it', async (t) => {
  const document = (await (await fetch(`${plane}/api/v1/openapi.json`)).json()) as {
    paths: Record<string, { post?: Described; get?: Described }>;
  };
  const documented = (path: string, method: 'get' | 'post') =>
    Object.keys(document.paths[path]?.[method]?.responses ?? {}).map(Number);
  const dial = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${addresses.fleet}/rtc/dialout`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-core-secret': CORE_SECRET, ...headers },
      body,
    });
  const wanted = JSON.stringify({ bot_id: 'demo', to_number: '+911140001234' });
  const answers: [Response, number][] = [
    [await dial(wanted, { 'x-core-secret': 'wrong' }), 403],
    [await dial('{'), 400],
    [await dial('{}'), 422],
    [await dial(wanted, { 'content-type': 'text/plain' }), 415],
    [await dial(`{"bot_id":"${'x'.repeat(2_000_000)}"}`), 413],
    [await dial(wanted), 503],
  ];
  for (const [answer, status] of answers) {
    t.equal(answer.status, status);
    t.ok(documented('/rtc/dialout', 'post').includes(answer.status), `${status} is documented`);
    t.match(await answer.json(), { error: String, code: String });
  }
  const sockets = await fetch(`${addresses.fleet}/ws/demo`);
  t.equal(sockets.status, 400);
  t.ok(documented('/ws/{bot_id}', 'get').includes(400));
  const health = await fetch(`${addresses.fleet}/health/fleet`);
  t.ok(documented('/health/fleet', 'get').includes(health.status));
});

/** What the scenario exports; its own types are checked with the generated ones, not here. */
interface Scenario {
  administer(addresses: object): Promise<{ botId: string; apiKey: string }>;
  dial(addresses: object, botId: string): Promise<{ sessionId: string; mediaFrames: number }>;
  readRecord(addresses: object, apiKey: string, sessionId: string): Promise<object>;
  orchestrate(
    addresses: object,
    botId: string,
  ): Promise<{ sessionId: string; first: string; again: string; listed: string[]; refusal: string[] }>;
}

interface Described {
  responses: Record<string, unknown>;
}
