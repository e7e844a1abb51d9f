import { describe, expect, it } from 'vitest';
import { DESCRIPTION_LENGTH_MAX } from '../../../src/catalogue/job.ts';
import { CACHED_BLOCKS_MAX, PACKED_BLOCK_BYTES } from '../../../src/catalogue/limits.ts';
import { PackedTexts } from '../../../src/catalogue/packed/packed-texts.ts';
import { compressed, decompressed } from '../../../src/catalogue/packed/zstd.ts';
import { SnapshotBuilder } from '../../../src/catalogue/snapshot/build.ts';
import { contentDigestOf, type Header, PREFIX_BYTES } from '../../../src/catalogue/snapshot/layout.ts';
import { openSnapshot } from '../../../src/catalogue/snapshot/snapshot.ts';
import { SnapshotChangedError } from '../../../src/catalogue/snapshot/snapshot-error.ts';
import { memorySource } from '../../../src/catalogue/snapshot/source.ts';
import { SeededChance } from '../../support/generated-catalogue.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { bytesOfJobs, FACTS, openedJobs } from '../../support/opened-jobs.ts';

/** A text that compresses badly, so that its block has bytes to damage. */
function prose(chance: SeededChance, length: number): string {
  let text = '';
  while (text.length < length) text += `${chance.below(2 ** 30).toString(36)} `;
  return text.slice(0, length - 1).concat('.');
}

function headerOf(bytes: Buffer): Header {
  const length = bytes.readUInt32LE(12);
  return JSON.parse(bytes.toString('utf8', PREFIX_BYTES, PREFIX_BYTES + length)) as Header;
}

const sectionOf = (bytes: Buffer, name: string) => headerOf(bytes).sections.find((section) => section.name === name)!;

describe('descriptions in a snapshot', () => {
  it('come back whole, from one character to the greatest length, in any order of reading', () => {
    const chance = new SeededChance(5);
    const texts = [
      'x',
      'A\n\n- list\n- of <b>tags</b> & entities &amp;',
      '\ufeffmark first',
      '𝄞'.repeat(DESCRIPTION_LENGTH_MAX),
      ...[1, 2, 3].map((blocks) => prose(chance, PACKED_BLOCK_BYTES / blocks)),
      ...Array.from({ length: 300 }, () => prose(chance, 1 + chance.below(4000))),
    ];
    const jobs = texts.map((description, i) =>
      minimalJob({ id: `job ${i}`, company: `Company ${i % 7}`, description, descriptionTruncated: i % 3 === 0 }),
    );
    const snapshot = openedJobs(chance.shuffled(jobs));
    const rows = chance.shuffled(Array.from({ length: snapshot.rowCount }, (_, row) => row));
    for (const row of [...rows, ...rows.slice(0, 50)]) {
      const { id } = snapshot.cold.rowAt(row);
      const job = jobs[Number(id.slice(4))]!;
      expect(snapshot.descriptionOf(row)).toEqual({ text: job.description, isTruncated: job.descriptionTruncated });
    }
  });

  it('are stored once where they are equal, truncated or not', () => {
    const description = prose(new SeededChance(6), 5000);
    const jobOf = (i: number) =>
      minimalJob({ id: String(i), company: `Company ${i}`, description, descriptionTruncated: i === 1 });
    const one = bytesOfJobs([jobOf(0)]);
    const many = bytesOfJobs(Array.from({ length: 50 }, (_, i) => jobOf(i)));
    expect(sectionOf(many, 'descriptionBlocks')).toMatchObject({
      byteLength: sectionOf(one, 'descriptionBlocks').byteLength,
      content: sectionOf(one, 'descriptionBlocks').content!,
    });
    const snapshot = openSnapshot(memorySource('many', many));
    const isTruncated = Array.from({ length: 50 }, (_, row) => snapshot.descriptionOf(row).isTruncated);
    expect(isTruncated.filter(Boolean).length).toBe(1);
  });

  it('of one company lie in one block, whatever came in between', () => {
    const chance = new SeededChance(7);
    const jobs = Array.from({ length: 400 }, (_, i) =>
      minimalJob({ id: String(i), company: `Company ${i % 20}`, description: prose(chance, 1000) }),
    );
    const bytes = bytesOfJobs(chance.shuffled(jobs));
    const snapshot = openSnapshot(memorySource('x', bytes));
    const { offset } = sectionOf(bytes, 'descriptionPlaces');
    for (let company = 0; company < snapshot.companyCount; company++) {
      const rows = snapshot.companyRows.subarray(
        snapshot.companyOffsets[company]!,
        snapshot.companyOffsets[company + 1]!,
      );
      const blocks = new Set(Array.from(rows, (row) => bytes.readUInt32LE(offset + row * 12)));
      // 20 texts of a kibibyte: at most one end of a block falls among them.
      expect(blocks.size).toBeLessThanOrEqual(2);
    }
  });

  it('can be left out, which gives the file of jobs that have none', () => {
    const jobs = [minimalJob({ description: 'x', descriptionTruncated: true }), minimalJob({ id: 'b' })];
    const builder = new SnapshotBuilder({ keepsDescriptions: false });
    for (const job of jobs) builder.add(job);
    const bytes = Buffer.concat([...builder.finish(() => FACTS).chunks]);
    const without = jobs.map((job) => ({ ...job, description: null, descriptionTruncated: false }));
    expect(bytes.equals(bytesOfJobs(without))).toBe(true);
    expect(sectionOf(bytes, 'descriptionPlaces').byteLength).toBe(0);
    const snapshot = openSnapshot(memorySource('x', bytes));
    expect(snapshot.descriptionOf(1)).toEqual({ text: null, isTruncated: false });
  });

  it('count in the content digest by what they hold, not by how they are compressed', () => {
    const header = headerOf(bytesOfJobs([minimalJob({ description: 'x' })]));
    const changed = (name: string, change: object) => ({
      ...header,
      sections: header.sections.map((section) => (section.name === name ? { ...section, ...change } : section)),
    });
    const digest = contentDigestOf(header);
    expect(contentDigestOf(changed('descriptionBlocks', { byteLength: 9, checksum: 1 }))).toBe(digest);
    expect(contentDigestOf(changed('descriptionBlockOffsets', { checksum: 1 }))).toBe(digest);
    expect(contentDigestOf(changed('descriptionBlocks', { content: 1 }))).not.toBe(digest);
    expect(contentDigestOf(changed('descriptionPlaces', { checksum: 1 }))).not.toBe(digest);
  });

  it('do not stay in memory but for the last blocks', () => {
    const chance = new SeededChance(8);
    const jobs = Array.from({ length: 40 }, (_, i) =>
      minimalJob({ id: `${i}`, description: prose(chance, PACKED_BLOCK_BYTES) }),
    );
    const bytes = bytesOfJobs(jobs);
    let blockReads = 0;
    const source = {
      ...memorySource('x', bytes),
      read: (offset: number, length: number) => {
        if (length > 10_000) blockReads++;
        return bytes.subarray(offset, offset + length);
      },
    };
    const header = headerOf(bytes);
    const section = (name: string) => header.sections.find((each) => each.name === name)!;
    const texts = new PackedTexts(source, {
      places: section('descriptionPlaces'),
      blockOffsets: section('descriptionBlockOffsets'),
      blocks: section('descriptionBlocks'),
    });
    for (let item = 0; item < 40; item++) texts.at(item);
    expect(blockReads).toBe(40);
    for (let again = 0; again < 3; again++) for (let item = 40 - CACHED_BLOCKS_MAX; item < 40; item++) texts.at(item);
    expect(blockReads).toBe(40);
    texts.at(0);
    expect(blockReads).toBe(41);
  });
});

describe('a description that is read later', () => {
  const chance = new SeededChance(9);
  const bytes = bytesOfJobs(
    Array.from({ length: 3 }, (_, i) => minimalJob({ id: `${i}`, description: prose(chance, 3000) })),
  );

  it('is refused when any byte of its block is another', () => {
    const { offset, byteLength } = sectionOf(bytes, 'descriptionBlocks');
    for (let at = 0; at < byteLength; at += 1 + (byteLength >> 7)) {
      const altered = Buffer.from(bytes);
      const snapshot = openSnapshot(memorySource('x', altered));
      altered[offset + at]! ^= 0x10;
      expect(() => snapshot.descriptionOf(0), `byte ${at}`).toThrow(SnapshotChangedError);
    }
  });

  it.each([
    ['its place lies in no block', 'descriptionPlaces', 0, 0xffff],
    ['its place lies behind its block', 'descriptionPlaces', 4, 0xffff],
    ['its block ends before it starts', 'descriptionBlockOffsets', 12, 0],
    ['its block ends behind the file', 'descriptionBlockOffsets', 12, 0x43f00000],
    ['its block ends nowhere', 'descriptionBlockOffsets', 12, 0x7ff80000],
  ])('is refused when %s', (_because, name, at, value) => {
    const altered = Buffer.from(bytes);
    const snapshot = openSnapshot(memorySource('x', altered));
    altered.writeUInt32LE(value, sectionOf(bytes, name).offset + at);
    expect(() => snapshot.descriptionOf(0)).toThrow(SnapshotChangedError);
  });

  it('is refused when the file is another by then, even from a block in memory', () => {
    let isUnchanged = true;
    const snapshot = openSnapshot({ ...memorySource('x', bytes), isUnchanged: () => isUnchanged });
    expect(snapshot.descriptionOf(0).text?.length).toBe(3000);
    isUnchanged = false;
    expect(() => snapshot.descriptionOf(0)).toThrow(SnapshotChangedError);
    expect(() => snapshot.history.eventsAt([0])).toThrow(SnapshotChangedError);
  });
});

describe('a block', () => {
  it('is not read beyond the length that was asked for, nor without its checksum', () => {
    const block = compressed(Buffer.alloc(100_000, 'x'));
    expect(decompressed(block, 100_000)?.length).toBe(100_000);
    expect(decompressed(block, 99_999)).toBe(undefined);
    expect(decompressed(block.subarray(0, block.length >> 1), 100_000)).toBe(undefined);
    expect(decompressed(new Uint8Array(0), 100)).toBe(undefined);
    const altered = Uint8Array.from(block);
    altered[block.length - 1]! ^= 1;
    expect(decompressed(altered, 100_000)).toBe(undefined);
  });

  it.each([1, 255, 256, 257, 65_535, 65_536, 70_000, 300_000])('of %i bytes comes back', (length) => {
    const bytes = Buffer.from(prose(new SeededChance(length), Math.max(length, 2)).slice(0, length));
    expect(decompressed(compressed(bytes), length)?.equals(bytes)).toBe(true);
    expect(decompressed(compressed(bytes, 3), length)?.equals(bytes)).toBe(true);
    expect(decompressed(compressed(bytes), length - 1)).toBe(undefined);
  });
});
