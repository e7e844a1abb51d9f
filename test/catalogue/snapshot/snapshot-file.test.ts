import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSnapshotFile, removeLeftovers, writeSnapshotFile } from '../../../src/adapters/files/snapshot-file.ts';
import { openSnapshot } from '../../../src/catalogue/snapshot/snapshot.ts';
import { SnapshotChangedError, SnapshotError } from '../../../src/catalogue/snapshot/snapshot-error.ts';
import { generatedJobs, SeededChance } from '../../support/generated-catalogue.ts';
import { bytesOfJobs } from '../../support/opened-jobs.ts';
import { testFolder } from '../../support/scratch-folder.ts';

const OLD = bytesOfJobs(generatedJobs(new SeededChance(1), { jobCount: 200 }));
const NEW = bytesOfJobs(generatedJobs(new SeededChance(2), { jobCount: 300 }));

let directory: string;
let path: string;

beforeEach(() => {
  directory = testFolder();
  path = join(directory, 'catalogue');
});

describe('opening a snapshot file', () => {
  it('reads a file and one behind a symbolic link', () => {
    writeFileSync(path, OLD);
    symlinkSync(path, join(directory, 'link'));
    for (const each of [path, join(directory, 'link')]) {
      const snapshot = openSnapshot(openSnapshotFile(each));
      expect(snapshot.rowCount).toBe(200);
      snapshot.close();
      snapshot.close();
    }
  });

  const refused: [string, () => void, RegExp][] = [
    ['is missing', () => {}, /there is no such file$/],
    ['is a directory', () => mkdirSync(path), /is not a file$/],
    ['is a FIFO that nobody writes to', () => void execFileSync('mkfifo', [path]), /is not a file$/],
    ['is a link to nothing', () => symlinkSync(join(directory, 'gone'), path), /there is no such file$/],
    ['is empty', () => writeFileSync(path, ''), /is not a snapshot; `snapshot build` makes one$/],
  ];
  for (const [title, prepare, reason] of refused) {
    it(`is refused in one line when it ${title}`, () => {
      prepare();
      expect(() => openSnapshot(openSnapshotFile(path))).toThrow(SnapshotError);
      expect(() => openSnapshot(openSnapshotFile(path))).toThrow(reason);
    });
  }

  it.skipIf(process.getuid?.() === 0)('is refused in one line when it may not be read (skipped for root)', () => {
    writeFileSync(path, OLD);
    chmodSync(path, 0);
    expect(() => openSnapshotFile(path)).toThrow(/cannot be opened \(EACCES\)$/);
  });

  it('is not replaced by what cannot be looked at', () => {
    writeFileSync(path, OLD);
    const file = openSnapshotFile(path);
    rmSync(path);
    symlinkSync(path, path);
    expect(file.isReplaced()).toBe(false);
    file.close();
  });

  it('keeps reading the old file when a new one is renamed over it', async () => {
    writeFileSync(path, OLD);
    const before = openSnapshot(openSnapshotFile(path));
    const last = before.job(199);
    await writeSnapshotFile(path, [NEW]);
    expect(before.job(199)).toEqual(last);
    const after = openSnapshot(openSnapshotFile(path));
    expect(after.rowCount).toBe(300);
    before.close();
    after.close();
  });

  const inPlace: [string, () => void][] = [
    ['overwritten with another snapshot', () => writeFileSync(path, NEW)],
    ['truncated', () => truncateSync(path, 100)],
    ['overwritten with as many bytes', () => writeFileSync(path, Uint8Array.from(OLD).fill(0, 5000))],
  ];
  for (const [title, change] of inPlace) {
    it(`gives no row of a file that was ${title} in place`, () => {
      writeFileSync(path, OLD);
      utimesSync(path, 1_700_000_000, 1_700_000_000);
      const snapshot = openSnapshot(openSnapshotFile(path));
      change();
      expect(() => snapshot.cold.rowAt(0)).toThrow(SnapshotChangedError);
      snapshot.close();
    });
  }
});

describe('writing a snapshot file', () => {
  it('leaves exactly the new file', async () => {
    writeFileSync(path, OLD);
    await writeSnapshotFile(path, [NEW.subarray(0, 1000), new Uint8Array(0), NEW.subarray(1000)]);
    expect(NEW.equals(readFileSync(path))).toBe(true);
    expect(readdirSync(directory)).toEqual(['catalogue']);
  });

  it('leaves the old file and nothing else when its source of bytes fails', async () => {
    writeFileSync(path, OLD);
    const failing = function* (): Generator<Uint8Array> {
      yield NEW.subarray(0, 1000);
      throw new RangeError('no more');
    };
    await expect(writeSnapshotFile(path, failing())).rejects.toThrow(RangeError);
    expect(OLD.equals(readFileSync(path))).toBe(true);
    expect(readdirSync(directory)).toEqual(['catalogue']);
  });

  it('says in one line that the directory is missing, or that a directory is in the way', async () => {
    const nowhere = join(directory, 'missing', 'catalogue');
    await expect(writeSnapshotFile(nowhere, [NEW])).rejects.toThrow(/cannot be written \(ENOENT\)$/);
    mkdirSync(path);
    await expect(writeSnapshotFile(path, [NEW])).rejects.toThrow(SnapshotError);
    expect(readdirSync(directory)).toEqual(['catalogue']);
    expect(existsSync(path)).toBe(true);
  });

  it.skipIf(process.getuid?.() === 0)(
    'says in one line that a directory cannot be synced (skipped for root)',
    async () => {
      chmodSync(directory, 0o300);
      await expect(writeSnapshotFile(path, [NEW])).rejects.toThrow(/cannot be written \(EACCES\)$/);
      chmodSync(directory, 0o700);
    },
  );
});

describe('leftovers of killed builds', () => {
  it('are removed once they are old, and nothing else', () => {
    const [old, young, spill] = Array.from({ length: 3 }, () => `${path}.${crypto.randomUUID()}`);
    const names = [`${old}.tmp`, `${spill}.spill.tmp`, path, `${path}.bak`, `${path}2.${crypto.randomUUID()}.tmp`];
    for (const name of names) writeFileSync(name, '');
    for (const name of names) utimesSync(name, 1, 1);
    writeFileSync(`${young}.tmp`, '');
    removeLeftovers(path, 2000);
    const left = readdirSync(directory).map((name) => join(directory, name));
    expect(new Set(left)).toEqual(new Set([...names.slice(2), `${young}.tmp`]));
  });

  it('are left in a folder that cannot be listed, which says so in one line', () => {
    const nowhere = join(directory, 'nowhere');
    const reason = `${nowhere}: leftovers of builds cannot be removed (ENOENT)`;
    expect(() => removeLeftovers(join(nowhere, 'catalogue'), 0)).toThrow(new SnapshotError(reason));
  });
});
