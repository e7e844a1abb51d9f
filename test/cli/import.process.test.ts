/**
 * `import` as a process: killed at any moment, the catalogue is as before or after. One runtime in `npm test`, each in
 * `npm run test:slow`.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/command.ts';
import { PROGRAM } from '../../src/cli/program.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { binaryOf, MAIN, oneRuntime, RUNTIMES, type Runtime, startProcess } from '../support/server.ts';
import { partOf } from '../support/whole.ts';
import { capturedIo } from './captured-io.ts';

const folder = suiteFolder();

const started = (runtime: Runtime, ...words: string[]) => startProcess(binaryOf(runtime), [MAIN, ...words]);

/** Every row of every table. Opening it undoes what a killed process left half-written. */
function digestOf(catalogue: string): string {
  const database = new DatabaseSync(join(catalogue, 'catalogue.sqlite'));
  const hash = createHash('sha256');
  for (const table of ['board', 'feed', 'job', 'event', 'dictionary']) {
    for (const row of database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()) hash.update(JSON.stringify(row));
  }
  const verdict = Object.values(database.prepare('PRAGMA integrity_check').get() as object)[0];
  database.close();
  expect(verdict).toBe('ok');
  return hash.digest('hex');
}

const POSTINGS = partOf(3000);
/** Half of the jobs have another title than the day before, and a third are others. */
function board(day: number): string {
  const jobs = Array.from({ length: POSTINGS }, (_, i) => ({
    id: i % 3 === 0 ? i + day * POSTINGS : i,
    title: i % 2 === 0 ? `Cook ${i} ${day}` : `Cook ${i}`,
    updated_at: '',
    company_slug: `acme-${i % 7}`,
    absolute_url: `https://boards.greenhouse.io/acme-${i % 7}/jobs/${i}`,
  }));
  const file = join(folder, `${day}.json`);
  writeFileSync(file, JSON.stringify(jobs));
  return file;
}

const FILES = [board(1), board(2)] as const;
const importing = (catalogue: string, day: 1 | 2) => [
  'import',
  '--complete',
  '--observed-at',
  `2026-08-0${day}`,
  '--catalogue',
  catalogue,
  FILES[day - 1] as string,
];

const inUse = (catalogue: string): string =>
  `paygrade: ${catalogue}/catalogue.sqlite is in use by an import or a watch\n`;

/** Whether a transaction began: another process may write. */
function begins(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN IMMEDIATE');
    return true;
  } catch {
    return false;
  }
}

it('an import holds up no writer of the catalogue while it reads pipes, and takes each of them', async () => {
  const catalogue = join(folder, 'from-pipes');
  const pipes = ['one', 'two'].map((name) => join(folder, name));
  execFileSync('mkfifo', pipes);
  const { io, written } = capturedIo({});
  const words = ['import', '--catalogue', catalogue, '--format', 'greenhouse', ...pipes];
  const ending = runProgram(PROGRAM, words, io);
  for (const [i, pipe] of pipes.entries()) {
    // Opens once the import reads from the other end.
    const writing = await open(pipe, 'w');
    HistoryDatabase.openForSettings(catalogue, 0).close();
    const job = { id: i, title: 'Cook', updated_at: '', company_slug: 'acme', absolute_url: 'https://acme.example/' };
    await writing.writeFile(JSON.stringify([job]));
    await writing.close();
  }
  expect([await ending, written.stderr]).toEqual([0, expect.stringContaining('2 new')]);
});

const KILL_COUNT = partOf(6, 2);

describe.each(oneRuntime('bun'))('import under %s', (runtime) => {
  it('leaves the catalogue as before or after when it is killed at any moment', { timeout: 240_000 }, async () => {
    const before = join(folder, `${runtime}-before`);
    expect(await started(runtime, ...importing(before, 1)).ended).toMatchObject({ exitCode: 0 });
    const after = join(folder, `${runtime}-after`);
    cpSync(before, after, { recursive: true });
    const startedAt = performance.now();
    expect(await started(runtime, ...importing(after, 2)).ended).toMatchObject({ exitCode: 0 });
    const wholeMs = performance.now() - startedAt;
    const digests = [digestOf(before), digestOf(after)];
    expect(digests[0]).not.toBe(digests[1]);

    const outcomes = new Set<number>();
    for (let kill = 0; kill < KILL_COUNT; kill++) {
      const catalogue = join(folder, `${runtime}-${kill}`);
      cpSync(before, catalogue, { recursive: true });
      const { child, ended } = started(runtime, ...importing(catalogue, 2));
      if (kill === 0) await sleep(Math.random() * wholeMs * 0.2);
      else if (kill % 2 === 0) await sleep(Math.random() * wholeMs);
      else {
        // While pages are written: the journal is there from the first of them to the commit.
        const journal = join(catalogue, 'catalogue.sqlite-journal');
        while (child.exitCode === null && !existsSync(journal)) await sleep(1);
        await sleep(Math.random() * wholeMs * 0.3);
      }
      child.kill('SIGKILL');
      await ended;
      const found = digests.indexOf(digestOf(catalogue));
      expect(found, `kill ${kill}`).not.toBe(-1);
      outcomes.add(found);
    }
    expect(outcomes.has(0)).toBe(true);
    // What was before can be imported into again.
    const last = join(folder, `${runtime}-${KILL_COUNT - 1}`);
    expect(await started(runtime, ...importing(last, 2)).ended).toMatchObject({ exitCode: 0 });
    expect(digestOf(last)).toBe(digests[1]);
  });

  it('leaves no catalogue or a whole one when the first import is killed', { timeout: 60_000 }, async () => {
    const catalogue = join(folder, `${runtime}-first`);
    const { child, ended } = started(runtime, ...importing(catalogue, 1));
    while (child.exitCode === null && !existsSync(join(catalogue, 'catalogue.sqlite-journal'))) await sleep(1);
    child.kill('SIGKILL');
    await ended;
    expect(await started(runtime, ...importing(catalogue, 1)).ended).toMatchObject({ exitCode: 0 });
    expect(digestOf(catalogue)).toBe(digestOf(join(folder, `${runtime}-before`)));
  });

  it('waits for another import at the same time, and gives up one that takes long', { timeout: 60_000 }, async () => {
    const catalogue = join(folder, `${runtime}-both`);
    const both = [1, 2].map((day) => started(runtime, ...importing(catalogue, day as 1 | 2)));
    const ends = await Promise.all(both.map(({ ended }) => ended));
    const codes = ends.map(({ exitCode }) => exitCode).sort();
    // Either may come first.
    expect([
      [0, 0],
      [0, 1],
    ]).toContainEqual(codes);
    for (const { exitCode, stderr } of ends) if (exitCode === 1) expect(stderr).toBe(inUse(catalogue));
  });

  it('waits for the visits of a watch, and gives up a writer that holds the catalogue', {
    timeout: 60_000,
  }, async () => {
    const catalogue = join(folder, `${runtime}-beside`);
    cpSync(join(folder, `${runtime}-before`), catalogue, { recursive: true });
    const before = digestOf(catalogue);
    // A commit waits for a reader, as a watch's does.
    const writer = new DatabaseSync(join(catalogue, 'catalogue.sqlite'), { timeout: 1_000 });
    writer.exec('BEGIN IMMEDIATE');
    expect(await started(runtime, ...importing(catalogue, 2)).ended).toMatchObject({
      ...{ exitCode: 1, stderr: inUse(catalogue) },
    });
    writer.exec('ROLLBACK');
    expect(digestOf(catalogue)).toBe(before);
    const { ended } = started(runtime, ...importing(catalogue, 2));
    let hasEnded = false;
    void ended.then(() => {
      hasEnded = true;
    });
    // As a watch has it: one transaction a visit, and moments between them.
    for (let visits = 0; visits < 100 && !hasEnded; visits++) {
      if (!begins(writer)) continue;
      await sleep(50);
      writer.exec('COMMIT');
      await sleep(10);
    }
    expect(await ended).toMatchObject({ exitCode: 0 });
    writer.close();
    expect(digestOf(catalogue)).toBe(digestOf(join(folder, `${runtime}-after`)));
  });

  it('makes a catalogue of which each runtime makes the same snapshot', { timeout: 60_000 }, async () => {
    const contents = new Set<string>();
    for (const by of RUNTIMES) {
      const out = join(folder, `${runtime}-${by}.snapshot`);
      const words = ['snapshot', 'build', '--json', '--catalogue', join(folder, `${runtime}-after`), '--out', out];
      const { exitCode, stdout } = await started(by, ...words).ended;
      expect(exitCode).toBe(0);
      contents.add((JSON.parse(stdout) as { content: string }).content);
    }
    expect(contents.size).toBe(1);
  });
});
