import t from 'tap';
import { KEYED_PROVIDERS } from '../../src/contracts/setting-names.ts';
import { DEFAULT_MODELS } from '../../src/providers/model-capabilities.ts';
import { STT_PROVIDERS } from '../../src/providers/stt/stt-models.ts';
import { TTS_PROVIDERS } from '../../src/providers/tts/tts-models.ts';
import { providerPlace } from '../../src/providers/vendor-hosts.ts';
import { readProjectFile } from '../support/source-files.ts';

const text = readProjectFile('docs/providers.md');

/** Rows of the table under a heading, as cells. */
function table(heading: string): string[][] {
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
}

t.test(
  'R8 docs/providers.md names every engine with its models, defaults first, as the product checks them',
  async (t) => {
    const stt = table('Speech-to-text');
    for (const [name, provider] of Object.entries(STT_PROVIDERS)) {
      const row = stt.find((cells) => cells[1] === `\`${name}\``);
      t.ok(row?.[2]?.startsWith(`\`${provider.defaultModel}\``), `${name}: its default model`);
      for (const model of provider.models) t.ok(row?.[2]?.includes(`\`${model}\``), `${name}: ${model}`);
      const settings = stt.findLast((cells) => cells[1] === `\`${name}\``)?.[2] ?? '';
      for (const key of Object.keys(provider.settings))
        t.ok(settings.includes(`\`${key}\``), `${name}: ${key}`);
    }
    const llm = table('Language models');
    for (const [vendor, model] of Object.entries(DEFAULT_MODELS)) {
      t.ok(
        llm.some((cells) => cells[1] === `\`${vendor}\`` && cells[2]?.startsWith(`\`${model}\``)),
        vendor,
      );
    }
    const tts = table('Text-to-speech');
    for (const provider of TTS_PROVIDERS) {
      const row = tts.find((cells) => cells[1] === `\`${provider.provider}\``);
      for (const model of provider.models) t.ok(row?.[2]?.includes(`\`${model.name}\``), model.name);
      for (const key of Object.keys(provider.settings))
        t.ok(text.includes(`\`${key}\``), `${provider.provider}: ${key}`);
    }
  },
);

t.test('every host that a key is sent to stands in the documents', async (t) => {
  const hosts = [
    ...Object.values(STT_PROVIDERS).flatMap((provider) => provider.hosts),
    ...TTS_PROVIDERS.map((provider) => provider.host),
  ];
  for (const host of hosts) {
    const [first, ...rest] = host.split('.');
    const named = text.includes(host) || text.includes(`${first}.${rest[0]}`);
    t.ok(named, host);
  }
  for (const [provider, { hosts: own }] of Object.entries(STT_PROVIDERS)) {
    for (const host of own) {
      t.equal(
        providerPlace({ provider, base_url: `https://${host}/x` }).kind,
        'vendor',
        `${provider} ${host}`,
      );
    }
  }
  for (const { provider, host } of TTS_PROVIDERS) {
    t.equal(providerPlace({ provider, base_url: `wss://${host}` }).kind, 'vendor', `${provider} ${host}`);
  }
});

t.test('every key that a bot of this version can need stands in the documents', async (t) => {
  const needed = new Set([
    ...Object.values(STT_PROVIDERS).map((provider) => provider.keySetting),
    ...Object.keys(DEFAULT_MODELS),
    ...TTS_PROVIDERS.map((provider) => provider.provider),
  ]);
  for (const name of needed) {
    t.ok((KEYED_PROVIDERS as readonly string[]).includes(name), `${name} has a setting`);
    t.ok(text.includes(`\`${name}_api_key\``), name);
  }
});
