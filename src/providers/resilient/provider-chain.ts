import type { ProviderFamily } from '../../contracts/provider-health.ts';
import type { ProviderConfig } from '../../contracts/runtime-config.ts';
import { AppError, describeError } from '../../platform/app-error.ts';
import type { ProviderContext } from '../contract/provider-context.ts';
import { type FailureClass, failureClass, type ProviderFailure } from '../contract/provider-error.ts';
import { type EndedRequest, type ProviderHealth, providerKey } from './provider-health.ts';

/** After it failed, a provider is not the first choice of the same call for this long. */
const AVOID_MS = 30_000;

/** A client as the chain knows it. */
export interface ChainedClient {
  readonly name: string;
  readonly model: string | null;
  close?(): Promise<void>;
}

export interface ChainLink {
  readonly index: number;
  readonly key: string;
  readonly config: ProviderConfig;
}

interface LinkState<T> extends ChainLink {
  client: Promise<T> | null;
  avoidUntilMs: number;
  /** It refused our settings, key or account: it will refuse again. */
  refused: boolean;
}

export interface ChainOptions<T> {
  family: ProviderFamily;
  config: ProviderConfig;
  context: ProviderContext;
  providerHealth: ProviderHealth;
  open(config: ProviderConfig, context: ProviderContext): Promise<T>;
}

/**
 * The providers of one step in one call, the bot's own first and its fallbacks behind it. A fallback is opened when
 * it is needed, since its SDK costs memory. Says which to ask now, and passes on what became of it.
 */
export class ProviderChain<T extends ChainedClient> {
  readonly family: ProviderFamily;
  readonly context: ProviderContext;
  readonly providerHealth: ProviderHealth;
  private readonly open: ChainOptions<T>['open'];
  private readonly links: LinkState<T>[];

  constructor(options: ChainOptions<T>) {
    this.family = options.family;
    this.context = options.context;
    this.providerHealth = options.providerHealth;
    this.open = options.open;
    this.links = [options.config, ...(options.config.fallbacks ?? [])].map((config, index) => ({
      index,
      key: providerKey(options.family, config),
      config,
      client: null,
      avoidUntilMs: 0,
      refused: false,
    }));
  }

  get length(): number {
    return this.links.length;
  }

  /**
   * Every link, the best to ask now first: the bot's own order, behind them those that failed lately in this call,
   * then those that the whole host leaves alone, then those that refused us. Nobody is left out: where all are
   * doubtful, a doubtful answer is better than none.
   */
  order(): ChainLink[] {
    const now = this.context.clock.nowMs();
    const rank = (link: LinkState<T>) => {
      if (link.refused) return 3;
      if (!this.providerHealth.admits(link.key)) return 2;
      return now < link.avoidUntilMs ? 1 : 0;
    };
    return this.links
      .map((link) => ({ link, rank: rank(link) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ link }) => link);
  }

  link(index: number): ChainLink {
    return this.state(index);
  }

  /** The client of a link, opened on first use. Rejects with `bad_provider_config`; the next use tries again. */
  client(index: number): Promise<T> {
    const link = this.state(index);
    link.client ??= this.open(link.config, this.context).catch((error: unknown) => {
      link.client = null;
      throw error;
    });
    return link.client;
  }

  /** The next use opens a new client: the connection of the present one may be half dead. */
  renew(index: number): void {
    const link = this.state(index);
    const { client } = link;
    link.client = null;
    void client?.then((old) => old.close?.()).catch(() => undefined);
  }

  /** A request to a link failed: the host and the record of the call are told. `after` says more for the record. */
  failed(index: number, error: unknown, after: Record<string, unknown> = {}): FailureClass {
    const link = this.state(index);
    const kind = classOf(error);
    const details = error instanceof AppError ? (error.details as Partial<ProviderFailure>) : {};
    const isRefusal = kind === 'config' || kind === 'auth' || kind === 'quota';
    if (isRefusal) link.refused = true;
    link.avoidUntilMs = this.context.clock.nowMs() + AVOID_MS;
    this.providerHealth.ended(link.key, {
      result: kind === 'rate_limit' ? 'rate_limited' : kind === 'transient' ? 'failed' : 'refused',
      ms: null,
      retryAfterMs: details.retryAfterMs ?? null,
    });
    this.context.report({
      event: 'provider_failed',
      provider: link.config.provider,
      family: this.family,
      class: kind,
      status: details.status ?? null,
      ...(details.vendorCode === undefined ? {} : { vendor_code: details.vendorCode }),
      ...(details.requestId === undefined ? {} : { request_id: details.requestId }),
      error: describeError(error),
      ...after,
    });
    return kind;
  }

  /** For links that did nothing wrong but lost: another is the first choice of this call for a while. */
  avoid(index: number): void {
    this.state(index).avoidUntilMs = this.context.clock.nowMs() + AVOID_MS;
  }

  begin(index: number): void {
    this.providerHealth.begin(this.state(index).key);
  }

  ended(index: number, outcome: EndedRequest | 'abandoned'): void {
    this.providerHealth.ended(this.state(index).key, outcome);
  }

  switched(from: number, to: number, reason: string): void {
    this.context.report({
      event: 'provider_switched',
      provider: this.state(to).config.provider,
      family: this.family,
      from: this.state(from).config.provider,
      reason,
    });
  }

  /** Never rejects. */
  async close(): Promise<void> {
    await Promise.all(
      this.links.map(async (link) => {
        try {
          await (await link.client)?.close?.();
        } catch {
          // A client that could not be opened has nothing to close.
        }
      }),
    );
  }

  private state(index: number): LinkState<T> {
    const link = this.links[index];
    if (!link) throw new RangeError(`there is no provider ${index}`);
    return link;
  }
}

/** A client that cannot be made of its settings fails like one whose settings the vendor refuses. */
function classOf(error: unknown): FailureClass {
  if (
    error instanceof AppError &&
    (error.code === 'bad_provider_config' || error.code === 'engine_missing')
  ) {
    return 'config';
  }
  return failureClass(error);
}
