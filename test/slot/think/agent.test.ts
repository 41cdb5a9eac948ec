import t from 'tap';
import { providerError } from '../../../src/providers/contract/provider-error.ts';
import { SpeakableReply, speakableOptions } from '../../../src/slot/speak/text/to-speakable.ts';
import { until } from '../../harness/wait.ts';
import { hearOut, ModelOnPaper, newSaid, slowTool, talk } from './talk.ts';

const END = { type: 'built_in', name: 'end_call', description: 'End.', parameters: { type: 'object' } };
const TRANSFER = { ...END, name: 'transfer_call' };
const quickTool = (result: unknown, change = {}) => ({
  ...slowTool().tool,
  name: 'quick',
  run: () => ({ status: 'ok', result }),
  ...change,
});

t.test('R11 a goodbye and end_call: the words are protected and the end follows them', async (t) => {
  const model = new ModelOnPaper(['Thank you. Goodbye.', { name: 'end_call', args: { reason: 'done' } }]);
  const { say, events } = talk(model, { tools: [END] });
  const said = await say('that is all');
  t.equal(said.texts.join(' '), 'Thank you. Goodbye.');
  t.same(said.answer.after, { kind: 'end_call', reason: 'done' });
  t.ok(said.bounds.includes(true), 'from the call on it is protected');
  t.equal(model.requests.length, 1);
  t.match(events, [{ event: 'tool_call', function: 'end_call', args: { reason: 'done' }, status: 'ok' }]);
});

t.test('R11 a model that hangs up without a word is asked for its goodbye', async (t) => {
  const model = new ModelOnPaper([{ name: 'end_call' }], ['Goodbye.']);
  const said = await talk(model, {
    tools: [END],
    conversation_policy: { closing: 'Thank them by name.' },
  }).say('bye');
  t.same(said.texts, ['Goodbye.']);
  t.equal(said.answer.after?.kind, 'end_call');
  const told = model.requests[1]?.messages.at(-1);
  t.match(told?.role === 'tool' ? told.result : null, { instruction: /goodbye.*Thank them by name/ });
});

t.test('RT-48 words, a tool and words again: the model gets the result', async (t) => {
  const model = new ModelOnPaper(['Let me look.', { name: 'quick', args: { q: 1 } }], ['It is open.']);
  const { say, events } = talk(model, { extra: [quickTool({ open: true })] });
  const said = await say('are you open?');
  t.same(said.texts, ['Let me look.', 'It is open.']);
  t.same(model.requests[1]?.messages, [
    { role: 'user', text: 'are you open?' },
    { role: 'assistant', text: 'Let me look.', toolCalls: [{ id: 'call-1', name: 'quick', args: { q: 1 } }] },
    { role: 'tool', callId: 'call-1', name: 'quick', result: { open: true } },
  ]);
  t.equal(said.steps.length, 2, 'each request is accounted for');
  t.match(events[0], { event: 'tool_call', function: 'custom', tool: 'quick', args: { q: 1 }, status: 'ok' });
});

t.test('RT-48 a turn of tools only is no failure, and the first sign of life is told once', async (t) => {
  const model = new ModelOnPaper([{ name: 'quick' }, { name: 'quick', args: { n: 2 } }], ['Two times five.']);
  const said = await talk(model, { extra: [quickTool(5)] }).say('how much?');
  t.same(said.texts, ['Two times five.']);
  t.equal(said.notes.length, 1);
  t.notOk(said.answer.isEmpty);
});

t.test(
  'RT-33 what a tool plays comes behind the words before it, and needs no words of its own',
  async (t) => {
    const sound = new Int16Array(800).fill(1_000);
    const press = quickTool('', { run: () => ({ status: 'ok', result: 'pressed', sound }) });
    const model = new ModelOnPaper(['I am pressing.', { name: 'quick' }], []);
    const { agent } = talk(model, { extra: [press] });
    const answer = agent.answer({ id: 1, text: 'press it' });
    const heard: unknown[] = [];
    const hooks = { onFirstToken: () => {}, onBound: () => {}, onStep: () => {} };
    for await (const clause of answer.clauses(new AbortController().signal, hooks)) heard.push(clause);
    t.same(heard, [
      { text: 'I am pressing.', isAside: false },
      { text: '', isAside: false, audio: sound },
    ]);
    const silent = new ModelOnPaper([{ name: 'quick' }], [], ['never asked for']);
    const said = await talk(silent, { extra: [press] }).say('press it');
    t.equal(silent.requests.length, 2, 'a model that has no words to it is not pressed for any');
    t.notOk(said.answer.isEmpty);
  },
);

t.test('RT-48 after five rounds of tools the model is asked for words and runs none', async (t) => {
  let runs = 0;
  const counting = quickTool(null, {
    run: () => {
      runs++;
      return { status: 'ok', result: runs };
    },
  });
  const rounds = Array.from({ length: 8 }, (_, n) => [{ name: 'quick', args: { n } }]);
  const model = new ModelOnPaper(...rounds);
  const said = await talk(model, { extra: [counting] }).say('go on');
  t.equal(runs, 5);
  t.ok(model.requests.length <= 7, `${model.requests.length} requests`);
  t.ok(said.answer.isEmpty, 'the session says its rescue line then');
});

t.test('an empty reply is asked for once more', async (t) => {
  const model = new ModelOnPaper([], ['Here I am.']);
  t.same((await talk(model).say('hello')).texts, ['Here I am.']);
  const silent = new ModelOnPaper([], [], ['too late']);
  const said = await talk(silent).say('hello');
  t.same(said.texts, []);
  t.ok(said.answer.isEmpty);
  t.equal(said.answer.finish, 'stop');
  t.equal(silent.requests.length, 2);
});

t.test('RT-39 a reply made only of text that cannot be spoken is an empty one', async (t) => {
  for (const text of ['🙂🙂', '```json\n{"parcel_id": 7,\n"state": "sent out today"}\n```']) {
    const model = new ModelOnPaper([text], ['Yes.']);
    const said = await talk(model).say('hello');
    t.equal(said.texts.at(-1), 'Yes.');
    t.equal(model.requests.length, 2, text);
  }
});

t.test('RT-17 the history holds what was heard, shared out over the steps', async (t) => {
  const model = new ModelOnPaper(['Let me look. ', { name: 'quick' }], ['It is open. Come by!'], ['Good.']);
  const { say, heard } = talk(model, { extra: [quickTool('open')] });
  const first = await say('open?');
  heard.set(first.replyId, 'Let me look. It is');
  await say('wait');
  t.same(
    model.requests[2]?.messages.map((message) => (message.role === 'tool' ? message.result : message.text)),
    ['open?', 'Let me look.', 'open', 'It is', 'wait'],
  );
  heard.set(first.replyId, 'Let me');
  await say('again');
  const texts = model.requests[3]?.messages.map((message) => ('text' in message ? message.text : 'result'));
  t.same(texts?.slice(0, 4), ['open?', 'Let me', 'result', 'wait'], 'the pair stays whole');
});

t.test('RT-49 an interruption ends a tool that only reads', async (t) => {
  const slow = slowTool();
  const model = new ModelOnPaper([{ name: 'slow' }], ['never'], ['Fine.']);
  const { agent, heard, say, events } = talk(model, { extra: [slow.tool] });
  const cut = new AbortController();
  const hearing = hearOut(agent.answer({ id: 1, text: 'look it up' }), 1, heard, cut.signal);
  await until(() => slow.runs.length === 1, 'the tool runs');
  cut.abort(new Error('cut'));
  await t.rejects(hearing, /cut/);
  t.ok(slow.runs[0]?.aborted);
  await until(() => events.some(({ event }) => event === 'tool_result'), 'its end is told');
  t.match(events.at(-1), { status: 'interrupted', function: 'custom', tool: 'slow' });
  await say({ id: 2, text: 'never mind' });
  t.match(model.requests[1]?.messages[2], { role: 'tool', result: { error: /caller spoke/ } });
});

t.test('R169 a hang-up in a tool is called one, and an end by the bot is none of the caller', async (t) => {
  for (const [byCaller, status, error] of [
    [true, 'hung_up', /hung up/],
    [false, 'call_ended', /call ended/],
  ] as const) {
    const slow = slowTool();
    const { agent, heard, events } = talk(new ModelOnPaper([{ name: 'slow' }]), { extra: [slow.tool] });
    const over = new AbortController();
    const hearing = hearOut(agent.answer({ id: 1, text: 'look it up' }), 1, heard, over.signal);
    await until(() => slow.runs.length === 1, 'the tool runs');
    agent.callEnded(byCaller);
    over.abort(new Error('over'));
    await t.rejects(hearing, /over/);
    await until(() => events.some(({ event }) => event === 'tool_result'), 'its end is told');
    t.match(events.at(-1), { event: 'tool_result', status, error });
  }
});

t.test('R11 a malformed tool call is asked for again, once, behind what was said', async (t) => {
  const malformed = (code: string) => () => {
    const failure = { provider: 'paper', family: 'llm', class: 'content', status: null } as const;
    throw providerError({ ...failure, vendorCode: code }, 'gave arguments that are no JSON');
  };
  for (const code of ['invalid_tool_arguments', 'MALFORMED_FUNCTION_CALL']) {
    const model = new ModelOnPaper(
      ['Thank you. ', malformed(code)],
      ['Goodbye.', { name: 'end_call', args: { reason: 'done' } }],
    );
    const said = await talk(model, { tools: [END] }).say('that is all');
    t.same(said.texts, ['Thank you.', 'Goodbye.'], code);
    t.equal(said.answer.after?.kind, 'end_call');
    t.match(model.requests[1]?.messages.at(-1), { role: 'assistant', text: 'Thank you.' });
    t.equal(said.steps.length, 2, 'both requests are accounted for');
  }
  const silent = new ModelOnPaper([malformed('invalid_tool_call')], ['Fine.']);
  t.same((await talk(silent).say('hello')).texts, ['Fine.'], 'also where nothing was said before');
  t.equal(silent.requests[1]?.messages.length, 1, 'and the history shows nothing of it');

  const stubborn = new ModelOnPaper(
    [malformed('invalid_tool_arguments')],
    [malformed('invalid_tool_arguments')],
    ['never'],
  );
  await t.rejects(talk(stubborn).say('hello'), /no JSON/);
  t.equal(stubborn.requests.length, 2);
  const refusing = new ModelOnPaper([malformed('content_filter')], ['never']);
  await t.rejects(talk(refusing).say('hello'));
  t.equal(refusing.requests.length, 1, 'another failure is for others to judge');
});

t.test('RT-39 a stray brace neither silences an answer nor reaches into the next one', async (t) => {
  const model = new ModelOnPaper(['Look { I have'], ['Fine.']);
  const said = await talk(model).say('hello');
  t.equal(said.answer.isEmpty, false);
  t.equal(model.requests.length, 1, 'what waited for its sentence was an answer');
  const cut = new ModelOnPaper(['One moment. {"name": "quick", ', { name: 'quick' }], ['It is open.']);
  const { agent } = talk(cut, { extra: [quickTool('open')] });
  const reply = new SpeakableReply(speakableOptions('en'));
  const spoken: string[] = [];
  const hooks = { onFirstToken: () => {}, onBound: () => {}, onStep: () => {} };
  for await (const { text, isLast = false } of agent
    .answer({ id: 1, text: 'open?' })
    .clauses(new AbortController().signal, hooks)) {
    spoken.push(reply.clause(text, { isLast }).spoken);
  }
  t.equal(spoken.filter((text) => text !== '').join(' '), 'One moment. It is open.');
});

t.test('RT-49 an act is not cancelled by an interruption and its result enters the history', async (t) => {
  const slow = slowTool({ isSideEffect: true });
  const model = new ModelOnPaper([{ name: 'slow', args: { day: 1 } }], ['Fine.'], ['Done.']);
  const { agent, heard, say } = talk(model, { extra: [slow.tool] });
  const cut = new AbortController();
  const answer = agent.answer({ id: 1, text: 'book it' });
  const hearing = hearOut(answer, 1, heard, cut.signal);
  await until(() => slow.runs.length === 1, 'the act has begun');
  t.notOk(agent.withdraw(1), 'it is not taken back');
  cut.abort(new Error('cut'));
  await t.rejects(hearing, /cut/);
  t.notOk(slow.runs[0]?.aborted);
  await say({ id: 2, text: 'hello?' });
  t.match(model.requests[1]?.messages[2], { role: 'tool', result: { status: 'running' } }, 'a whole pair');
  slow.finish({ booked: true });
  await agent.settle(10_000);
  await say({ id: 3, text: 'and?' });
  t.same(model.requests[2]?.messages[2], {
    role: 'tool',
    callId: 'call-1',
    name: 'slow',
    result: { booked: true },
  });
});

t.test('RT-49 the same act is never done twice: asked again, repeated, or under way', async (t) => {
  const slow = slowTool({ isSideEffect: true });
  const order = { name: 'slow', args: { day: 1, time: 'noon' } };
  const model = new ModelOnPaper(
    [
      { ...order, id: 'a' },
      { name: 'slow', id: 'b', args: { time: 'noon', day: 1 } },
    ],
    [{ ...order, id: 'c' }],
    ['Booked.'],
  );
  const { agent, heard, events } = talk(model, { extra: [slow.tool] });
  const cut = new AbortController();
  const hearing = hearOut(agent.answer({ id: 1, text: 'book it' }), 1, heard, cut.signal);
  await until(() => slow.runs.length > 0, 'the act has begun');
  cut.abort(new Error('cut'));
  await t.rejects(hearing, /cut/);
  const again = hearOut(agent.answer({ id: 2, text: 'book it I said' }), 2, heard);
  await until(() => model.requests.length === 2, 'the model was asked again');
  slow.finish('booked');
  t.same((await again).texts, ['Booked.']);
  t.equal(slow.runs.length, 1);
  t.equal(events.filter(({ status }) => status === 'repeated').length, 2);
});

t.test('RT-49 a reply that is made once more repeats no act', async (t) => {
  let runs = 0;
  const act = quickTool('ok', {
    isSideEffect: true,
    run: () => {
      runs++;
      return { status: 'ok', result: 'ok' };
    },
  });
  const failing = () => {
    throw new Error('the model broke off');
  };
  const model = new ModelOnPaper([{ name: 'quick' }], [failing], [{ name: 'quick' }], ['Done.']);
  const { agent, heard } = talk(model, { extra: [act] });
  const turn = { id: 1, text: 'do it' };
  await t.rejects(hearOut(agent.answer(turn), 1, heard), /broke off/);
  t.same((await hearOut(agent.answer(turn), 2, heard)).texts, ['Done.']);
  t.equal(runs, 1);
  const users = model.requests.at(-1)?.messages.filter(({ role }) => role === 'user');
  t.equal(users?.length, 1, 'the turn is told once');
});

t.test('a turn that the caller takes back leaves no trace', async (t) => {
  const model = new ModelOnPaper(['One moment.'], ['Two.']);
  const { agent, say } = talk(model);
  await say({ id: 1, text: 'I want' });
  t.ok(agent.withdraw(1));
  await say({ id: 2, text: 'I want two' });
  t.same(model.requests[1]?.messages, [{ role: 'user', text: 'I want two' }]);
});

t.test('RT-83 in a turn that was hard to understand nothing is done, and the model hears why', async (t) => {
  const act = slowTool({ isSideEffect: true });
  const model = new ModelOnPaper([{ name: 'slow' }, { name: 'end_call' }], ['Did you say Tuesday?']);
  const { say, events } = talk(model, { tools: [END], extra: [act.tool] });
  const said = await say({ id: 1, text: 'tooday', isUncertain: true });
  t.equal(act.runs.length, 0);
  t.equal(said.answer.after, null);
  t.same(said.texts, ['Did you say Tuesday?']);
  t.match(events, [
    { function: 'custom', status: 'not_confirmed' },
    { function: 'end_call', status: 'not_confirmed' },
  ]);
  t.match(model.requests[1]?.messages.at(-1), { result: { error: /confirm/ } });
});

t.test('RT-51 a guess runs no tool before it has come true', async (t) => {
  const slow = slowTool({ isSideEffect: true });
  const model = new ModelOnPaper(['Booking.', { name: 'slow' }], ['Done.']);
  const { agent, heard } = talk(model, { extra: [slow.tool] });
  const answer = agent.answer({ id: 1, text: 'book' }, { isPreemptive: true });
  const hearing = hearOut(answer, 1, heard);
  await until(() => heard.get(1) === 'Booking.', 'it thinks');
  t.equal(slow.runs.length, 0);
  answer.confirm();
  await until(() => slow.runs.length === 1, 'now it may');
  slow.finish('ok');
  t.same((await hearing).texts, ['Booking.', 'Done.']);
});

t.test('a tool that takes long is bridged by its filler, which is no part of the history', async (t) => {
  const slow = slowTool({ filler: 'One moment please.' });
  const model = new ModelOnPaper([{ name: 'slow' }], ['Found it.'], ['Yes.']);
  const { agent, heard, say } = talk(model, { extra: [slow.tool] });
  const said = newSaid(agent.answer({ id: 1, text: 'search' }), 1);
  const hearing = hearOut(said.answer, 1, heard, new AbortController().signal, said);
  await until(() => said.asides.length > 0, 'the filler is due');
  slow.finish('x');
  await hearing;
  t.same(said.asides, ['One moment please.']);
  t.same(said.texts, ['Found it.']);
  await say({ id: 2, text: 'good' });
  t.notMatch(JSON.stringify(model.requests[2]?.messages), /One moment/);
});

t.test('R12 R63 a transfer is announced with its own message, protected, after the words', async (t) => {
  const model = new ModelOnPaper([
    'Sure.',
    { name: 'transfer_call', args: { target: 'desk', reason: 'angry' } },
  ]);
  const { say, events } = talk(model, {
    tools: [TRANSFER],
    transfer_targets: [
      {
        name: 'desk',
        destination: 'sip:desk@pbx.example.com',
        headers: { 'X-Customer': '{{crm_context.id}}', 'X-Why': '{{args.reason}}' },
        message: 'I am putting you through, {{crm.name}}.',
      },
    ],
    pre_transfer_message: 'Please hold.',
    crm_context: { id: 7, name: 'Asha' },
  });
  const said = await say('a person please');
  t.same(said.texts, ['Sure.', 'I am putting you through, Asha.']);
  t.ok(said.bounds.includes(true));
  t.same(said.answer.after, {
    kind: 'transfer',
    order: {
      destination: 'sip:desk@pbx.example.com',
      target: 'desk',
      reason: 'angry',
      headers: { 'X-Customer': '7', 'X-Why': 'angry' },
      message: 'I am putting you through, Asha.',
    },
  });
  t.match(events[0], { function: 'transfer_call', status: 'ok', args: { target: 'desk', reason: 'angry' } });
});

t.test('R169 without a number the model is told, and the call goes on', async (t) => {
  const model = new ModelOnPaper([{ name: 'transfer_call', args: { reason: 'x' } }], ['I cannot do that.']);
  const { say, events } = talk(model, { tools: [TRANSFER], transfer_numbers: {} });
  const said = await say('a person');
  t.same(said.texts, ['I cannot do that.']);
  t.equal(said.answer.after, null);
  t.match(events[0], { function: 'transfer_call', status: 'no_number_configured' });
});

t.test(
  'a failed transfer: the model hears why and speaks first; without words there is a line',
  async (t) => {
    const model = new ModelOnPaper(
      ['Connecting.', { name: 'transfer_call', args: { target: 'desk' } }],
      ['They are busy.'],
      [],
      [],
    );
    const { say, agent, heard } = talk(model, {
      tools: [TRANSFER],
      transfer_numbers: { desk: '+912240000001' },
    });
    await say('a person');
    const failed = { kind: 'failed', reason: 'Busy Here', sipCode: 486, sipStatus: 'Busy Here' } as const;
    const said = await hearOut(agent.afterTransfer(failed), 9, heard);
    t.same(said.texts, ['They are busy.']);
    t.match(model.requests[1]?.messages.at(-1), {
      role: 'tool',
      result: { status: 'failed', reason: 'Busy Here' },
    });
    const silent = await hearOut(agent.afterTransfer(failed), 10, heard);
    t.match(silent.texts, [/could not put you through/]);
  },
);

t.test('R13 detected_voicemail ends the reply and says so', async (t) => {
  const model = new ModelOnPaper([{ name: 'detected_voicemail', args: { reason: 'beep' } }], ['never']);
  const said = await talk(model, { tools: [{ ...END, name: 'detected_voicemail' }] }).say('leave a message');
  t.same(said.answer.after, { kind: 'voicemail', reason: 'beep' });
  t.equal(model.requests.length, 1);
});

t.test('search_knowledge without a base is answered at once and the bot goes on', async (t) => {
  const model = new ModelOnPaper(
    [{ name: 'search_knowledge', args: { query: 'price' } }],
    ['I do not know.'],
  );
  const { say, events } = talk(model, { tools: [{ ...END, name: 'search_knowledge' }] });
  t.same((await say('price?')).texts, ['I do not know.']);
  t.match(events[0], { function: 'search_knowledge', status: 'not_available' });
});

t.test('a tool that nobody has is an answer to the model, not a failure of the call', async (t) => {
  const model = new ModelOnPaper([{ name: 'fly' }], ['I cannot fly.']);
  const { say, events } = talk(model);
  t.same((await say('fly')).texts, ['I cannot fly.']);
  t.match(events[0], { function: 'custom', tool: 'fly', status: 'unknown_tool' });
});

t.test('the model is read as it writes, so a tool does not wait for the voice', async (t) => {
  const slow = slowTool();
  const model = new ModelOnPaper(['First clause here. Second clause here. ', { name: 'slow' }], ['Done.']);
  const { agent } = talk(model, { extra: [slow.tool] });
  const answer = agent.answer({ id: 1, text: 'go' });
  const quiet = { onFirstToken() {}, onBound() {}, onStep() {} };
  const clauses = answer.clauses(new AbortController().signal, quiet);
  t.equal((await clauses.next()).value?.text, 'First clause here.');
  await until(() => slow.runs.length === 1, 'the tool runs while the first clause is spoken');
  slow.finish('x');
  t.equal((await clauses.next()).value?.text, 'Second clause here.');
  t.equal((await clauses.next()).value?.text, 'Done.');
  t.ok((await clauses.next()).done);
});

t.test('RT-38 words that stall without an end are spoken all the same', async (t) => {
  const stalled = Promise.withResolvers<void>();
  const model = new ModelOnPaper([
    'I will have to look that up now and ',
    () => stalled.promise,
    'then go on.',
  ]);
  const { agent } = talk(model);
  const quiet = { onFirstToken() {}, onBound() {}, onStep() {} };
  const clauses = agent.answer({ id: 1, text: 'go' }).clauses(new AbortController().signal, quiet);
  t.match((await clauses.next()).value?.text, /^I will have to look/);
  stalled.resolve();
  const rest: string[] = [];
  for await (const { text } of clauses) rest.push(text);
  t.match(rest.join(' '), /then go on\.$/);
});
