/** A file in the place of the catalogue file is noticed once, when it is whole. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { SnapshotWatch } from '../../../src/adapters/files/snapshot-watch.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { testFolder } from '../../support/scratch-folder.ts';

let folder: string;
let path: string;
let time: ManualTime;
let seen: number;
let missing: number;
let watch: SnapshotWatch;
beforeEach(() => {
  folder = testFolder();
  path = join(folder, 'jobs.snapshot');
  writeFileSync(path, 'one');
  time = new ManualTime();
  seen = 0;
  missing = 0;
  watch = new SnapshotWatch(path);
});

const start = (): void =>
  watch.start(
    time,
    () => {
      seen++;
    },
    () => {
      missing++;
    },
  );
function replace(text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

describe('the watch of a catalogue file', () => {
  it('says nothing of the file that was there, and says once that another took its place', () => {
    start();
    time.pass(5000);
    expect(seen).toBe(0);
    replace('two');
    time.pass(10_000);
    expect(seen).toBe(1);
  });

  it('notices a file that came between its making and its start', () => {
    replace('two');
    start();
    time.pass(2000);
    expect(seen).toBe(1);
  });

  it('waits while a producer still writes in place', () => {
    start();
    for (let length = 4; length < 12; length++) {
      writeFileSync(path, 'x'.repeat(length));
      time.pass(1000);
    }
    expect(seen).toBe(0);
    time.pass(1000);
    expect(seen).toBe(1);
  });

  it('says once that the file is gone, again when the next one is, and nothing of a file that is between two', () => {
    start();
    rmSync(path);
    time.pass(1000);
    writeFileSync(path, 'two');
    time.pass(3000);
    expect(missing).toBe(0);
    rmSync(path);
    time.pass(10_000);
    expect(missing).toBe(1);
    writeFileSync(path, 'three');
    time.pass(3000);
    rmSync(path);
    time.pass(3000);
    expect([missing, seen]).toEqual([2, 2]);
  });

  it('says nothing of a file whose loading was announced, and nothing after its end', () => {
    start();
    rmSync(path);
    time.pass(3000);
    expect(seen).toBe(0);
    replace('two');
    watch.noteLoad();
    time.pass(3000);
    expect(seen).toBe(0);
    watch.stop();
    replace('three');
    time.pass(3000);
    expect([seen, time.pendingCount]).toEqual([0, 0]);
  });
});
