import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSpillFile } from '../../../src/adapters/files/spill-file.ts';
import { MemorySpill } from '../../../src/catalogue/packed/spill.ts';
import { SnapshotError } from '../../../src/catalogue/snapshot/snapshot-error.ts';
import { SeededChance } from '../../support/generated-catalogue.ts';
import { testFolder } from '../../support/scratch-folder.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const KINDS = [
  ['a file', () => openSpillFile(join(folder, 'out'))],
  ['memory', () => new MemorySpill()],
] as const;

describe.each(KINDS)('a spill in %s', (_name, open) => {
  it('gives back what was appended, however reads and appends alternate', () => {
    const chance = new SeededChance(11);
    const spill = open();
    const pieces: { start: number; bytes: Uint8Array }[] = [];
    let end = 0;
    for (let turn = 0; turn < 600; turn++) {
      const length = chance.is(2) ? 1_500_000 : chance.below(9000);
      const bytes = new Uint8Array(length).fill(turn);
      const start = spill.append(bytes);
      expect(start).toBe(end);
      end += length;
      pieces.push({ start, bytes });
      const piece = chance.oneOf(pieces);
      expect(Buffer.from(spill.read(piece.start, piece.bytes.length)).equals(piece.bytes)).toBe(true);
    }
    const [first, second] = pieces;
    const both = spill.read(first!.start, first!.bytes.length + second!.bytes.length);
    expect(Buffer.from(both).equals(Buffer.concat([first!.bytes, second!.bytes]))).toBe(true);
    spill.close();
    spill.close();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a spill file', () => {
  it.skipIf(process.platform === 'win32')('has no name while it is used, so that nothing can leave it behind', () => {
    const spill = openSpillFile(join(folder, 'out'));
    spill.append(new Uint8Array(3_000_000));
    expect(readdirSync(folder)).toEqual([]);
    spill.close();
  });

  it('says in one line where it cannot be made', () => {
    expect(() => openSpillFile(join(folder, 'no', 'out'))).toThrow(SnapshotError);
    expect(() => openSpillFile(join(folder, 'no', 'out'))).toThrow(
      `${join(folder, 'no', 'out')}: the temporary file beside it cannot be used (ENOENT)`,
    );
  });
});
