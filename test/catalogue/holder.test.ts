import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { CatalogueHolder, type ServedCatalogue } from '../../src/catalogue/holder.ts';
import { openSnapshot } from '../../src/catalogue/snapshot/snapshot.ts';
import { SnapshotError } from '../../src/catalogue/snapshot/snapshot-error.ts';
import { memorySource } from '../../src/catalogue/snapshot/source.ts';
import { minimalJob } from '../support/minimal-job.ts';
import { bytesOfJobs } from '../support/opened-jobs.ts';

function servedCatalogue(closed: string[], name: string): ServedCatalogue {
  const source = { ...memorySource(name, bytesOfJobs([minimalJob()])), close: () => void closed.push(name) };
  return { catalogue: new Catalogue(openSnapshot(source)), isSynthetic: false };
}

describe('the catalogue holder', () => {
  it('serves what it took, and nothing when there is none', () => {
    const served = servedCatalogue([], 'a');
    expect(new CatalogueHolder(() => served).current()).toBe(served);
    const empty = new CatalogueHolder(() => undefined);
    expect(empty.current()).toBeUndefined();
    empty.close();
  });

  it('replaces the catalogue at a reload and closes the previous one', () => {
    const closed: string[] = [];
    const names = ['first', 'second'];
    const holder = new CatalogueHolder(() => servedCatalogue(closed, names.shift()!));
    const first = holder.current();
    holder.reload();
    expect(holder.current()).not.toBe(first);
    expect(closed).toEqual(['first']);
    holder.close();
    expect(closed).toEqual(['first', 'second']);
    expect(holder.current()).toBeUndefined();
  });

  it('serves the previous catalogue when the new one cannot be taken', () => {
    const closed: string[] = [];
    let isBroken = false;
    const holder = new CatalogueHolder(() => {
      if (isBroken) throw new SnapshotError('x: is not a snapshot');
      return servedCatalogue(closed, 'first');
    });
    const first = holder.current();
    isBroken = true;
    expect(() => holder.reload()).toThrow(SnapshotError);
    expect(holder.current()).toBe(first);
    expect(closed).toEqual([]);
  });

  it('is not made when the first catalogue cannot be taken', () => {
    const failing = () => {
      throw new SnapshotError('x: is not a snapshot');
    };
    expect(() => new CatalogueHolder(failing)).toThrow(SnapshotError);
  });
});
