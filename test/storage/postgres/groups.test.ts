import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContentionError, InDoubtError, StatementError } from '../../../src/storage/postgres/failures.ts';
import { Group } from '../../../src/storage/postgres/groups.ts';
import { settle } from '../../support/manual-time.ts';

interface Item {
  readonly key: string;
  readonly number: number;
}

/** Statements that a test answers. */
function manual(takesRepeatedKeys = false) {
  const sent: { items: readonly Item[]; resolve(): void; reject(failure: unknown): void }[] = [];
  const group = new Group<Item, number>(
    (items) =>
      new Promise((resolve, reject) => {
        sent.push({ items, resolve: () => resolve(items.map(({ number }) => number)), reject });
      }),
    { keyOf: ({ key }) => key, takesRepeatedKeys, countMax: 4 },
  );
  return { group, sent };
}

const item = (key: string, number = 0): Item => ({ key, number });
const keysOf = (items: readonly Item[] | undefined): string => (items ?? []).map(({ key }) => key).join('');

describe('a group of statements', () => {
  it('sends what came in one turn together, and what comes meanwhile as one more, sorted', async () => {
    const { group, sent } = manual();
    const results = [group.add(item('b', 1)), group.add(item('a', 2))];
    await settle();
    expect(sent.map(({ items }) => keysOf(items))).toEqual(['ab']);
    results.push(group.add(item('d', 3)), group.add(item('c', 4)));
    await settle();
    expect(sent).toHaveLength(1);
    sent[0]!.resolve();
    await settle();
    expect(keysOf(sent[1]!.items)).toBe('cd');
    sent[1]!.resolve();
    expect(await Promise.all(results)).toEqual([1, 2, 3, 4]);
    await group.idle();
    expect(sent).toHaveLength(2);
  });

  it('keeps the second item of a key for the next statement, unless one takes several', async () => {
    for (const takesRepeatedKeys of [false, true]) {
      const { group, sent } = manual(takesRepeatedKeys);
      const results = [group.add(item('a', 1)), group.add(item('a', 2)), group.add(item('b', 3))];
      await settle();
      expect(keysOf(sent[0]!.items)).toBe(takesRepeatedKeys ? 'aab' : 'ab');
      sent[0]!.resolve();
      await settle();
      sent[1]?.resolve();
      expect(await Promise.all(results)).toEqual([1, 2, 3]);
    }
  });

  it('sends no more than it may in one statement', async () => {
    const { group, sent } = manual();
    const results = [...'gfedcba'].map((key, number) => group.add(item(key, number)));
    await settle();
    sent[0]!.resolve();
    await settle();
    sent[1]!.resolve();
    await Promise.all(results);
    expect(sent.map(({ items }) => keysOf(items))).toEqual(['defg', 'abc']);
  });

  it.each([new StatementError('bad value', '22000'), new ContentionError('deadlock detected')])(
    'repeats a statement item by item (%s), so that one item fails no other',
    async (failure) => {
      const group = new Group<Item, string>(
        async (items) => {
          if (items.some(({ number }) => number < 0)) throw failure;
          return items.map(({ key }) => key);
        },
        { keyOf: ({ key }) => key },
      );
      const ends = await Promise.allSettled(['a', 'b', 'c'].map((key) => group.add(item(key, key === 'b' ? -1 : 1))));
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    },
  );

  it('fails all of a statement that gives too few results', async () => {
    const group = new Group<Item, number>(async () => [1], { keyOf: ({ key }) => key });
    const ends = await Promise.allSettled(['a', 'b'].map((key) => group.add(item(key))));
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('fails all of a statement whose outcome is in doubt, and goes on with the next', async () => {
    const { group, sent } = manual();
    const lost = [group.add(item('a')), group.add(item('b'))];
    const ends = Promise.allSettled(lost);
    await settle();
    const next = group.add(item('c', 7));
    sent[0]!.reject(new InDoubtError('lost'));
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await settle();
    sent[1]!.resolve();
    expect(await next).toBe(7);
  });

  it('gives every item its own result, whatever keys come in whatever turns', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(9), fc.nat(3)), { maxLength: 60 }), async (picks) => {
        const keys: string[][] = [];
        const group = new Group<Item, number>(
          async (items) => {
            keys.push(items.map(({ key }) => key));
            await settle();
            return items.map(({ number }) => number);
          },
          { keyOf: ({ key }) => key, countMax: 5 },
        );
        const results: Promise<number>[] = [];
        for (const [number, [key, turns]] of picks.entries()) {
          for (let turn = 0; turn < turns; turn++) await Promise.resolve();
          results.push(group.add(item(String(key), number)));
        }
        expect(await Promise.all(results)).toEqual(picks.map((_, number) => number));
        for (const sent of keys) {
          expect(sent.length).toBeLessThanOrEqual(5);
          expect(new Set(sent).size).toBe(sent.length);
          expect([...sent].sort()).toEqual(sent);
        }
      }),
      { numRuns: 50 },
    );
  });
});
