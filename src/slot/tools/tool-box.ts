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
  /** Tools of other parts of the slot, beside those of the config. One of the same name in the config wins. */
  extra?: readonly CallTool[];
}

/** More tools than any vendor takes in a request; what is beyond is left out. */
const MAX_TOOLS = 128;

/**
 * The tools that the config serves (interface.md, `tools`), in its order, since prompt caches match them byte by byte.
 * `end_call` always works, declared or not: a scripted bot calls it without listing it, and hanging up harms nobody.
 */
export function createToolBox(config: RuntimeConfig, parts: ToolBoxParts): ToolBox {
  const variables = callVariables(config);
  const tools = new Map<string, CallTool>();
  for (const entry of config.tools) {
    const declaration = declarationOf(entry);
    const { name } = declaration.function as Record<string, unknown>;
    if (typeof name !== 'string' || name === '' || tools.has(name) || tools.size >= MAX_TOOLS) continue;
    const builtIn = builtInTool(name, declaration, config, parts, variables);
    tools.set(name, entry.type === 'http' || !builtIn ? httpTool(entry, { http: parts.http, variables }) : builtIn);
  }
  for (const tool of parts.extra ?? []) {
    if (!tools.has(tool.name) && tools.size < MAX_TOOLS) tools.set(tool.name, tool);
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
