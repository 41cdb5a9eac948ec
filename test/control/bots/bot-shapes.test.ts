import t from 'tap';
import { Compile } from 'typebox/compile';
import { Bot, BotContent, NewBot } from '../../../src/contracts/bot.ts';
import { BotView, PatchBotBody } from '../../../src/control/bots/bot-views.ts';
import { demoBot } from '../../../src/control/bots/demo-bot.ts';
import { newContent } from '../../../src/control/bots/merge-bot.ts';
import { validateBot } from '../../../src/control/bots/validate-bot.ts';
import { autoDisposition } from '../../../src/control/calls/receive-results.ts';
import { NEW_BOT } from '../../harness/bots-harness.ts';

interface Described {
  description?: string;
  examples?: unknown[];
  anyOf?: Described[];
  items?: Described;
}

/** The shapes that the interface leaves open (D-26), by the field of the bot that holds them. */
const OPEN_SHAPES = [
  'stt',
  're_engagement',
  'conversation_policy',
  'ambient_sound',
  'pronunciations',
  'transfer_numbers',
  'transfer_targets',
  'active_hours',
  'sip_header_config',
  'expected_variables',
  'post_call_cache',
  'callback_detection',
  'voicemail_detection',
  'auto_dispositions',
  'knowledge',
  'agent_desk',
  'widget',
  'retention',
  'tools',
] as const satisfies readonly (keyof BotContent)[];

/** The schemas below a field that carry examples, and what the field is for one of them. */
function shapesOf(field: keyof BotContent): { schema: Described; asField: (example: unknown) => unknown }[] {
  const schema = BotContent.properties[field] as Described;
  const isList = schema.items !== undefined && schema.examples === undefined;
  const from = isList ? (schema.items as Described) : schema;
  const shapes = from.examples ? [from] : (from.anyOf ?? []).filter((shape) => shape.examples);
  return shapes.map((shape) => ({ schema: shape, asField: (example) => (isList ? [example] : example) }));
}

t.test('each open shape says what it does, with an example that a bot can hold', async (t) => {
  const check = Compile(BotContent);
  const { bot_id: _, ...fields } = NEW_BOT;
  for (const field of OPEN_SHAPES) {
    const shapes = shapesOf(field);
    t.ok(shapes.length > 0, `${field} has a shape with examples`);
    for (const { schema, asField } of shapes) {
      t.ok((schema.description ?? '').length > 20, `${field}: one sentence on its effect`);
      for (const example of schema.examples ?? []) {
        const bot = newContent({ ...fields, [field]: asField(example) });
        t.ok(check.Check(bot), `${field}: ${JSON.stringify(check.Errors(bot))}`);
        // Tools and targets that an example names may be missing in this bot; its templates may not be broken.
        const found = await validateBot(bot, {
          hasProviderKey: async () => false,
          providerOrigins: async () => [],
        });
        t.strictSame(
          found.filter(({ code }) => code === 'broken_template' || code === 'unknown_namespace'),
          [],
          field,
        );
      }
    }
  }
});

t.test('the demo bot and bots of the first version are bots still', async (t) => {
  const check = Compile(Bot);
  const demo = demoBot('2026-01-01T00:00:00.000Z');
  t.ok(check.Check(demo), JSON.stringify(check.Errors(demo)));
  const { bot_id, created_at, updated_at, ...content } = demo;
  const errors = await validateBot(content, {
    hasProviderKey: async () => false,
    providerOrigins: async () => [],
  });
  t.strictSame(
    errors.filter((finding) => finding.severity === 'error'),
    [],
  );
});

t.test('a field of the bot is in every view and body of it', async (t) => {
  const fields = Object.keys(BotContent.properties);
  for (const [name, schema] of Object.entries({ NewBot, Bot, BotView, PatchBotBody })) {
    t.strictSame(
      fields.filter((field) => !(field in schema.properties)),
      [],
      name,
    );
  }
  t.ok(Compile(PatchBotBody).Check({}), 'a patch needs no field');
  t.notOk(Compile(PatchBotBody).Check({ bot_id: 'x' }));
});

t.test('an outcome gets the disposition of the first rule that fits it whole', async (t) => {
  const outcome = {
    disconnected_by: 'customer' as const,
    call_duration_seconds: 8,
    was_transferred: false,
    transcript: [{ speaker: 'bot', text: 'Hello', timestamp: 0 }],
    events: [{ event: 'dtmf', ts: 1 }],
  };
  const of = (...whens: Parameters<typeof autoDisposition>[0][number]['when'][]) =>
    autoDisposition(
      whens.map((when, index) => ({ disposition: String(index), when })),
      outcome,
    );
  t.equal(of(), null);
  t.equal(of({ disconnected_by: ['bot'] }, { disconnected_by: ['bot', 'customer'] }), '1');
  t.equal(of({ min_duration_seconds: 8.1 }, { max_duration_seconds: 7.9 }), null);
  t.equal(of({ min_duration_seconds: 8, max_duration_seconds: 8 }), '0');
  t.equal(of({ was_transferred: true }, { was_transferred: false, customer_spoke: true }), null);
  t.equal(of({ customer_spoke: false, event: 'dtmf' }), '0');
  t.equal(of({ event: 'transfer_sent' }), null);
});
