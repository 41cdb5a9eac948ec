import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Bot } from '../../../src/contracts/bot.ts';
import { createAuditLog } from '../../../src/control/audit/audit-log.ts';
import { createBotStore } from '../../../src/control/bots/lmdb-bot-store.ts';
import { ManageBots } from '../../../src/control/bots/manage-bots.ts';
import { startRescueAudio } from '../../../src/control/bots/rescue-audio.ts';
import type { Actor } from '../../../src/control/http/route.ts';
import { withProviderKey } from '../../../src/control/runtime-config/provider-keys.ts';
import { openKeyValueStore } from '../../../src/platform/key-value-store.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { fillerLines } from '../../../src/providers/spoken-lines/filler-lines.ts';
import { rescueLines } from '../../../src/providers/spoken-lines/rescue-lines.ts';
import { SpeechCache, speechKey } from '../../../src/providers/spoken-lines/speech-cache.ts';
import { startCartesia } from '../../emulators/cartesia.ts';
import { samplesOf, toneOf } from '../../emulators/speech-tone.ts';
import { testBot } from '../../harness/control.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

t.setTimeout(280_000);

const logger = createLogger({ level: 'silent', role: 'test' });

async function workshop(t: Test) {
  const folder = tempFolder();
  const cartesia = await startCartesia({ voice: { msPerChar: 5 } });
  const cache = new SpeechCache(join(folder, 'speech-cache'));
  const bots = new Map<string, Bot>();
  const origin = new URL(cartesia.httpUrl).origin;
  const keys = { keyOf: () => cartesia.apiKey, origins: [origin] };
  const rescue = startRescueAudio({
    cache,
    bot: async (id) => bots.get(id) ?? null,
    voiceOf: async (bot) => withProviderKey(bot.tts, keys),
    logger,
  });
  t.teardown(async () => {
    await rescue.stop();
    await cartesia.close();
  });
  const tts = { provider: 'cartesia', voice: 'v-1', language: 'hi', base_url: cartesia.wsUrl };
  return { folder, cartesia, cache, bots, rescue, tts, keys };
}

t.test(
  'RT-59 RT-46 RT-45 a bot that goes live has rescue lines, fillers and a fixed opening on disk',
  async (t) => {
    const { cartesia, cache, bots, rescue, tts, keys } = await workshop(t);
    const bot = testBot({ tts, opening_message: 'Namaste, this is the clinic.', rescue_line: 'Ek minute.' });
    bots.set('clinic', bot);
    rescue.published('clinic');
    await rescue.settled();
    // A slot knows the voice from the config that it is served, with the key in it.
    const served = withProviderKey(bot.tts, keys);
    const lines = rescueLines(bot);
    t.equal(lines.rescue, 'Ek minute.');
    for (const text of [...Object.values(lines), ...fillerLines(bot), bot.opening_message]) {
      const speech = await cache.get(speechKey(served, text, 8_000));
      t.equal(speech?.samples.length, samplesOf(text, 8_000, 5), `${text.length} characters of audio`);
      t.same(speech?.samples, toneOf(text, 8_000, 5), 'in the voice of the bot');
    }
    t.same(cartesia.violations.list, []);

    const spoken = cartesia.log.messages('in').length;
    rescue.published('clinic');
    await rescue.settled();
    t.equal(cartesia.log.messages('in').length, spoken, 'published again, nothing is rendered twice');
  },
);

t.test('an opening that holds values of a call is not rendered, nor a voice of this host', async (t) => {
  const { folder, bots, rescue, tts, cartesia } = await workshop(t);
  bots.set('clinic', testBot({ tts }));
  bots.set('local', testBot({ tts: { provider: 'espeak' } }));
  rescue.published('local');
  await rescue.settled();
  t.notOk(existsSync(join(folder, 'speech-cache')), 'espeak speaks at once whenever it is needed');
  rescue.published('clinic');
  await rescue.settled();
  t.equal(readdirSync(join(folder, 'speech-cache')).length, 8, 'five rescue lines and three fillers');
  t.notMatch(JSON.stringify(cartesia.log.messages('in')), /Namaste/);
});

t.test('a voice that refuses leaves the bot live and the next bot its turn', async (t) => {
  const { cartesia, cache, bots, rescue, tts, keys } = await workshop(t);
  bots.set('first', testBot({ tts }));
  bots.set('second', testBot({ tts: { ...tts, voice: 'v-2' } }));
  cartesia.control.next({ status: 500 });
  for (const id of ['first', 'gone', 'second']) rescue.published(id);
  await rescue.settled();
  const { rescue: line } = rescueLines(testBot({ tts }));
  const has = async (voice: string) =>
    (await cache.get(speechKey(withProviderKey({ ...tts, voice }, keys), line, 8_000))) !== null;
  t.equal(await has('v-1'), false);
  t.equal(await has('v-2'), true);
});

t.test(
  'creating live, publishing and rolling back tell that a bot went live; saving a draft does not',
  async (t) => {
    const folder = tempFolder();
    const store = openKeyValueStore(folder);
    t.teardown(async () => {
      await store.close();
    });
    const nowIso = () => new Date().toISOString();
    const published: string[] = [];
    const bots = new ManageBots({
      store: createBotStore(store, createAuditLog(store, nowIso)),
      cached: { invalidate: () => undefined },
      onRemoved: async () => undefined,
      onPublished: (id) => published.push(id),
      world: { hasProviderKey: async () => true, providerOrigins: async () => [] },
      nowIso,
    });
    const actor: Actor = { type: 'core' } as Actor;
    const editing = { actor, requestId: 'r', remoteAddress: '127.0.0.1', headers: {} };
    const { bot_id: _id, created_at: _at, updated_at: _up, ...content } = testBot();
    await bots.create(content, { botId: 'clinic' }, editing);
    await bots.patch('clinic', { name: 'Clinic 2' }, editing);
    t.same(published, []);
    await bots.publish('clinic', undefined, editing);
    await bots.rollback('clinic', 1, editing);
    await bots.create(content, { botId: 'other', publish: true }, editing);
    t.same(published, ['clinic', 'clinic', 'other']);
  },
);
