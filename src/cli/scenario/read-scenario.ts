import { FieldReader, ScenarioError } from './field-reader.ts';
import type {
  Action,
  CallExpectation,
  CallerTraits,
  EventExpectation,
  Scenario,
  SpeechPiece,
  Step,
  StepExpectation,
  TransferAnswer,
  When,
  Wire,
} from './scenario-format.ts';

/** A conversation is read whole; larger is no conversation. */
const MAX_CHARS = 200_000;
const MAX_STEPS = 100;
const MAX_MS = 600_000;
/** The bot has come to its end when it has been quiet for so long. */
const QUIET_MS = 700;
/** Speech at an ordinary telephone level. */
const SPEECH_DBFS = -22;

/**
 * Reads a scenario from JSON with comments. Strict: an unknown key, a wrong type and a value out of bounds throw a
 * {@link ScenarioError} that names the place, because a misspelt expectation would never fail.
 */
export function readScenario(text: string): Scenario {
  if (text.length > MAX_CHARS) throw new ScenarioError(`a scenario has at most ${MAX_CHARS} characters`);
  let value: unknown;
  try {
    value = JSON.parse(withoutComments(text));
  } catch (cause) {
    throw new ScenarioError(`not JSON: ${(cause as Error).message}`, { cause });
  }
  const fields = new FieldReader('scenario', value);
  const scenario: Scenario = {
    title: fields.text('title'),
    covers: fields.texts('covers'),
    wires: fields.has('wires') ? (fields.words('wires', WIRES) as Wire[]) : ['json'],
    caller: readCaller(fields.object('caller')),
    bot: fields.plain('bot'),
    world: fields.plain('world'),
    steps: fields.list('steps', MAX_STEPS).map((step, index) => readStep(`steps[${index}]`, step)),
    expect: readCallExpectation(fields.object('expect')),
  };
  fields.end();
  if (scenario.wires.length === 0) throw new ScenarioError('scenario.wires names at least one wire');
  return scenario;
}

const WIRES = ['json', 'binary', 'partner'];

function readCaller(fields: FieldReader): CallerTraits {
  const traits: CallerTraits = {
    noiseDbfs: fields.numberOrNull('noise_dbfs', -90, -10),
    echo: fields.has('echo') ? readEcho(fields.object('echo')) : null,
    marks: fields.word('marks', ['prompt', 'late', 'twice', 'cleared_too', 'never'], 'prompt'),
    transfer: readTransferAnswer(fields.object('transfer')),
    fields: fields.plain('fields'),
  };
  fields.end();
  return traits;
}

function readEcho(fields: FieldReader): CallerTraits['echo'] {
  const echo = {
    delayMs: fields.number('delay_ms', 20, 1_200, 200),
    lossDb: fields.number('loss_db', 0, 60, 12),
  };
  fields.end();
  return echo;
}

function readTransferAnswer(fields: FieldReader): TransferAnswer {
  const reason = fields.textOrNull('reason');
  const sipCode = fields.numberOrNull('sip_code', 100, 699);
  const answer: TransferAnswer = {
    answer: fields.word('answer', ['ok', 'failed', 'none', 'close'], 'ok'),
    afterMs: fields.number('after_ms', 0, MAX_MS, 100),
    ...(reason === null ? {} : { reason }),
    ...(sipCode === null ? {} : { sipCode }),
  };
  fields.end();
  return answer;
}

function readStep(path: string, value: unknown): Step {
  const fields = new FieldReader(path, value);
  const step: Step = {
    action: readAction(fields),
    when: readWhen(fields),
    expect: readStepExpectation(fields.object('expect')),
  };
  fields.end();
  return step;
}

/** Exactly one key of these says what the caller does. */
const ACTIONS = ['say', 'sound', 'dtmf', 'hang_up', 'drop', 'stop_sending_ms', 'wait_ms', 'send'];

function readAction(fields: FieldReader): Action {
  const named = ACTIONS.filter((name) => fields.has(name));
  const [name] = named;
  if (name === undefined || named.length > 1) {
    throw new ScenarioError(`${fields.path} needs exactly one of ${ACTIONS.join(', ')}`);
  }
  switch (name) {
    case 'say':
      return { kind: 'say', pieces: readPieces(fields) };
    case 'sound':
      return readSound(fields.object('sound'));
    case 'dtmf':
      return { kind: 'dtmf', digits: fields.pattern('dtmf', /^[0-9*#A-D]{1,40}$/, 'digits, * and #') };
    case 'hang_up':
      return { kind: 'hang_up', reason: fields.text('hang_up') };
    case 'drop':
      fields.yes('drop');
      return { kind: 'drop' };
    case 'stop_sending_ms':
      return { kind: 'stop_sending', ms: fields.number('stop_sending_ms', 20, MAX_MS) };
    case 'wait_ms':
      return { kind: 'wait', ms: fields.number('wait_ms', 0, MAX_MS) };
    default:
      return { kind: 'send', message: fields.plain('send') };
  }
}

function readPieces(fields: FieldReader): SpeechPiece[] {
  return fields.oneOrMore('say', MAX_STEPS).map((piece, index): SpeechPiece => {
    if (typeof piece === 'string') return words(piece);
    const inner = new FieldReader(`${fields.path}.say[${index}]`, piece);
    const read = readPiece(inner);
    inner.end();
    return read;
  });
}

function words(text: string): SpeechPiece {
  return { kind: 'words', text, voice: 'en-gb', wordsPerMinute: 165, dbfs: SPEECH_DBFS };
}

function readPiece(fields: FieldReader): SpeechPiece {
  if (fields.has('pause_ms')) return { kind: 'pause', ms: fields.number('pause_ms', 0, MAX_MS) };
  if (fields.has('file')) {
    return {
      kind: 'file',
      path: fields.text('file'),
      fromMs: fields.number('from_ms', 0, MAX_MS, 0),
      toMs: fields.numberOrNull('to_ms', 0, MAX_MS),
      dbfs: fields.numberOrNull('dbfs', -60, -3),
    };
  }
  return {
    kind: 'words',
    text: fields.text('text'),
    voice: fields.pattern('voice', /^[\w+-]{1,40}$/, 'a voice of espeak-ng', 'en-gb'),
    wordsPerMinute: fields.number('words_per_minute', 80, 450, 165),
    dbfs: fields.number('dbfs', -60, -3, SPEECH_DBFS),
  };
}

function readSound(fields: FieldReader): Action {
  const action: Action = {
    kind: 'sound',
    sound: fields.word('kind', ['noise', 'tone', 'babble'], 'noise'),
    ms: fields.number('ms', 20, MAX_MS),
    dbfs: fields.number('dbfs', -90, -3, -30),
    hz: fields.number('hz', 50, 3_900, 1_000),
  };
  fields.end();
  return action;
}

const MOMENTS = ['after_bot_ms', 'into_bot_ms', 'at_ms', 'after_step_ms'];

function readWhen(fields: FieldReader): When {
  const named = MOMENTS.filter((name) => fields.has(name));
  const [name] = named;
  if (named.length > 1) throw new ScenarioError(`${fields.path} says when twice: ${named.join(', ')}`);
  switch (name) {
    case 'into_bot_ms':
      return { kind: 'into_bot', ms: fields.number(name, 0, MAX_MS) };
    case 'at_ms':
      return { kind: 'at', ms: fields.number(name, 0, MAX_MS) };
    case 'after_step_ms':
      return { kind: 'after_step', ms: fields.number(name, 0, MAX_MS) };
    default:
      return { kind: 'after_bot', quietMs: fields.number('after_bot_ms', 0, MAX_MS, QUIET_MS) };
  }
}

function readStepExpectation(fields: FieldReader): StepExpectation {
  const expectation: StepExpectation = {
    answerWithinMs: fields.numberOrNull('answer_within_ms', 1, MAX_MS),
    stopWithinMs: fields.numberOrNull('stop_within_ms', 1, MAX_MS),
    resumeWithinMs: fields.numberOrNull('resume_within_ms', 1, MAX_MS),
    goOnForMs: fields.numberOrNull('go_on_for_ms', 1, MAX_MS),
    quietForMs: fields.numberOrNull('quiet_for_ms', 1, MAX_MS),
  };
  fields.end();
  return expectation;
}

function readCallExpectation(fields: FieldReader): CallExpectation {
  const closedBy = fields.word('closed_by', ['bot', 'caller', 'refused', 'anyone'], 'anyone');
  const expectation: CallExpectation = {
    closedBy: closedBy === 'anyone' ? null : closedBy,
    closeCode: fields.numberOrNull('close_code', 1_000, 4_999),
    endsWithinMs: fields.numberOrNull('ends_within_ms', 1, MAX_MS),
    clears: fields.numberOrNull('clears', 0, 1_000),
    receives: fields.plains('receives'),
    botSays: fields.patterns('bot_says'),
    callerSays: fields.patterns('caller_says'),
    neverSays: fields.patterns('never_says'),
    events: fields.plains('events').map(readEvent),
    noEvents: fields.plains('no_events'),
    results: fields.plain('results'),
  };
  fields.end();
  return expectation;
}

function readEvent(value: Record<string, unknown>): EventExpectation {
  const { count = null, ...like } = value;
  if (typeof like.event !== 'string') throw new ScenarioError('expect.events: each needs the name "event"');
  if (count !== null && (!Number.isInteger(count) || (count as number) < 0)) {
    throw new ScenarioError(`expect.events: "count" of ${like.event} is a whole number`);
  }
  return { like, count: count as number | null };
}

/**
 * JSON text with its comments (double slash to the end of the line, slash and star) blanked out, so that positions in
 * the messages of the JSON parser stay right. What looks like a comment within a string is left alone.
 */
function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '),
  );
}
