import t from 'tap';
import { PreemptiveGeneration } from '../../src/slot/call/preemptive-generation.ts';
import type { AnswerRecord } from '../../src/slot/think/think-aloud.ts';
import { until } from '../harness/wait.ts';
import { ModelOnPaper, type Part, slowTool, talk } from './think/talk.ts';

function preempting(answers: Part[][], change: Parameters<typeof talk>[1] & { isOn?: boolean } = {}) {
  const { isOn = true, ...config } = change;
  const model = new ModelOnPaper(...answers);
  const { agent } = talk(model, config);
  const used: number[] = [];
  const wasted: { turn: number; completionTokens: number; reason: string; record: AnswerRecord | null }[] =
    [];
  const preemptive = new PreemptiveGeneration({
    agent,
    isOn,
    onUsed: (turn) => used.push(turn),
    onWasted: (waste) => wasted.push(waste),
  });
  const hear = async (turn: number, text: string) => {
    const thinking = preemptive.take(turn, text);
    if (!thinking) return null;
    const said: string[] = [];
    const hooks = { onFirstToken: () => undefined, onBound: () => undefined, onStep: () => undefined };
    for await (const clause of thinking.clauses(new AbortController().signal, hooks)) said.push(clause.text);
    return said.join(' ');
  };
  return { model, agent, preemptive, used, wasted, hear };
}

t.test('RT-51 a guess that comes true has asked the model already, and once', async (t) => {
  const { model, preemptive, used, wasted, hear } = preempting([['It is noon.']]);
  preemptive.begin(1, 'What time is it');
  await until(() => model.requests.length === 1, 'the model is asked');
  preemptive.begin(1, 'what time is it?');
  t.equal(await hear(1, 'What time is it?'), 'It is noon.', 'punctuation makes no other words');
  t.equal(model.requests.length, 1);
  t.same(used, [1]);
  t.same(wasted, []);
});

t.test('RT-51 no tool runs before the guess has come true', async (t) => {
  const slow = slowTool({ run: () => ({ status: 'ok', result: 'done' }) });
  let runs = 0;
  slow.tool.run = () => {
    runs++;
    return { status: 'ok', result: 'done' };
  };
  const { model, preemptive, hear } = preempting([[{ name: 'slow' }], ['It is done.']], {
    extra: [slow.tool],
  });
  preemptive.begin(1, 'do it');
  await until(() => model.requests.length === 1, 'the model is asked');
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(runs, 0);
  t.equal(await hear(1, 'do it'), 'It is done.');
  t.equal(runs, 1);
});

t.test('RT-51 a wrong guess leaves no trace in the history, and its cost is told', async (t) => {
  const { model, agent, preemptive, wasted } = preempting([
    ['You want a loan. Let me see.'],
    ['A card, then.'],
  ]);
  preemptive.begin(1, 'I want a');
  await until(() => model.requests.length === 1, 'the model is asked');
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(preemptive.take(1, 'I want a card'), null);
  await until(() => wasted.length === 1, 'the guess is given up');
  t.match(wasted, [{ turn: 1, reason: 'the words changed' }]);
  t.ok((wasted[0]?.completionTokens ?? 0) > 0);
  const answer = agent.answer({ id: 1, text: 'I want a card' });
  const hooks = { onFirstToken: () => undefined, onBound: () => undefined, onStep: () => undefined };
  for await (const _ of answer.clauses(new AbortController().signal, hooks));
  t.same(model.requests[1]?.messages, [{ role: 'user', text: 'I want a card' }]);
});

t.test('RT-51 who guesses wrong too often stops guessing', async (t) => {
  const long = `${'word '.repeat(400)}.`;
  const { model, preemptive, wasted } = preempting([[long], [long], [long]]);
  for (let turn = 1; turn <= 3; turn++) {
    preemptive.begin(turn, `guess ${turn}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
    preemptive.drop('the caller went on');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.equal(model.requests.length, 1, 'the first cost more than its share');
  t.equal(wasted.length, 1);
});

t.test('RT-51 off unless the bot wants it', async (t) => {
  const { model, preemptive } = preempting([['x']], { isOn: false });
  preemptive.begin(1, 'hello');
  t.equal(preemptive.take(1, 'hello'), null);
  t.equal(model.requests.length, 0);
});
