import { Compile } from 'typebox/compile';
import { SETTING_SECRET_NAMES, SETTING_VALUE_NAMES } from '../../contracts/setting-names.ts';
import { SettingsChange, SystemValues } from '../../contracts/system-settings.ts';
import { AppError } from '../../platform/app-error.ts';
import { parseNetwork } from '../../platform/guarded-http/network.ts';
import { issue, type ValidationIssue } from '../../platform/http-server/schema-check.ts';
import { usableTimezone } from '../../platform/local-time.ts';
import { isSafeTransport } from '../../platform/origins.ts';
import { readOrigin } from '../../providers/provider-place.ts';

/** What the schema cannot say: a time zone exists, a network can be read, an address is safe. Names no secret. */
export function valueIssues(values: Partial<SystemValues>): ValidationIssue[] {
  const found: ValidationIssue[] = [];
  const wrong = (name: string, sentence: string) =>
    found.push(issue('body', `/values/${name}`, sentence, 'value'));
  if (values.display_timezone !== undefined && !usableTimezone(values.display_timezone).known) {
    wrong('display_timezone', 'there is no such time zone; use a name like Asia/Kolkata');
  }
  for (const [index, text] of (values.outbound_allowed_networks ?? []).entries()) {
    if (!parseNetwork(text)) {
      wrong(`outbound_allowed_networks/${index}`, 'this is no network; write it like 10.20.0.0/16');
    }
  }
  for (const [index, text] of (values.provider_origins ?? []).entries()) {
    if (readOrigin(text) === null) {
      wrong(`provider_origins/${index}`, 'this is no origin; write it like https://stt.example.com:8443');
    }
  }
  for (const name of ['livekit_url', 'livekit_public_url', 's3_endpoint'] as const) {
    const text = values[name];
    if (typeof text === 'string' && !URL.canParse(text)) wrong(name, 'this is no URL');
  }
  const { livekit_public_url: publicUrl } = values;
  // Browsers open microphones on secure pages only, and those open secure sockets only.
  if (publicUrl && URL.canParse(publicUrl) && !isSafeTransport(new URL(publicUrl.replace(/^ws/, 'http')))) {
    wrong('livekit_public_url', 'browsers reach only wss:// or https:// addresses, or loopback');
  }
  return found;
}

const change = Compile(SettingsChange);

/**
 * The first settings from the environment. Throws `bad_setting` that names the variable, never what it holds: it may be
 * a secret.
 */
export function readSeeds(seeds: Readonly<Record<string, string>>): SettingsChange {
  const values: Record<string, unknown> = {};
  const secrets: Record<string, string> = {};
  for (const name of SETTING_VALUE_NAMES) {
    const text = seeds[name];
    if (text !== undefined) values[name] = typed(name, text);
  }
  for (const name of SETTING_SECRET_NAMES) {
    const text = seeds[name];
    if (text !== undefined) secrets[name] = text;
  }
  for (const [part, fields] of Object.entries({ values, secrets })) {
    for (const [name, value] of Object.entries(fields)) {
      const [error] = change.Errors({ [part]: { [name]: value } });
      if (error) throw badSeed(name, error.message);
    }
  }
  const [wrong] = valueIssues(values as Partial<SystemValues>);
  if (wrong) throw badSeed(String(wrong.loc[2]), wrong.msg);
  return { values, secrets } as SettingsChange;
}

/** The text of an environment variable as the type that the schema of the setting asks for. */
function typed(name: (typeof SETTING_VALUE_NAMES)[number], text: string): unknown {
  const schema = JSON.stringify(SystemValues.properties[name]);
  if (schema.includes('"integer"')) return /^\d{1,9}$/.test(text) ? Number(text) : text;
  if (schema.includes('"boolean"')) return BOOLEANS[text.toLowerCase()] ?? text;
  if (schema.includes('"array"')) return text.split(',').map((part) => part.trim());
  return text;
}

const BOOLEANS: Readonly<Record<string, boolean>> = { '1': true, true: true, '0': false, false: false };

function badSeed(name: string, what: string): AppError {
  const variable = name.toUpperCase();
  return new AppError('bad_setting', `${variable}: what it holds does not fit (${what})`, {
    details: { setting: variable },
  });
}
