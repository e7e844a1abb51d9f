/** An index whose checksums fit, but whose numbers do not, is refused: no question may leave an array. */
import { describe, expect, it } from 'vitest';
import { LISTED_ROWS, WHOLE_SECTIONS, type WholeSectionName } from '../../../src/catalogue/whole/sections.ts';
import { refusalOf, withSection } from '../../support/altered-snapshot.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { bytesOfJobs, openedJobs } from '../../support/opened-jobs.ts';

const JOB_COUNT = LISTED_ROWS + 500;

/** With every section in use: words in all rows, in some hundred and in one, runs of many words, and a word too long. */
const JOBS = Array.from({ length: JOB_COUNT }, (_, i) =>
  minimalJob({
    id: `job-${i}`,
    title: i === 7 ? 'x'.repeat(300) : `Engineer a${i % 40}e${i % 40}e u${i}`,
    location: `Berlin z${i % 50}r${i % 50}r x${i}`,
  }),
);

const bytes = bytesOfJobs(JOBS);

const setFirst = (value: number) => (section: DataView) => section.setUint32(0, value, true);
const setLast = (value: number) => (section: DataView) => section.setUint32(section.byteLength - 4, value, true);

const FAULTS: readonly (readonly [WholeSectionName, string, (section: DataView) => void])[] = [
  ['frequentTokens', 'has another number of frequent words', setFirst(3)],
  ['frequentTokens', 'has more frequent words than there are', setLast(0xffffffff)],
  ['setChunks', 'has more rows in a set than there are', setFirst(JOB_COUNT + 1)],
  [
    'setChunks',
    'has a list outside the lists',
    (section) => {
      section.setUint32(0, 5, true);
      section.setUint32(4, 0xfffffff0, true);
    },
  ],
  [
    'setChunks',
    'has a bitmap outside the bitmaps',
    (section) => {
      section.setUint32(0, LISTED_ROWS, true);
      section.setUint32(4, 99, true);
    },
  ],
  ['setLists', 'has a row past the last', (section) => section.setUint16(0, 0xffff, true)],
  ['setBitmaps', 'has a row past the last', setLast(0x80000000)],
  ['unindexedRows', 'has a row past the last', setFirst(JOB_COUNT)],
  ...(['keyword', 'place'] as const).flatMap((group): [WholeSectionName, string, (section: DataView) => void][] => [
    [`${group}Text`, 'does not end its last word', (section) => section.setUint8(section.byteLength - 1, 0x61)],
    [`${group}Suffixes`, 'has a place outside the words', setFirst(0x7fffffff)],
    [`${group}Tokens`, 'has a word that there is not', setFirst(0x7fffffff)],
    [`${group}RareOffsets`, 'go back', (section) => section.setUint32(8, 0, true)],
    [`${group}RareRows`, 'has a row past the last', setLast(JOB_COUNT)],
    [`${group}Ranges`, 'has a range that ends before it starts', setFirst(0x7fffffff)],
    [`${group}Ranges`, 'has a range past the last suffix', (section) => section.setUint32(4, 0x7fffffff, true)],
  ]),
];

describe('the index of a catalogue', () => {
  it('has every section in use here', () => {
    const { keyword, location, sets, unindexedRows } = openedJobs(JOBS).whole;
    const lengths = [keyword, location].flatMap(({ sections }) => Object.values(sections).map(({ length }) => length));
    for (const length of [...lengths, sets.lists.length, sets.bitmaps.length, unindexedRows.length]) {
      expect(length).toBeGreaterThan(0);
    }
  });

  for (const [name, fault, change] of FAULTS) {
    it(`is refused when ${name} ${fault}, though its checksums fit`, () => {
      expect(refusalOf(withSection(bytes, name, change))).toMatch(/^catalogue\.bin: has [^\n]+$/);
    });
  }

  it('is refused when one byte of any of its sections is another', () => {
    for (const { name } of WHOLE_SECTIONS) {
      const altered = withSection(bytes, name, () => {});
      const { offset } = sectionOf(name);
      altered[offset]! ^= 1;
      expect(refusalOf(altered), name).toMatch(new RegExp(`is damaged in section ${name}`));
    }
  });

  it('is the same whatever the order of the jobs', () => {
    expect(bytesOfJobs([...JOBS].reverse()).equals(bytes)).toBe(true);
  });
});

function sectionOf(name: string): { offset: number } {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);
  const header = JSON.parse(bytes.subarray(24, 24 + length).toString()) as {
    sections: { name: string; offset: number }[];
  };
  return header.sections.find((section) => section.name === name)!;
}
