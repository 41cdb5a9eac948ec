import fc from 'fast-check';
import t from 'tap';
import { readConnectedEvent } from '../../src/control/runtime-config/connected-event.ts';
import { systemVariables } from '../../src/control/runtime-config/variables.ts';
import { usableTimezone } from '../../src/platform/local-time.ts';
import { renderTemplate, staticPart } from '../../src/platform/render-template.ts';

t.test('R81 a variable that is in no namespace stays as it is written', async (t) => {
  const variables = { call: { a: 1 }, crm: {}, system: {} };
  for (const literal of [
    '{{call.b}}',
    '{{ call.b }}',
    '{{other.a}}',
    '{{call}}',
    '{{}}',
    '{{.a}}',
    '{{call.}}',
    '{{call.toString}}',
    '{{call.__proto__}}',
    '{{__proto__.a}}',
    '{{constructor.name}}',
    '{call.a}',
    '{{call.a',
  ]) {
    t.equal(renderTemplate(`x ${literal} y`, variables), `x ${literal} y`);
  }
});

t.test('values of every JSON kind have a text, and a value is never filled again', async (t) => {
  const call = {
    text: 'Asha',
    number: 12.5,
    yes: true,
    none: null,
    list: [1, 'a'],
    tricky: '{{call.text}} $& $1',
    'two words': 'w',
  };
  const rendered = renderTemplate(
    '{{call.text}}|{{ call.number }}|{{call.yes}}|{{call.none}}|{{call.list}}|{{call.tricky}}|{{call.two words}}',
    { call },
  );
  t.equal(rendered, 'Asha|12.5|true||[1,"a"]|{{call.text}} $& $1|w');
});

t.test('text around variables is kept to the letter, whatever it is', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string(), (texts, value) => {
      const plain = texts.map((text) => text.replaceAll(/[{}]/g, ''));
      const rendered = renderTemplate(plain.join('{{call.v}}'), { call: { v: value } });
      if (rendered !== plain.join(value)) throw new Error(rendered);
    }),
    { seed: 11 },
  );
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{', '}', 'c', '.', ' ', '\n', 'call', 'v') }),
      (template) => {
        renderTemplate(template, { call: { v: 'value' } });
        const fixed = staticPart(template);
        if (!template.startsWith(fixed)) throw new Error('the static part is no beginning of the template');
        if (renderTemplate(fixed, { call: { v: 'value' } }) !== fixed)
          throw new Error('the static part has a variable');
      },
    ),
    { seed: 12, numRuns: 500 },
  );
  const hostile = `${'{{'.repeat(50_000)}${' '.repeat(50_000)}`;
  t.equal(renderTemplate(hostile, {}), hostile, 'and a hostile template takes no quadratic time');
});

t.test(
  'R77 the system variables are in the time zone of the bot, across midnight and clock changes',
  async (t) => {
    const system = systemVariables;
    t.strictSame(system('Asia/Kolkata', '2026-03-01T20:15:30.000Z'), {
      current_date: '2026-03-02',
      current_time: '01:45',
      current_datetime: '2026-03-02 01:45',
      timezone: 'Asia/Kolkata',
    });
    t.match(system('UTC', '2026-12-31T00:00:00.000Z'), { current_time: '00:00', current_date: '2026-12-31' });
    t.match(system('Europe/Berlin', '2026-03-29T00:59:00.000Z'), { current_time: '01:59' });
    t.match(system('Europe/Berlin', '2026-03-29T01:00:00.000Z'), { current_time: '03:00' });
    t.strictSame(usableTimezone('Mars/Olympus'), { timezone: 'UTC', known: false });
    t.strictSame(usableTimezone('Asia/Kolkata'), { timezone: 'Asia/Kolkata', known: true });
  },
);

const isSessionId = (id: unknown): id is string =>
  typeof id === 'string' && /^(?!agent:)[A-Za-z0-9._:@-]{1,200}$/.test(id);

t.test('R85 R90 any connected event can be read, and no reserved flag survives in its fields', async (t) => {
  const reserved = [
    '_campaign_session_id',
    '_skip_prefetch',
    '_skip_post_push',
    '_mock_crm',
    '_campaign_id',
    '_campaign_call_id',
    '_campaign_attempt',
    '_campaign_run_number',
    'sip_candidate_headers',
  ];
  fc.assert(
    fc.property(
      fc.dictionary(fc.oneof(fc.constantFrom(...reserved), fc.string()), fc.jsonValue()),
      (event) => {
        const { _campaign_session_id: named, ...others } = event;
        const { fields, sessionId } = readConnectedEvent(JSON.stringify(isSessionId(named) ? event : others));
        for (const name of reserved) if (Object.hasOwn(fields, name)) throw new Error(`${name} survived`);
        for (const name of Object.keys(others)) {
          if (!reserved.includes(name) && JSON.stringify(fields[name]) !== JSON.stringify(event[name])) {
            throw new Error(`${name} was lost`);
          }
        }
        if (sessionId !== (isSessionId(named) ? named : null)) throw new Error('invented a session');
      },
    ),
    { seed: 13, numRuns: 500 },
  );
  fc.assert(
    fc.property(fc.string(), (text) => void readConnectedEvent(text)),
    { seed: 14 },
  );
  for (const id of ['', 'x'.repeat(201), 'a b', 'a/b', '../x', 7]) {
    const read = () => readConnectedEvent(JSON.stringify({ _campaign_session_id: id }));
    t.throws(read, { code: 'validation_error' }, String(id));
  }
  t.equal(readConnectedEvent('{"_campaign_session_id":null}').sessionId, null);
});
