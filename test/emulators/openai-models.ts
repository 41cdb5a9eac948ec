import type { Complaint } from './llm/complaint.ts';

/** What one family of models takes; a test may replace rules by model name. */
export interface OpenAiModelRules {
  reasoning: boolean;
  efforts: readonly string[];
  defaultEffort: string;
  /** On Chat Completions, function tools are refused unless the effort is none. */
  toolsNeedNoEffort: boolean;
  /** Values of prompt_cache_retention; the others are refused. */
  retention: readonly string[];
  cacheOptions: boolean;
}

const PLAIN: OpenAiModelRules = {
  reasoning: false,
  efforts: [],
  defaultEffort: 'none',
  toolsNeedNoEffort: false,
  retention: ['in_memory'],
  cacheOptions: false,
};
const ALL_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const REASONING: OpenAiModelRules = {
  ...PLAIN,
  reasoning: true,
  efforts: ALL_EFFORTS,
  retention: ['in_memory', '24h'],
};

const FAMILIES: readonly [RegExp, OpenAiModelRules][] = [
  [/^gpt-4o(-mini)?(-\d.*)?$/, PLAIN],
  [/^gpt-4\.1(-mini)?(-\d.*)?$/, { ...PLAIN, retention: ['in_memory', '24h'] }],
  [
    /^gpt-5(-mini|-nano)?(-\d{4}.*)?$/,
    { ...REASONING, efforts: ['minimal', 'low', 'medium', 'high'], defaultEffort: 'medium' },
  ],
  [/^gpt-5\.[1-4](-[a-z]+)?(-\d{4}.*)?$/, REASONING],
  [/^gpt-5\.5(-[a-z]+)?(-\d{4}.*)?$/, { ...REASONING, retention: ['24h'], defaultEffort: 'medium' }],
  [
    /^gpt-(5\.[6-9]|6(\.\d)?)(-[a-z]+)?(-\d{4}.*)?$/,
    {
      ...REASONING,
      retention: ['24h'],
      defaultEffort: 'medium',
      toolsNeedNoEffort: true,
      cacheOptions: true,
    },
  ],
];

/** The rules of a model, undefined for one that the vendor does not have. */
export function openAiRules(
  model: string,
  own: Readonly<Record<string, OpenAiModelRules>> = {},
): OpenAiModelRules | undefined {
  return own[model] ?? FAMILIES.find(([pattern]) => pattern.test(model))?.[1];
}

export function unknownModel(model: string): Complaint {
  return {
    status: 404,
    code: 'model_not_found',
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    violation: false,
  };
}

/** Settings that both APIs share, in the names that the request gave them. */
export interface AskedSettings {
  effort: unknown;
  effortName: string;
  hasTools: boolean;
  chat: boolean;
}

/** The first setting that the model does not take. */
export function settingComplaint(
  body: Record<string, unknown>,
  rules: OpenAiModelRules,
  settings: AskedSettings,
): Complaint | null {
  const { effort, effortName } = settings;
  if (effort !== undefined && !rules.reasoning) return unsupported(effortName);
  if (effort !== undefined && !rules.efforts.includes(String(effort))) {
    return unsupportedValue(effortName, effort, rules.efforts.join(', '));
  }
  const actual = effort ?? rules.defaultEffort;
  if (settings.chat && settings.hasTools && rules.toolsNeedNoEffort && actual !== 'none') {
    return {
      status: 400,
      code: 'unsupported_parameter',
      param: 'tools',
      message:
        'Function tools with reasoning are not supported for this model in /v1/chat/completions. Use /v1/responses or set reasoning_effort to none.',
      violation: true,
    };
  }
  if (rules.reasoning && actual !== 'none') {
    for (const name of ['temperature', 'top_p']) {
      if (body[name] !== undefined && body[name] !== 1) return unsupportedValue(name, body[name], '1');
    }
  }
  if (rules.reasoning && body.max_tokens !== undefined) return unsupported('max_tokens');
  return null;
}

/** Hints for the prompt cache that the model refuses: a good client drops them and asks again. */
export function hintComplaint(body: Record<string, unknown>, rules: OpenAiModelRules): Complaint | null {
  const retention = body.prompt_cache_retention;
  if (retention !== undefined && !rules.retention.includes(String(retention))) {
    return { ...unsupported('prompt_cache_retention'), violation: false };
  }
  if (body.prompt_cache_options !== undefined && !rules.cacheOptions) {
    return { ...unsupported('prompt_cache_options'), violation: false };
  }
  return null;
}

export function unsupported(param: string): Complaint {
  return {
    status: 400,
    code: 'unsupported_parameter',
    param,
    message: `Unsupported parameter: '${param}' is not supported with this model.`,
    violation: true,
  };
}

function unsupportedValue(param: string, value: unknown, allowed: string): Complaint {
  return {
    status: 400,
    code: 'unsupported_value',
    param,
    message: `Unsupported value: '${param}' does not support ${JSON.stringify(value)} with this model. Supported values are: ${allowed}.`,
    violation: true,
  };
}
