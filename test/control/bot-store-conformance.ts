import type { Test } from 'tap';
import type { BotStore } from '../../src/control/bots/bot-store.ts';
import { testBot } from './running-control.ts';

/** What every implementation of {@link BotStore} promises. `open` gives an empty one. */
export async function botStoreConformance(t: Test, open: () => BotStore): Promise<void> {
  await t.test('an empty store says so and knows no bot', async (t) => {
    const bots = open();
    t.equal(await bots.isEmpty(), true);
    t.equal(await bots.get('clinic'), null);
  });

  await t.test('a bot comes back as it was put, and a second put replaces it', async (t) => {
    const bots = open();
    await bots.put(testBot());
    t.equal(await bots.isEmpty(), false);
    t.strictSame(await bots.get('clinic'), testBot());
    await bots.put(testBot({ name: 'Clinic at night' }));
    t.equal((await bots.get('clinic'))?.name, 'Clinic at night');
    t.equal(await bots.get('clinic2'), null);
  });
}
