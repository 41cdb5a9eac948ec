import type { Test } from 'tap';
import type { PhoneNumber } from '../../../src/control/telephony/number.ts';
import type { NumberStore } from '../../../src/control/telephony/number-store.ts';
import type { TrunkStore } from '../../../src/control/telephony/trunk-store.ts';
import { CAUSE } from '../accounts/user-store-conformance.ts';
import { testTrunk } from './trunk-store-conformance.ts';

export function testNumber(id: string, number: string, change: Partial<PhoneNumber> = {}): PhoneNumber {
  return {
    id,
    number,
    label: '',
    enabled: true,
    bot_id: 'clinic',
    fallback_bot_id: null,
    trunk_id: null,
    version: 1,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
    ...change,
  };
}

/** What every implementation of {@link NumberStore} promises. `open` gives an empty one and the trunks beside it. */
export async function numberStoreConformance(
  t: Test,
  open: () => { numbers: NumberStore; trunks: TrunkStore },
): Promise<void> {
  await t.test('R19 a number is found whatever way it is written', async (t) => {
    const { numbers } = open();
    await numbers.insert(testNumber('num_a', '+911140001234'), CAUSE);
    for (const written of ['+911140001234', '911140001234', '+91 11 4000-1234', ' +91 (11) 40001234']) {
      t.equal((await numbers.byNumber(written))?.id, 'num_a', written);
    }
    t.equal(await numbers.byNumber('+911140001235'), null);
    t.equal(await numbers.byNumber(''), null);
    t.strictSame(await numbers.get('num_a'), testNumber('num_a', '+911140001234'));
    t.equal(await numbers.get('num_b'), null);
  });

  await t.test('a number is there once, however it is written', async (t) => {
    const { numbers } = open();
    await numbers.insert(testNumber('num_a', '+911140001234'), CAUSE);
    await t.rejects(numbers.insert(testNumber('num_b', '911140001234'), CAUSE), { code: 'conflict' });
    const race = await Promise.allSettled([
      numbers.insert(testNumber('num_c', '100'), CAUSE),
      numbers.insert(testNumber('num_d', '+100'), CAUSE),
    ]);
    t.same(
      race.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
  });

  await t.test('the list goes by digits and goes on where it stopped', async (t) => {
    const { numbers } = open();
    for (const number of ['+300', '100', '+200', '150']) {
      await numbers.insert(testNumber(`num_${number}`, number), CAUSE);
    }
    const first = await numbers.list({ limit: 3 });
    const last = first.at(-1)?.number ?? '';
    const rest = await numbers.list({ limit: 3, after: last });
    t.same(
      [...first, ...rest].map(({ number }) => number),
      ['100', '150', '+200', '+300'],
    );
  });

  await t.test('numbers follow their trunk, and hold it', async (t) => {
    const { numbers, trunks } = open();
    for (const id of ['trk_a', 'trk_b']) await trunks.insert(testTrunk(id), CAUSE);
    await numbers.insert(testNumber('num_a', '100', { trunk_id: 'trk_a' }), CAUSE);
    await numbers.insert(testNumber('num_b', '200', { trunk_id: 'trk_a' }), CAUSE);
    const ofTrunk = async (id: string) => (await numbers.ofTrunk(id)).map(({ number }) => number);
    t.same(await ofTrunk('trk_a'), ['100', '200']);
    await numbers.update('num_b', (number) => ({ ...number, trunk_id: 'trk_b', number: '999' }), CAUSE);
    t.same([await ofTrunk('trk_a'), await ofTrunk('trk_b')], [['100'], ['200']], 'the number itself stays');
    await t.rejects(
      trunks.remove('trk_b', () => undefined, CAUSE),
      { code: 'conflict' },
    );
    await numbers.remove('num_b', () => undefined, CAUSE);
    t.equal(await numbers.byNumber('200'), null);
    await trunks.remove('trk_b', () => undefined, CAUSE);
    t.same(await ofTrunk('trk_b'), []);
  });

  await t.test('a change that throws changes nothing, and each change counts', async (t) => {
    const { numbers } = open();
    await numbers.insert(testNumber('num_a', '100'), CAUSE);
    const refuse = () => {
      throw new Error('no');
    };
    await t.rejects(numbers.update('num_a', refuse, CAUSE), { message: 'no' });
    await t.rejects(numbers.remove('num_a', refuse, CAUSE), { message: 'no' });
    await Promise.all(
      ['x', 'y'].map((letter) =>
        numbers.update('num_a', (number) => ({ ...number, label: number.label + letter }), CAUSE),
      ),
    );
    t.match(await numbers.get('num_a'), { label: 'xy', version: 3 });
    await t.rejects(
      numbers.update('num_z', (number) => number, CAUSE),
      { code: 'not_found' },
    );
    await t.rejects(
      numbers.remove('num_z', () => undefined, CAUSE),
      { code: 'not_found' },
    );
  });
}
