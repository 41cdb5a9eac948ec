import type { CallEventName } from '../../contracts/call-events.ts';
import type { RuntimeConfig } from '../../contracts/runtime-config.ts';
import type { LanguageModel, LlmRequest } from '../../providers/contract/language-model.ts';
import { callerLine } from '../speak/caller-lines.ts';
import type { ToolBox } from '../tools/tool-box.ts';
import { ToolRunner } from '../tools/tool-runner.ts';
import type { TransferOutcome } from '../transfer/transfer-machine.ts';
import { Answer, type SpeakableWords } from './answer.ts';
import { History, type ReplyEntry } from './history.ts';
import { estimateTokens } from './token-estimate.ts';

/**
 * What a request may hold in all, by our estimate (RT-54). The prompt and the tools are pinned; the conversation gets
 * the rest, and some room in any case.
 */
const BUDGET_TOKENS = 32_000;
const LEAST_HISTORY_TOKENS = 4_000;

/** What the caller said, as the turn machine took it. */
export interface AgentTurn {
  id: number;
  text: string;
  /** Understood too poorly to act on it: tools with a side effect ask back instead (RT-83). */
  isUncertain?: boolean;
}

export interface AgentParts {
  llm: LanguageModel;
  config: RuntimeConfig;
  /** The prompt in its two halves, where the bot lets the provider cache the first. */
  systemParts?: LlmRequest['systemParts'] | undefined;
  toolBox: ToolBox;
  /** What the caller heard of a reply so far, by its number. */
  heardText: (replyId: number) => string;
  /** For each answer of the model: what of its clauses can be spoken. A reply without such words is empty. */
  speakableWords?: () => SpeakableWords;
  /** Language of the voice, BCP 47. */
  language?: string | undefined;
  /** Writes an event of the call. */
  report: (event: CallEventName, detail: Record<string, unknown>) => void;
}

/**
 * The thinking side of a call: takes turns of the caller, makes replies of words and deeds, and keeps the history that
 * the model is told. It knows no audio and no clock of the line; who may speak is decided elsewhere.
 */
export class Agent {
  private readonly parts: AgentParts;
  private readonly history: History;
  private readonly tools: ToolRunner;
  private readonly bound = new Set<number>();
  /** The reply that asked for a transfer, and the call by which it did. */
  private transferAsked: { entry: ReplyEntry; callId: string } | null = null;
  private talks = 0;

  constructor(parts: AgentParts) {
    this.parts = parts;
    const { config, toolBox } = parts;
    const pinned = estimateTokens(config.system_prompt + JSON.stringify(toolBox.declarations));
    this.history = new History({
      heardText: parts.heardText,
      budgetTokens: Math.max(LEAST_HISTORY_TOKENS, BUDGET_TOKENS - pinned),
    });
    this.tools = new ToolRunner({
      sessionId: config.session_id,
      toolBox,
      report: parts.report,
    });
  }

  /**
   * Begins the reply to a turn, which enters the history with it. The same turn may be answered again where a reply
   * failed: it is told once, and what was done for it is not done twice. A speculative answer thinks but runs no tool
   * before it is confirmed (RT-51).
   */
  answer(turn: AgentTurn, options: { isPreemptive?: boolean } = {}): Answer {
    this.history.userSaid(turn.id, turn.text);
    return this.reply(turn.id, {
      isUncertain: turn.isUncertain ?? false,
      isPreemptive: options.isPreemptive ?? false,
      fallbackLine: null,
    });
  }

  /** The bot says by itself why the caller is still here, and goes on with the call (D-18). */
  afterTransfer(outcome: Extract<TransferOutcome, { kind: 'failed' }>): Answer {
    const asked = this.transferAsked;
    if (asked) {
      asked.entry.steps
        .find((step) => step.results.has(asked.callId))
        ?.results.set(asked.callId, {
          status: 'failed',
          reason: outcome.reason,
          note: 'The transfer failed and the caller is still with you. Say so and go on.',
        });
    }
    return this.reply(null, {
      isUncertain: false,
      isPreemptive: false,
      fallbackLine: callerLine(this.parts.language, 'transfer_failed'),
    });
  }

  /** The bot says a line that no model wrote: whatever of it is heard belongs into the history. */
  botSays(replyId: number): void {
    const entry = this.history.beginReply(null);
    entry.replyId = replyId;
    entry.isLive = false;
  }

  /**
   * Takes back a turn that the caller goes on with, together with its reply. False, and nothing is changed, where the
   * reply has done something that cannot be taken back.
   */
  withdraw(turnId: number): boolean {
    if (this.bound.has(turnId)) return false;
    this.history.withdraw(turnId);
    return true;
  }

  /** Waits for what tools are still doing, at most so long, so that it stands in the results. Never rejects. */
  settle(timeoutMs: number): Promise<void> {
    return this.tools.settle(timeoutMs);
  }

  /** The call is over; what its tools are still reading is given up. */
  callEnded(byCaller: boolean): void {
    this.tools.callEnded(byCaller);
  }

  private reply(
    turnId: number | null,
    how: { isUncertain: boolean; isPreemptive: boolean; fallbackLine: string | null },
  ): Answer {
    const entry = this.history.beginReply(turnId);
    const { llm, config, systemParts, toolBox } = this.parts;
    return new Answer({
      entry,
      // A reply without a turn is an act of its own; its number keeps its tools apart from those of any turn.
      turnId: turnId ?? -++this.talks,
      ...how,
      ask: (signal) => {
        const request: LlmRequest = {
          system: config.system_prompt,
          messages: this.history.messages(),
          tools: toolBox.declarations,
        };
        if (systemParts) request.systemParts = systemParts;
        return llm.answer(request, signal);
      },
      tools: this.tools,
      speakableWords: this.parts.speakableWords ?? (() => LETTERS),
      onBound: () => {
        if (turnId !== null) this.bound.add(turnId);
      },
      onTransferAsked: (callId) => {
        this.transferAsked = { entry, callId };
      },
    });
  }
}

/** Where nobody says more, whatever has letters can be spoken. */
const LETTERS: SpeakableWords = {
  clause: (text) => (/[\p{L}\p{N}]/u.test(text) ? text : ''),
  end: () => null,
};
