import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { BOT_ID_PATTERN } from '../contracts/http-names.ts';
import { SETTING_SECRET_NAMES, SETTING_VALUE_NAMES } from '../contracts/setting-names.ts';
import { AppError } from './app-error.ts';
import { isLoopbackHost, isSafeTransport } from './origins.ts';

/** Exit code for "a setting is wrong", so that a service manager does not restart in a loop (sysexits EX_CONFIG). */
export const EXIT_BAD_SETTING = 78;

export interface ListenAddress {
  host: string;
  port: number;
}

/** Boot settings (D-13), read once, frozen, then passed on. */
export interface Settings {
  readonly role: 'all' | 'worker' | 'control';
  readonly slots: number;
  readonly dataDir: string;
  readonly controlListen: ListenAddress;
  readonly fleetListen: ListenAddress;
  readonly baseUrl: string;
  /** Where others reach the recordings of this host; empty: the fleet port as it listens. */
  readonly recordingBaseUrl: string;
  readonly recordingLinkHours: number;
  /** The core secret that is sent; empty when there is none. */
  readonly coreSecret: string;
  /** Every core secret that is accepted: the one that is sent and, while it is being changed, the other one. */
  readonly coreSecrets: readonly string[];
  readonly configUrl: string;
  readonly wsAuth: WsAuth;
  readonly trustedOrigins: readonly string[];
  /** Networks of reverse proxies whose X-Forwarded-For counts (D-54). */
  readonly trustedProxies: readonly string[];
  /** Fleet doors that outbound calls are placed through; empty means the own one. */
  readonly fleetUrls: readonly string[];
  /** Called number to bot, in a worker; `*` answers every other number. */
  readonly didMap: Readonly<Record<string, string>>;
  /** System settings of the first start by their names in lower case; later starts read the store alone. */
  readonly seeds: Readonly<Record<string, string>>;
  readonly strictResults: boolean;
  /** How long a call may get a bot as it was before a change that did not come through the API. */
  readonly botCacheTtlSeconds: number;
  readonly logLevel: string;
  readonly modelDir: string;
  readonly models: 'optional' | 'required';
  readonly turnModel: 'slot' | 'off';
}

export type WsAuth =
  | { readonly kind: 'off' }
  | { readonly kind: 'secret' }
  | { readonly kind: 'networks'; readonly cidrs: readonly string[] };

/** Live values of the core secret: the new one and, until everybody has it, the old one. */
const MAX_CORE_SECRETS = 2;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks the environment. Throws `bad_setting` with one sentence that names the setting, what it holds and
 * what it may hold. `folder` is where relative paths begin.
 */
export function readSettings(env: Environment, folder: string, installFolder: string): Settings {
  const role = choice(env, 'ROLE', ['all', 'worker', 'control'] as const, 'all');
  const controlListen = address(env, 'CONTROL_LISTEN', '127.0.0.1:8080');
  const fleetListen = address(env, 'FLEET_LISTEN', '127.0.0.1:8090');
  const baseUrl = stripSlash(url(env, 'BASE_URL', `http://${hostPort(controlListen)}`));
  const coreSecrets = readCoreSecrets(env);
  const coreSecret = coreSecrets[0] ?? '';
  const wsAuth = readWsAuth(env);
  if (text(env, 'DATABASE_URL', '') !== '') {
    throw bad('DATABASE_URL', 'only the built-in LMDB store exists in this version; leave it empty');
  }
  choice(env, 'VAD_RUNTIME', ['onnx'] as const, 'onnx');
  const settings: Settings = {
    role,
    slots: integer(env, 'SLOTS', 16, 1, 512),
    dataDir: resolve(folder, text(env, 'DATA_DIR', './data')),
    controlListen,
    fleetListen,
    baseUrl,
    recordingBaseUrl:
      text(env, 'RECORDING_BASE_URL', '') === '' ? '' : stripSlash(url(env, 'RECORDING_BASE_URL', '')),
    recordingLinkHours: integer(env, 'RECORDING_LINK_HOURS', 168, 1, 87_600),
    coreSecret,
    coreSecrets,
    configUrl: text(env, 'CONFIG_URL', '') === '' ? '' : url(env, 'CONFIG_URL', ''),
    wsAuth,
    trustedOrigins: text(env, 'TRUSTED_ORIGINS', '')
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
      .map((part) => origin('TRUSTED_ORIGINS', part)),
    trustedProxies: text(env, 'TRUSTED_PROXIES', '')
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
    fleetUrls: readFleetUrls(env),
    didMap: readDidMap(env),
    seeds: readSeeds(env),
    strictResults: flag(env, 'STRICT_RESULTS'),
    botCacheTtlSeconds: integer(env, 'BOT_CACHE_TTL', 3_600, 1, 86_400),
    logLevel: choice(
      env,
      'LOG_LEVEL',
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const,
      'info',
    ),
    modelDir: resolve(folder, text(env, 'MODEL_DIR', resolve(installFolder, 'models'))),
    models: choice(env, 'MODELS', ['optional', 'required'] as const, 'optional'),
    turnModel: choice(env, 'TURN_MODEL', ['slot', 'off'] as const, 'slot'),
  };
  if (role === 'worker' && settings.configUrl === '') {
    throw bad('CONFIG_URL', 'ROLE=worker needs the URL of the control plane that serves call configs');
  }
  if (settings.strictResults && coreSecret === '') {
    throw bad('STRICT_RESULTS', 'results can only be held to the core secret when CORE_SECRET is set');
  }
  refuseOpenIngress(settings);
  return Object.freeze(settings);
}

/** An address that others can reach needs a secret and authenticated call sockets (D-54). */
function refuseOpenIngress(settings: Settings): void {
  const open: [string, ListenAddress, boolean][] = [
    ['CONTROL_LISTEN', settings.controlListen, settings.role !== 'worker'],
    ['FLEET_LISTEN', settings.fleetListen, settings.role !== 'control'],
  ];
  for (const [name, listen, used] of open) {
    if (!used || isLoopbackHost(listen.host)) continue;
    if (settings.coreSecret === '') {
      throw bad(
        name,
        `${hostPort(listen)} can be reached from other machines, so set CORE_SECRET (32 random characters or more) first`,
      );
    }
    if (name === 'FLEET_LISTEN' && settings.wsAuth.kind === 'off') {
      throw bad(
        name,
        `${hostPort(listen)} can be reached from other machines, so set WS_AUTH to "secret" or to the networks of your diallers`,
      );
    }
  }
}

/** `CORE_SECRET` may hold two values while it is being changed: the new one, a comma, the old one. */
function readCoreSecrets(env: Environment): readonly string[] {
  const value = text(env, 'CORE_SECRET', '');
  if (value === '') return [];
  const secrets = value.split(',').map((part) => part.trim());
  if (secrets.length > MAX_CORE_SECRETS || secrets.includes('')) {
    throw bad('CORE_SECRET', 'it holds one secret, or the new and the old one with a comma between them');
  }
  return Object.freeze(secrets);
}

/** More hosts than this are no fleet of one control plane. */
const MAX_FLEET_URLS = 64;

/** The core secret travels to these, so plain http is for loopback only. */
function readFleetUrls(env: Environment): readonly string[] {
  const parts = text(env, 'FLEET_URLS', '')
    .split(',')
    .map((part) => part.trim());
  const urls = parts.filter(Boolean).map((part) => {
    const base = stripSlash(part);
    const parsed = URL.canParse(base) ? new URL(base) : null;
    if (
      parsed?.username !== '' ||
      parsed.password !== '' ||
      parsed.search !== '' ||
      !isSafeTransport(parsed)
    ) {
      throw bad('FLEET_URLS', `"${part}" is neither an https URL nor an http URL on loopback`);
    }
    return base;
  });
  if (urls.length > MAX_FLEET_URLS) throw bad('FLEET_URLS', `it names at most ${MAX_FLEET_URLS} hosts`);
  return Object.freeze([...new Set(urls)]);
}

/** More numbers than this belong into a control plane. */
const MAX_DIDS = 1_000;

/** `DID_MAP` stands in for the control plane's map of numbers where there is none: `+911140001234=clinic,*=desk`. */
function readDidMap(env: Environment): Readonly<Record<string, string>> {
  const map: Record<string, string> = {};
  const parts = text(env, 'DID_MAP', '').split(',');
  for (const part of parts.map((part) => part.trim()).filter(Boolean)) {
    const [, number = '', bot = ''] = /^(\*|\+?[0-9]{2,32})\s*=\s*(\S+)$/.exec(part) ?? [];
    if (!BOT_ID_PATTERN.test(bot)) {
      throw bad('DID_MAP', `"${part}" is not a number and a bot like +911140001234=clinic or *=clinic`);
    }
    map[plainNumber(number)] = bot;
  }
  if (Object.keys(map).length > MAX_DIDS) throw bad('DID_MAP', `it names at most ${MAX_DIDS} numbers`);
  return Object.freeze(map);
}

/** A number as carriers write it and as people do: only its digits count. */
export function plainNumber(number: string): string {
  return number === '*' ? number : number.replace(/[^0-9]/g, '');
}

/** What they hold is checked where they are used, at the first start of a control plane. */
function readSeeds(env: Environment): Readonly<Record<string, string>> {
  const seeds: Record<string, string> = {};
  for (const name of [...SETTING_VALUE_NAMES, ...SETTING_SECRET_NAMES]) {
    const value = text(env, name.toUpperCase(), '');
    if (value !== '') seeds[name] = value;
  }
  return Object.freeze(seeds);
}

function readWsAuth(env: Environment): WsAuth {
  const value = text(env, 'WS_AUTH', 'off');
  if (value === 'off') return { kind: 'off' };
  if (value === 'secret') {
    if (text(env, 'CORE_SECRET', '') === '') throw bad('WS_AUTH', '"secret" needs CORE_SECRET to be set');
    return { kind: 'secret' };
  }
  const cidrs = value.split(',').map((part) => part.trim());
  for (const cidr of cidrs) {
    const parts = /^([0-9.]+|[0-9a-fA-F:.]+)\/(\d{1,3})$/.exec(cidr);
    const bits = Number(parts?.[2]);
    if (!parts || bits > (cidr.includes(':') ? 128 : 32)) {
      throw bad('WS_AUTH', `"${cidr}" is neither "off", "secret" nor a network like 10.0.0.0/8`);
    }
  }
  return { kind: 'networks', cidrs };
}

/** How many slots a machine of this size should be tried with first; doctor's advice, not a limit. */
export function suggestedSlots(): number {
  return Math.max(1, 4 * availableParallelism());
}

export function hostPort(listen: ListenAddress): string {
  return listen.host.includes(':') ? `[${listen.host}]:${listen.port}` : `${listen.host}:${listen.port}`;
}

function bad(name: string, sentence: string): AppError {
  return new AppError('bad_setting', `${name}: ${sentence}`, { details: { setting: name } });
}

function text(env: Environment, name: string, otherwise: string): string {
  return env[name]?.trim() ?? otherwise;
}

function choice<const T extends readonly string[]>(
  env: Environment,
  name: string,
  allowed: T,
  otherwise: T[number],
): T[number] {
  const value = text(env, name, otherwise);
  if (!allowed.includes(value)) throw bad(name, `"${value}" is not one of ${allowed.join(', ')}`);
  return value;
}

function integer(env: Environment, name: string, otherwise: number, from: number, to: number): number {
  const value = text(env, name, String(otherwise));
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < from || number > to) {
    throw bad(name, `"${value}" is not a whole number from ${from} to ${to}`);
  }
  return number;
}

function flag(env: Environment, name: string): boolean {
  return (
    choice(env, name, ['0', '1', 'true', 'false', ''] as const, '0') === '1' || text(env, name, '') === 'true'
  );
}

function address(env: Environment, name: string, otherwise: string): ListenAddress {
  const value = text(env, name, otherwise);
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]+)):(\d{1,5})$/.exec(value);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (!host || port > 65_535) throw bad(name, `"${value}" is not an address like 127.0.0.1:8080`);
  return { host, port };
}

function url(env: Environment, name: string, otherwise: string): string {
  const value = text(env, name, otherwise);
  const parsed = URL.canParse(value) ? new URL(value) : undefined;
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    throw bad(name, `"${value}" is not an http or https URL`);
  }
  if (parsed.username || parsed.password)
    throw bad(name, 'credentials do not belong into a URL; they end up in logs');
  return value;
}

function origin(name: string, value: string): string {
  const parsed = URL.canParse(value) ? new URL(value) : undefined;
  if (!parsed || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw bad(name, `"${value}" is not an origin like https://calls.example.org`);
  }
  return parsed.origin;
}

function stripSlash(value: string): string {
  return value.replace(/\/+$/, '');
}
