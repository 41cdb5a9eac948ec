import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { GuardedHttp } from '../../platform/guarded-http.ts';
import { type CallTool, declarationOf } from './call-tool.ts';
import { callVariables } from './call-variables.ts';
import { detectedVoicemailTool, endCallTool, transferCallTool } from './ending-tools.ts';
import { httpTool } from './http-tool.ts';
import { type KnowledgePort, searchKnowledgeTool } from './search-knowledge.ts';

/** The tools of one call: what the model is told of, and what each does. */
export interface ToolBox {
  readonly declarations: readonly Record<string, unknown>[];
  get(name: string): CallTool | null;
}

export interface ToolBoxParts {
  http: GuardedHttp;
  /** Null until the call has a knowledge base. */
  knowledge?: KnowledgePort | null;
  /** Tools of other parts of the slot, for configs that name them. */
  extra?: readonly CallTool[];
  /** What stands behind a placeholder in an argument, such as a secret that the caller has keyed in. */
  reveal?: (text: string) => string;
}

/** More tools than any vendor takes in a request; what is beyond is left out. */
const MAX_TOOLS = 128;

/**
 * The tools that the config serves (R62), in its order, since prompt caches match them byte by byte.
 * `end_call` always works, declared or not: a scripted bot calls it without listing it, and hanging up harms nobody.
 */
export function createToolBox(config: RuntimeConfig, parts: ToolBoxParts): ToolBox {
  const variables = callVariables(config);
  const tools = new Map<string, CallTool>();
  for (const entry of config.tools) {
    const declaration = declarationOf(entry);
    const { name } = declaration.function as Record<string, unknown>;
    if (typeof name !== 'string' || name === '' || tools.has(name) || tools.size >= MAX_TOOLS) continue;
    const builtIn =
      builtInTool(name, declaration, config, parts, variables) ?? extraTool(name, declaration, parts.extra);
    tools.set(
      name,
      entry.type === 'http' || !builtIn
        ? httpTool(entry, { http: parts.http, variables, reveal: parts.reveal })
        : builtIn,
    );
  }
  const declarations = [...tools.values()].map(({ declaration }) => declaration);
  const undeclaredEnd = endCallTool(declarationOf({ name: 'end_call' }), config);
  return {
    declarations,
    get: (name) => tools.get(name) ?? (name === 'end_call' ? undeclaredEnd : null),
  };
}

function builtInTool(
  name: string,
  declaration: Record<string, unknown>,
  config: RuntimeConfig,
  parts: ToolBoxParts,
  variables: ReturnType<typeof callVariables>,
): CallTool | null {
  switch (name) {
    case 'end_call':
      return endCallTool(declaration, config);
    case 'transfer_call':
      return transferCallTool(declaration, config, variables);
    case 'detected_voicemail':
      return detectedVoicemailTool(declaration);
    case 'search_knowledge':
      return searchKnowledgeTool(declaration, config.knowledge ?? {}, parts.knowledge ?? null);
    default:
      return null;
  }
}

/** What the config says of its parameters counts; a plane that says nothing gets the tool's own. */
function extraTool(
  name: string,
  declaration: Record<string, unknown>,
  extra: readonly CallTool[] = [],
): CallTool | null {
  const tool = extra.find((candidate) => candidate.name === name);
  if (!tool) return null;
  const { parameters } = declaration.function as Record<string, unknown>;
  return parameters === undefined ? tool : { ...tool, declaration };
}
