import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_PREFIX } from '../contracts/http-names.ts';
import { OPERATOR_FILE, type OperatorFile } from '../contracts/operator-file.ts';
import { AppError, describeError } from '../platform/app-error.ts';
import type { Settings } from '../platform/settings.ts';

/** Users and the audit log, for whoever works on the machine: through the running plane, or on its store. */
export interface OperatorAccount {
  users(): Promise<CliUser[]>;
  create(wanted: { email: string; name: string; role: string; password?: string }): Promise<CliUserAndLink>;
  reset(id: string): Promise<CliUserAndLink>;
  setDisabled(id: string, disabled: boolean): Promise<CliUser>;
  verifyAudit(anchor?: { seq: number; hash: string }): Promise<AuditVerdict>;
  close(): Promise<void>;
}

/** What a check of the audit log has found. */
export interface AuditVerdict {
  ok: boolean;
  checked: number;
  head: { seq: number; hash: string } | null;
  problems: { seq: number; sentence: string }[];
}

/** The part of a user that the command line shows. */
export interface CliUser {
  id: string;
  email: string;
  name: string;
  role: string;
  state: string;
  totp_enabled: boolean;
  created_at: string;
  last_login_at: string | null;
}

export interface CliUserAndLink {
  user: CliUser;
  /** Where the person chooses a password. */
  link: string | null;
}

const PAGE = 200;
const ANSWER_MS = 30_000;

/**
 * Opens the store itself, or where a running plane has it, talks to that one. Throws `store_unavailable` when neither
 * works.
 */
export async function openOperatorAccount(settings: Settings): Promise<OperatorAccount> {
  if (!existsSync(join(settings.dataDir, 'store'))) {
    throw new AppError(
      'store_unavailable',
      `there is no store in ${settings.dataDir}; set DATA_DIR, or start the appliance once`,
    );
  }
  try {
    return await offline(settings);
  } catch (error) {
    const running = error instanceof AppError && error.code === 'store_unavailable' && 'pid' in error.details;
    if (!running) throw error;
    return online(readOperatorFile(settings.dataDir, error));
  }
}

async function offline(settings: Settings): Promise<OperatorAccount> {
  // Loaded on demand: it brings the database along.
  const { openOfflineAccounts } = await import('../control/accounts/offline-accounts.ts');
  const accounts = openOfflineAccounts(settings.dataDir);
  const withLink = (made: { user: CliUser; passwordToken: string | null }): CliUserAndLink => ({
    user: made.user,
    link: made.passwordToken && `${settings.baseUrl}/choose-password#token=${made.passwordToken}`,
  });
  return {
    async users() {
      const all: CliUser[] = [];
      for (;;) {
        const last = all.at(-1);
        const page = await accounts.list({ limit: PAGE, ...(last ? { after: last } : {}) });
        all.push(...page);
        if (page.length < PAGE) return all;
      }
    },
    create: async (wanted) => withLink(await accounts.create({ ...wanted, role: roleOf(wanted.role) })),
    reset: async (id) => withLink(await accounts.reset(id)),
    setDisabled: (id, disabled) => accounts.setDisabled(id, disabled),
    verifyAudit: (anchor) => accounts.verifyAudit(anchor ? { anchor } : {}),
    close: () => accounts.close(),
  };
}

function online(file: OperatorFile): OperatorAccount {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${file.url}${API_PREFIX}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${file.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const json = (await answer.json()) as unknown;
    if (!answer.ok) {
      throw new AppError(
        'conflict',
        (json as { detail?: string }).detail ?? `the plane says ${answer.status}`,
      );
    }
    return json as T;
  };
  const withLink = (made: { user: CliUser; password_url: string | null }): CliUserAndLink => ({
    user: made.user,
    link: made.password_url,
  });
  return {
    async users() {
      const all: CliUser[] = [];
      let cursor: string | null = null;
      do {
        const query = new URLSearchParams({ limit: String(PAGE), ...(cursor === null ? {} : { cursor }) });
        const page: { items: CliUser[]; next_cursor: string | null } = await ask('GET', `/users?${query}`);
        all.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return all;
    },
    create: async (wanted) => withLink(await ask('POST', '/users', wanted)),
    reset: async (id) => withLink(await ask('POST', `/users/${id}/reset`)),
    setDisabled: (id, disabled) => ask('PATCH', `/users/${id}`, { disabled }),
    verifyAudit: (anchor) =>
      ask('GET', `/audit-log/verify${anchor ? `?anchor_seq=${anchor.seq}&anchor_hash=${anchor.hash}` : ''}`),
    close: async () => undefined,
  };
}

function readOperatorFile(dataDir: string, cause: unknown): OperatorFile {
  try {
    return JSON.parse(readFileSync(join(dataDir, OPERATOR_FILE), 'utf8')) as OperatorFile;
  } catch (error) {
    throw new AppError(
      'store_unavailable',
      `a running process has the store, and its file ${OPERATOR_FILE} cannot be read (${describeError(error)}); run this as the user of the service`,
      { cause },
    );
  }
}

const ROLES = ['admin', 'supervisor', 'agent', 'analyst'] as const;

/** Throws `validation_error`. */
export function roleOf(text: string): (typeof ROLES)[number] {
  const role = ROLES.find((known) => known === text);
  if (role) return role;
  throw new AppError('validation_error', `"${text}" is no role; there are ${ROLES.join(', ')}`);
}
