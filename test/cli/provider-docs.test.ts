import t from 'tap';
import { KEYED_PROVIDERS } from '../../src/contracts/setting-names.ts';
import { providerPlace } from '../../src/providers/provider-place.ts';
import { providersOf, VENDORS } from '../../src/providers/vendors/all-vendors.ts';
import { readProjectFile } from '../harness/source-files.ts';

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
    for (const { name, models: provider } of providersOf('stt')) {
      if (!provider) continue;
      const row = stt.find((cells) => cells[1] === `\`${name}\``);
      t.ok(row?.[2]?.startsWith(`\`${provider.defaultModel}\``), `${name}: its default model`);
      for (const model of provider.models) t.ok(row?.[2]?.includes(`\`${model}\``), `${name}: ${model}`);
      const settings = stt.findLast((cells) => cells[1] === `\`${name}\``)?.[2] ?? '';
      for (const key of Object.keys(provider.settings))
        t.ok(settings.includes(`\`${key}\``), `${name}: ${key}`);
    }
    const llm = table('Language models');
    for (const { name, models } of providersOf('llm')) {
      const row = llm.find((cells) => cells[1] === `\`${name}\``);
      t.ok(row?.[2]?.startsWith(models ? `\`${models.defaultModel}\`` : 'rules'), name);
    }
    const tts = table('Text-to-speech');
    for (const { models: provider } of providersOf('tts')) {
      if (!provider) continue;
      const row = tts.find((cells) => cells[1] === `\`${provider.provider}\``);
      for (const model of provider.models) t.ok(row?.[2]?.includes(`\`${model.name}\``), model.name);
      for (const key of Object.keys(provider.settings))
        t.ok(text.includes(`\`${key}\``), `${provider.provider}: ${key}`);
    }
  },
);

t.test('every host that a key is sent to stands in the documents', async (t) => {
  for (const host of VENDORS.flatMap(({ hosts }) => hosts)) {
    const [first, ...rest] = host.split('.');
    const named = text.includes(host) || text.includes(`${first}.${rest[0]}`);
    t.ok(named, host);
  }
  for (const { hosts, stt = [], llm = [], tts = [] } of VENDORS) {
    for (const { name, models } of [...stt, ...llm, ...tts]) {
      for (const host of hosts) {
        const base_url = `wss://${host}/x`;
        t.equal(providerPlace({ provider: name, base_url }).kind, 'vendor', `${name} ${host}`);
      }
      if (models) t.ok(hosts.includes(new URL(models.baseUrl).hostname), `${name}: ${models.baseUrl}`);
    }
  }
});

t.test('every key that a bot of this version can need stands in the documents', async (t) => {
  const needed = new Set<string>(VENDORS.flatMap(({ accounts }) => accounts));
  t.same(
    [...needed].sort(),
    [...KEYED_PROVIDERS].sort(),
    'no key without a client, and none that is missing',
  );
  for (const name of needed) {
    t.ok(text.includes(`\`${name}_api_key\``), name);
  }
});
