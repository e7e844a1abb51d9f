/** A snapshot of which only the columns were checked when it was opened. */
import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import { rowFilterOf } from '../../../src/catalogue/index/row-filter.ts';
import { reachOf } from '../../../src/catalogue/questions/reach.ts';
import { FIRST_DETAIL_SECTION, SECTIONS } from '../../../src/catalogue/snapshot/layout.ts';
import { openColumns, openSnapshot, type Snapshot } from '../../../src/catalogue/snapshot/snapshot.ts';
import { SnapshotChangedError, SnapshotError } from '../../../src/catalogue/snapshot/snapshot-error.ts';
import { memorySource } from '../../../src/catalogue/snapshot/source.ts';
import { selectRows } from '../../../src/catalogue/whole/select-rows.ts';
import { headerOf, refusalOf, withSection } from '../../support/altered-snapshot.ts';
import { generatedJobs, SeededChance } from '../../support/generated-catalogue.ts';
import { bytesOfJobs, forgetfulSource } from '../../support/opened-jobs.ts';

const JOBS = [...generatedJobs(new SeededChance(3), { jobCount: 400 })].map((job, i) => ({
  ...job,
  description: `text ${i} of ${job.title}`,
}));
const BYTES = bytesOfJobs(JOBS);
const { sections } = headerOf(BYTES);
const LATER = SECTIONS.slice(FIRST_DETAIL_SECTION).map(({ name }) => name);
const filled = (name: string): boolean => sections.find((section) => section.name === name)!.byteLength > 0;

function damagedIn(name: string): Uint8Array {
  const bytes = Uint8Array.from(BYTES);
  const { byteLength, offset } = sections.find((section) => section.name === name)!;
  bytes[offset + (byteLength >> 1)]! ^= 1;
  return bytes;
}

/** Everything that a question can ask of a snapshot. */
function contentOf(snapshot: Snapshot): unknown {
  const catalogue = new Catalogue(snapshot);
  const rows = Array.from({ length: snapshot.rowCount }, (_, row) => row);
  return {
    jobs: rows.map((row) => snapshot.job(row)),
    found: rows.map((row) => snapshot.rowOf(snapshot.cold.rowAt(row).id)),
    events: rows.map((row) => snapshot.history.eventsAt([...snapshot.history.positionsOfJob(row)])),
    active: Array.from({ length: snapshot.companyCount }, (_, company) => snapshot.activeCountOf(company)),
    engineers: selectRows(
      snapshot,
      catalogue.finder,
      rowFilterOf({ keyword: 'engineer' }),
      { start: 0, end: snapshot.rowCount },
      { rows: 50, count: 1e6 },
    ),
  };
}

const checkAll = (snapshot: Snapshot): number => [...snapshot.checking()].length;

describe('a snapshot that is checked later', () => {
  it('answers the same before, during and after', () => {
    const whole = contentOf(openSnapshot(forgetfulSource(BYTES)));
    const snapshot = openColumns(forgetfulSource(BYTES));
    expect(contentOf(snapshot)).toEqual(whole);
    const other = openColumns(forgetfulSource(BYTES));
    const steps = checkAll(openColumns(forgetfulSource(BYTES)));
    const checking = other.checking();
    for (let step = 0; step < steps / 2; step++) checking.next();
    expect(contentOf(other)).toEqual(whole);
    expect([...checking].length).toBeGreaterThan(0);
    expect(contentOf(other)).toEqual(whole);
    expect(checkAll(other)).toBe(0);
  });

  it.each(SECTIONS.slice(0, FIRST_DETAIL_SECTION).filter(({ name }) => filled(name)))(
    'is refused at once when $name is damaged',
    ({ name }) => {
      expect(() => openColumns(memorySource('catalogue.bin', damagedIn(name)))).toThrow(refusalOf(damagedIn(name)));
    },
  );

  it('reads only its columns to count a cohort and to say what is reachable', () => {
    const source = memorySource('catalogue.bin', BYTES);
    let readTo = 0;
    const snapshot = openColumns({
      ...source,
      readInto(offset, into) {
        readTo = Math.max(readTo, offset + into.length);
        return source.readInto(offset, into);
      },
    });
    expect(new Catalogue(snapshot).cohort.facts.candidateJobs).toBeGreaterThan(0);
    expect(reachOf(snapshot).domainShare).toBeGreaterThan(0);
    expect(readTo).toBe(sections.find(({ name }) => name === 'titleOffsets')!.offset);
  });

  it.each(LATER.filter(filled))('is refused as a whole one, when %s is damaged', (name) => {
    const bytes = damagedIn(name);
    const snapshot = openColumns(memorySource('catalogue.bin', bytes));
    expect(snapshot.cold.isUnchanged()).toBe(true);
    expect(() => checkAll(snapshot)).toThrow(refusalOf(bytes));
    expect(snapshot.cold.isUnchanged()).toBe(false);
    expect(() => checkAll(snapshot)).toThrow(refusalOf(bytes));
  });

  it.each(LATER.filter(filled))('never answers from %s while it is damaged', (name) => {
    const snapshot = openColumns(memorySource('catalogue.bin', damagedIn(name)));
    expect(() => contentOf(snapshot)).toThrow(SnapshotError);
    expect(() => contentOf(snapshot)).toThrow();
  });

  it('is refused as a whole one when a number points nowhere, though its checksums fit', () => {
    const altered = withSection(BYTES, 'title', (view) => view.setUint32(0, 0xffff_ffff, true));
    const snapshot = openColumns(memorySource('catalogue.bin', altered));
    expect(() => checkAll(snapshot)).toThrow(refusalOf(altered));
  });

  it.each([
    ['title', 'titleOffsets'],
    ['location', 'locationOffsets'],
  ])('shows no text for a code in %s that points nowhere, before that is checked', (codes, offsets) => {
    const past = sections.find(({ name }) => name === offsets)!.byteLength / 4 - 1;
    for (const code of [past, past + 1, 0xffff_ffff]) {
      const altered = withSection(BYTES, codes, (view) => view.setUint32(0, code, true));
      const snapshot = openColumns(memorySource('catalogue.bin', altered));
      expect(() => snapshot.job(0)).toThrow(RangeError);
      expect(snapshot.job(1)).toEqual(openSnapshot(memorySource('catalogue.bin', BYTES)).job(1));
    }
  });

  it('has changed, and is not damaged, when its file was written over since', () => {
    let bytes: Uint8Array = BYTES;
    const source = {
      ...memorySource('catalogue.bin', BYTES),
      readTransient: (offset: number, length: number) => bytes.subarray(offset, offset + length),
      isUnchanged: () => bytes === BYTES,
    };
    const snapshot = openColumns(source);
    bytes = Uint8Array.from(BYTES).reverse();
    expect(() => snapshot.cold.rowAt(0)).toThrow(SnapshotChangedError);
    expect(() => checkAll(snapshot)).toThrow(SnapshotChangedError);
  });

  it('gives its memory away before it is checked, and afterwards', () => {
    const first = openColumns(memorySource('catalogue.bin', BYTES));
    expect(first.release()).toHaveLength(1);
    const second = openColumns(memorySource('catalogue.bin', BYTES));
    checkAll(second);
    expect(second.release()).toHaveLength(3);
  });
});
