/** One thing that is wrong with a bot, or looks wrong. */
export interface BotFinding {
  /** A bot with an error cannot be published; a warning is for the editor's eyes. */
  severity: 'error' | 'warning';
  code:
    | 'broken_template'
    | 'unknown_namespace'
    | 'unknown_variable'
    | 'unknown_tool'
    | 'duplicate_tool'
    | 'bad_tool'
    | 'unknown_target'
    | 'provider'
    | 'provider_key'
    | 'provider_address'
    | 'provider_model'
    | 'timezone'
    | 'plain_secret'
    | 'bad_pattern'
    | 'unused';
  /** JSON pointer into the bot. */
  pointer: string;
  message: string;
}

export interface ValidationWorld {
  /** Whether the system settings hold a key under this name; null where no key is needed or nobody knows. */
  hasProviderKey: (name: string) => Promise<boolean>;
  /** Origins that an admin lets keys be sent to beside the vendors' own hosts. */
  providerOrigins: () => Promise<readonly string[]>;
}
