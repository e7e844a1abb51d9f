import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { CatalogueHolder, type CatalogueSource, type ServedCatalogue } from '../../src/catalogue/holder.ts';
import { openSnapshot } from '../../src/catalogue/snapshot/snapshot.ts';
import { SnapshotError } from '../../src/catalogue/snapshot/snapshot-error.ts';
import { memorySource } from '../../src/catalogue/snapshot/source.ts';
import { minimalJob } from '../support/minimal-job.ts';
import { bytesOfJobs } from '../support/opened-jobs.ts';

function servedCatalogue(closed: string[], name: string): ServedCatalogue {
  const source = { ...memorySource(name, bytesOfJobs([minimalJob()])), close: () => void closed.push(name) };
  return { catalogue: new Catalogue(openSnapshot(source)), isSynthetic: false };
}

/** A source that loads at once, or when the test says so. */
function sourceOf(load: () => ServedCatalogue | undefined, reload = async () => load()): CatalogueSource {
  return { load, reload, discard: (catalogue) => void catalogue?.snapshot.release(), close: async () => {} };
}

describe('the catalogue holder', () => {
  it('serves what it took, and nothing when there is none', async () => {
    const served = servedCatalogue([], 'a');
    expect(new CatalogueHolder(sourceOf(() => served)).current()).toBe(served);
    const empty = new CatalogueHolder(sourceOf(() => undefined));
    expect(empty.current()).toBeUndefined();
    await empty.close();
  });

  it('replaces the catalogue at a reload and closes the previous one', async () => {
    const closed: string[] = [];
    const names = ['first', 'second'];
    const holder = new CatalogueHolder(sourceOf(() => servedCatalogue(closed, names.shift()!)));
    const first = holder.current();
    await holder.reload();
    // Not `not.toBe`, which looks into both: the memory of the first one is gone.
    expect(holder.current() === first).toBe(false);
    expect(closed).toEqual(['first']);
    await holder.close();
    expect(closed).toEqual(['first', 'second']);
    expect(holder.current()).toBeUndefined();
  });

  it('serves the previous catalogue when the new one cannot be taken', async () => {
    const closed: string[] = [];
    let isBroken = false;
    const holder = new CatalogueHolder(
      sourceOf(() => {
        if (isBroken) throw new SnapshotError('x: is not a snapshot');
        return servedCatalogue(closed, 'first');
      }),
    );
    const first = holder.current();
    isBroken = true;
    await expect(holder.reload()).rejects.toThrow(SnapshotError);
    expect(holder.current()).toBe(first);
    expect(closed).toEqual([]);
  });

  it('is not made when the first catalogue cannot be taken', () => {
    const failing = () => {
      throw new SnapshotError('x: is not a snapshot');
    };
    expect(() => new CatalogueHolder(sourceOf(failing))).toThrow(SnapshotError);
  });

  it('runs one reload at a time, and one more for all calls that came meanwhile (reliability 258)', async () => {
    const closed: string[] = [];
    const open: ((result: string | Error) => void)[] = [];
    const holder = new CatalogueHolder(
      sourceOf(
        () => servedCatalogue(closed, 'start'),
        () =>
          new Promise((resolve, reject) =>
            open.push((result) =>
              typeof result === 'string' ? resolve(servedCatalogue(closed, result)) : reject(result),
            ),
          ),
      ),
    );
    const first = holder.reload();
    const second = holder.reload();
    const third = holder.reload();
    expect(third).toBe(second);
    expect(open).toHaveLength(1);
    expect(closed).toEqual([]);
    open[0]!('one');
    await first;
    expect(closed).toEqual(['start']);
    await expect.poll(() => open.length).toBe(2);
    open[1]!('two');
    await second;
    expect(closed).toEqual(['start', 'one']);
    // A failure does not stop the reload behind it, and each call learns the result of its own.
    const failing = holder.reload();
    const following = holder.reload();
    open[2]!(new SnapshotError('x: is not a snapshot'));
    await expect(failing).rejects.toThrow(SnapshotError);
    await expect.poll(() => open.length).toBe(4);
    open[3]!('three');
    await following;
    expect(closed).toEqual(['start', 'one', 'two']);
  });

  it('discards what a reload brings after it was closed', async () => {
    const closed: string[] = [];
    let finish = (): void => {};
    const holder = new CatalogueHolder(
      sourceOf(
        () => servedCatalogue(closed, 'start'),
        () => new Promise((resolve) => (finish = () => resolve(servedCatalogue(closed, 'late')))),
      ),
    );
    const reloading = holder.reload();
    await holder.close();
    finish();
    await reloading;
    expect(holder.current()).toBeUndefined();
    expect(closed).toEqual(['start', 'late']);
  });
});
