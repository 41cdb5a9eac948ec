import fc from 'fast-check';
import t from 'tap';
import type { BotContent } from '../../../src/contracts/bot.ts';
import { scanTemplate } from '../../../src/control/bots/bot-templates.ts';
import { newContent } from '../../../src/control/bots/merge-bot.ts';
import { validateBot } from '../../../src/control/bots/validate-bot.ts';
import { renderTemplate } from '../../../src/platform/render-template.ts';
import { NEW_BOT } from '../../harness/bots-harness.ts';

const { bot_id: _, ...fields } = NEW_BOT;

async function whatIsFound(
  change: Partial<BotContent>,
  keys: readonly string[] = [],
  origins: readonly string[] = [],
) {
  const world = {
    hasProviderKey: async (name: string) => keys.includes(name),
    providerOrigins: async () => origins,
  };
  return await validateBot(newContent({ ...fields, opening_message: 'Hi.', ...change }), world);
}

async function findings(change: Partial<BotContent>, keys: readonly string[] = []) {
  const found = await whatIsFound(change, keys);
  return found.map(({ severity, code, pointer }) => `${severity} ${code} ${pointer}`);
}

t.test('a bot without mistakes has no findings', async (t) => {
  const whole: Partial<BotContent> = {
    system_prompt: 'Answer as {"json": {"a": 1}}. {{crm.name}} {{call.x}} {{system.current_date}}',
    tools: [{ type: 'built_in', name: 'transfer_call' }],
    transfer_numbers: { desk: '+912240000001' },
    voicemail_detection: { enabled: true },
    voicemail_message: 'We called {{crm.name}}.',
    conversation_policy: {
      role: 'r',
      goal: 'g',
      steps: [{ name: 's', instruction: 'i', tool: 'detected_voicemail' }],
      escalation: { when: ['w'], target: 'desk' },
    },
    post_call_push: {
      enabled: true,
      push_url: 'https://crm.example.com/{{crm.id}}',
      headers: { authorization: 'Bearer {{secret.t}}' },
      key_mapper: { a: '{{results.disconnected_by}}', b: ['{{analysis.intent}}', '{{bot.name}}'] },
    },
  };
  t.strictSame(await findings(whole), []);
});

t.test('broken templates and namespaces that do not exist there are errors', async (t) => {
  t.strictSame(
    await findings({
      opening_message: 'Hello {{name}}',
      system_prompt: 'open {{call.name',
      qc_prompt: '{{}} {{ }} {{#if call.x}}',
      agent_desk: { enabled: true, context: { deep: ['{{results.x}}'] } },
      tools: [
        {
          type: 'http',
          name: 'book',
          description: 'd',
          parameters: { type: 'object' },
          method: 'POST',
          url: 'https://x.example.com/{{secret.t}}',
          body: { a: '{{args.a}}' },
        },
      ],
    }),
    [
      'error broken_template /system_prompt',
      'error broken_template /opening_message',
      'error broken_template /qc_prompt',
      'error broken_template /qc_prompt',
      'error broken_template /qc_prompt',
      'error unknown_namespace /agent_desk/context/deep/0',
      'error unknown_namespace /tools/0/url',
    ],
  );
});

t.test('variables: system is closed; call and crm are, once the bot says what comes', async (t) => {
  t.strictSame(await findings({ system_prompt: '{{system.moon}} {{crm.x}}' }), [
    'warning unknown_variable /system_prompt',
  ]);
  const known = [
    '{{crm.due}} {{call.company}} {{crm.company}} {{call.caller_id}} {{crm.CUSTOMERNAME_HI}} {{call.name_firstname_hi}}',
    '{{crm.plan}} {{call.branch}} {{call.callback_note}}',
  ].join(' ');
  const bot: Partial<BotContent> = {
    expected_variables: ['crm.due', 'call.company'],
    crm_prefetch: { enabled: true, url: 'https://crm.example.com/', mapping: { plan: 'a.b' } },
    sip_header_config: { headers: [{ header: 'X-Branch' }] },
  };
  t.strictSame(await findings({ ...bot, system_prompt: known }), []);
  t.strictSame(await findings({ ...bot, system_prompt: '{{crm.deu}} {{call.due}} {{crm.branch}}' }), [
    'warning unknown_variable /system_prompt',
    'warning unknown_variable /system_prompt',
    'warning unknown_variable /system_prompt',
  ]);
});

t.test('tools: what is used must be offered, once, and lead somewhere', async (t) => {
  t.strictSame(
    await findings({
      tools: [
        { type: 'built_in', name: 'end_call' },
        { type: 'built_in', name: 'end_call' },
        { type: 'built_in', name: 'transfer_call' },
        { type: 'built_in', name: 'search_knowledge' },
        {
          type: 'http',
          name: 'book',
          description: 'd',
          parameters: { type: 'string' },
          method: 'GET',
          url: 'https://x.example.com/',
          headers: { Authorization: 'Bearer plain' },
        },
      ],
      conversation_policy: {
        role: 'r',
        goal: 'g',
        steps: [{ name: 's', instruction: 'i', tool: 'dance' }],
        escalation: { when: ['w'], target: 'nowhere' },
      },
      llm: {
        provider: 'scripted',
        rules: [{ intent: 'a', pattern: 'a', reply: 'b', tool: { name: 'sing', args: {} } }],
      },
      voicemail_message: 'never left',
    }),
    [
      'error duplicate_tool /tools/1/name',
      'error bad_tool /tools/4/parameters',
      'error unknown_tool /conversation_policy/steps/0/tool',
      'error unknown_tool /llm/rules/0/tool/name',
      'error unknown_target /conversation_policy/escalation/target',
      'warning plain_secret /tools/4/headers/Authorization',
      'warning unknown_target /transfer_targets',
      'warning unused /knowledge',
      'warning unused /voicemail_message',
    ],
  );
});

t.test('providers: a name that no client serves, settings that it refuses, a fallback as well', async (t) => {
  t.strictSame(
    await findings({
      stt: { provider: 'nonsense' },
      llm: { provider: 'scripted', rules: [{ intent: 'a', pattern: '(', reply: 'b' }] },
      tts: { provider: 'scripted', fallbacks: [{ provider: 'nonsense' }] },
    }),
    ['error provider /stt', 'error provider /llm', 'error provider /tts/fallbacks/0'],
  );
});

t.test('a pattern that a call could spend seconds on is refused', async (t) => {
  const rules = (pattern: string) => ({ vad: { answer_rules: [{ pattern, silence_ms: 500 }] } });
  t.strictSame(await findings(rules('(a+)+$')), ['error bad_pattern /vad/answer_rules/0/pattern']);
  t.strictSame(await findings(rules('your (pan|aadhaar) number')), []);
});

t.test('a time zone that does not exist is a warning: UTC is used', async (t) => {
  t.strictSame(await findings({ timezone: 'Mars/Olympus' }), ['warning timezone /timezone']);
  t.strictSame(await findings({ timezone: 'Asia/Kolkata' }), []);
});

t.test('what the scan calls a variable is what rendering fills, and broken spots stay literal', async (t) => {
  const piece = fc.constantFrom('{{', '}}', '{', '}', 'call.', 'crm.x', 'call.y', ' ', '.', 'text', '\n');
  const agrees = () =>
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const template = pieces.join('');
        const { variables, broken } = scanTemplate(template);
        const values: Record<string, Record<string, string>> = {};
        for (const name of variables) {
          const dot = name.indexOf('.');
          const namespace = name.slice(0, dot);
          values[namespace] = { ...values[namespace], [name.slice(dot + 1)]: '' };
        }
        const rendered = renderTemplate(template, values);
        if (broken.length === 0 && rendered.includes('{{')) throw new Error(`left over: ${rendered}`);
        if (variables.length > 0 && rendered === template) throw new Error('nothing was filled');
      }),
      { seed: 41, numRuns: 2_000 },
    );
  t.doesNotThrow(agrees);
});

t.test('thousands of mistakes are told by their first two hundred', async (t) => {
  const many = await findings({ system_prompt: '{{x}} '.repeat(5_000) });
  t.equal(many.length, 200);
});
