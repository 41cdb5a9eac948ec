import { argumentText, piecesOf, type ScriptedAnswer } from './answer.ts';
import { countTokens } from './tokens.ts';

/** Tokens of the answer; hidden thoughts count among them, as with the vendor. */
export function completionTokens(answer: ScriptedAnswer): { thoughts: number; completion: number } {
  const calls = (answer.toolCalls ?? []).map((call) => `${call.name} ${argumentText(call)}`);
  const said = [...piecesOf(answer.text), ...piecesOf(answer.refusal), ' ', ...calls].join('');
  const thoughts = answer.usage
    ? (answer.usage.thoughtTokens ?? 0)
    : countTokens(piecesOf(answer.thoughts).join(''));
  const own = answer.usage ? answer.usage.completionTokens : undefined;
  return { thoughts, completion: own ?? countTokens(said) + thoughts };
}
