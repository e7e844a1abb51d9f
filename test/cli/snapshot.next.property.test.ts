/** A build that takes over what the last snapshot has gives the same bytes as one from nothing at the same time. */
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import { combinedChecksum } from '../../src/catalogue/packed/combined-checksum.ts';
import { buildFromHistory, KEPT_LIST } from '../../src/cli/snapshot/build-from-history.ts';
import { openKeptBuild } from '../../src/cli/snapshot/kept-build.ts';
import { HISTORY_FILE, HistoryDatabase } from '../../src/storage/history/database.ts';
import { HistoryImport } from '../../src/storage/history/import.ts';
import { SeededChance } from '../support/generated-catalogue.ts';
import { GeneratedHistory } from '../support/generated-history.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { IS_WHOLE } from '../support/whole.ts';
import { capturedIo, NOW_MS, run } from './captured-io.ts';

/** What another build renames over the next snapshot, as soon as it is in its place. */
const replaced = vi.hoisted(() => ({ by: undefined as Uint8Array | undefined }));
vi.mock('../../src/adapters/files/snapshot-file.ts', async (original) => {
  const file = await original<typeof import('../../src/adapters/files/snapshot-file.ts')>();
  const writeSnapshotFile: typeof file.writeSnapshotFile = async (path, ...rest) => {
    await file.writeSnapshotFile(path, ...rest);
    if (replaced.by !== undefined) writeFileSync(path, replaced.by);
    replaced.by = undefined;
  };
  return { ...file, writeSnapshotFile };
});

let folder: string;
beforeEach(() => {
  folder = testFolder();
});
const at = (name: string): string => join(folder, name);
const HOUR_MS = 3_600_000;

interface Posting {
  readonly id: number;
  title: string;
  content: string;
}

/** Words that compress as prose does, one text unlike another. */
const prose = (random: SeededRandom, words: number): string =>
  Array.from({ length: words }, () => `${random.below(2000).toString(36)}ing`).join(' ');

function fileOf(token: string, postings: readonly Posting[]): string {
  const jobs = postings.map(({ id, title, content }) => ({
    id,
    title,
    content,
    company_name: `Firm ${token.slice(1)}`,
    absolute_url: `https://boards.greenhouse.io/${token}/jobs/${id}`,
    updated_at: '2026-07-01T00:00:00Z',
    location: { name: 'Bern' },
  }));
  const file = at(`${token}.json`);
  writeFileSync(file, JSON.stringify({ jobs, meta: { total: jobs.length } }));
  return file;
}

class Boards {
  readonly #random: SeededRandom;
  readonly #boards = new Map<string, Posting[]>();
  #next = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
    for (let board = 0; board < 4; board++) {
      this.#boards.set(
        `b${board}`,
        Array.from({ length: 5 + random.below(40) }, () => this.#posting()),
      );
    }
  }

  #posting(): Posting {
    // Some have the text of another one, none, or more than is kept.
    const draw = this.#random.unit();
    const content =
      draw < 0.05
        ? ''
        : draw < 0.1
          ? 'The same for all.'
          : prose(this.#random, draw > 0.99 ? 5000 : 100 + this.#random.below(600));
    return { id: this.#next++, title: `Cook ${this.#random.below(50)}`, content };
  }

  /** Opens, changes and closes a few postings of some boards; others are fetched unchanged or not at all. @returns files */
  change(): string[] {
    const files: string[] = [];
    for (const [token, postings] of this.#boards) {
      if (this.#random.unit() < 0.3) continue;
      if (this.#random.unit() < 0.6) {
        for (let i = this.#random.below(4); i > 0; i--) postings.push(this.#posting());
        if (this.#random.unit() < 0.5) postings.splice(this.#random.below(postings.length), 1);
        const changed = postings[this.#random.below(postings.length)]!;
        changed.content = `${changed.content} Changed.`;
      }
      files.push(fileOf(token, postings));
    }
    return files;
  }

  /** Gives the first posting of each board another title. @returns files */
  retitle(): string[] {
    return [...this.#boards].map(([token, postings]) => {
      postings[0]!.title += ' again';
      return fileOf(token, postings);
    });
  }
}

const plan = {
  maxAgeDays: undefined as number | undefined,
  mergesSameUrl: false,
  keepsDescriptions: true,
  isJson: false,
};

async function built(
  out: string,
  isNext: boolean,
  nowMs: number,
  selection: Partial<typeof plan> = {},
): Promise<Buffer> {
  const { io } = capturedIo({ nowMs });
  await buildFromHistory({ ...plan, ...selection, folder: at('catalogue'), out: at(out), isNext }, io);
  return readFileSync(at(out));
}

async function imported(files: readonly string[], nowMs: number): Promise<void> {
  if (files.length === 0) return;
  const observed = new Date(nowMs).toISOString();
  const { exitCode, stderr } = await run(
    ['import', '--catalogue', at('catalogue'), '--complete', '--observed-at', observed, ...files],
    { nowMs },
  );
  expect(exitCode, stderr).toBe(0);
}

/** Rounds with other chances. */
const SEEDS = Array.from({ length: IS_WHOLE ? 20 : 2 }, (_, i) => i + 1);

const HISTORY_SEEDS = Array.from({ length: IS_WHOLE ? 60 : 2 }, (_, i) => i + 1);
const ROUNDS = 6;

/** A board says that it is unchanged, or the operator names a company otherwise. */
function repeatOrAddWord(chance: SeededChance, atMs: number): void {
  const history = HistoryDatabase.openForImport(at('catalogue'));
  try {
    const merging = new HistoryImport(history, { mayHaveDays: false, skillsVersion: 'v' });
    const [shape, board] = chance.oneOf([
      ['lever', 'acme'],
      ['lever', 'acmeworks'],
      ['greenhouse', 'globex'],
      ['greenhouse', 'strasse'],
    ]) as [string, string];
    if (chance.is(85)) merging.repeatLast(shape, board, atMs);
    else {
      const domain = chance.oneOf([null, 'word.example' as CompanyDomain]);
      merging.rememberWords([
        { kind: 'board', key: board, name: chance.oneOf([null, 'Other']), domain, url: null, aliases: [] },
      ]);
    }
    merging.commit();
  } finally {
    history.close();
  }
}

describe('a next build', () => {
  it.each(SEEDS)(
    'is the build from nothing, byte by byte, round after round (seed %i)',
    async (seed) => {
      const random = new SeededRandom(seed, 18);
      const boards = new Boards(random);
      await imported(boards.change(), NOW_MS);
      for (let round = 1; round <= 3; round++) {
        const nowMs = NOW_MS + round * HOUR_MS;
        await imported(boards.change(), nowMs);
        const damage = random.below(6);
        if (damage === 0) rmSync(at(`catalogue/${KEPT_LIST}`), { force: true });
        if (damage === 1) writeFileSync(at('jobs.snapshot'), await built('other.snapshot', false, nowMs - 1));
        if (damage === 2 && round > 1) {
          const list = readFileSync(at(`catalogue/${KEPT_LIST}`));
          list[random.below(list.length)]! ^= 4;
          writeFileSync(at(`catalogue/${KEPT_LIST}`), list);
        }
        const next = await built('jobs.snapshot', true, nowMs);
        expect(next.equals(await built('nothing.snapshot', false, nowMs)), `round ${round}`).toBe(true);
      }
    },
    30_000,
  );

  it.each(HISTORY_SEEDS)(
    'is the build from nothing over any history, and any choice of its jobs (seed %i)',
    async (seed) => {
      const chance = new SeededChance(seed);
      const history = new GeneratedHistory(chance, at('catalogue'), NOW_MS);
      history.importFeeds(6);
      let nowMs = NOW_MS;
      for (let round = 1; round <= ROUNDS; round++) {
        if (chance.is(70)) history.importFeeds(1 + chance.below(3));
        if (chance.is(60)) repeatOrAddWord(chance, history.newestMs + chance.oneOf([1, HOUR_MS]));
        if (chance.is(10)) copyFileSync(at(`catalogue/${HISTORY_FILE}`), at('backup'));
        if (chance.is(10) && existsSync(at('backup'))) copyFileSync(at('backup'), at(`catalogue/${HISTORY_FILE}`));
        nowMs = Math.max(nowMs, history.newestMs) + HOUR_MS;
        const choice = chance.oneOf([{}, {}, { maxAgeDays: 2 }, { mergesSameUrl: true }]);
        const selection = { ...choice, keepsDescriptions: !chance.is(5) };
        const next = await built('jobs.snapshot', true, nowMs, selection);
        expect(next.equals(await built('nothing.snapshot', false, nowMs, selection)), `round ${round}`).toBe(true);
      }
    },
    60_000,
  );

  it('shows a title that was replaced with the events before', async () => {
    const boards = new Boards(new SeededRandom(8, 18));
    await imported(boards.change(), NOW_MS);
    await built('jobs.snapshot', true, NOW_MS);
    for (let round = 1; round <= 2; round++) {
      const nowMs = NOW_MS + round * HOUR_MS;
      await imported(boards.retitle(), nowMs);
      const next = await built('jobs.snapshot', true, nowMs);
      expect(next.equals(await built('nothing.snapshot', false, nowMs)), `round ${round}`).toBe(true);
    }
  });

  it('starts from nothing when the snapshot that it takes over is damaged', async () => {
    const boards = new Boards(new SeededRandom(6, 18));
    await imported(boards.change(), NOW_MS);
    const before = await built('jobs.snapshot', true, NOW_MS);
    for (const from of [0.4, 0.6, 0.9]) {
      const damaged = Buffer.from(before);
      damaged[Math.floor(damaged.length * from)]! ^= 1;
      writeFileSync(at('jobs.snapshot'), damaged);
      const next = await built('jobs.snapshot', true, NOW_MS + HOUR_MS);
      expect(next.equals(await built('nothing.snapshot', false, NOW_MS + HOUR_MS))).toBe(true);
      await built('jobs.snapshot', true, NOW_MS);
    }
  });

  it('takes nothing over from a snapshot of another build that replaced its own at once', async () => {
    const boards = new Boards(new SeededRandom(6, 18));
    await imported(boards.change(), NOW_MS);
    const other = await built('other.snapshot', false, NOW_MS);
    await imported(boards.retitle(), NOW_MS + HOUR_MS);
    replaced.by = other;
    await built('jobs.snapshot', true, NOW_MS + HOUR_MS);
    const next = await built('jobs.snapshot', true, NOW_MS + 2 * HOUR_MS);
    expect(next.equals(await built('nothing.snapshot', false, NOW_MS + 2 * HOUR_MS))).toBe(true);
  });

  it('reads only the jobs that were written since', async () => {
    const boards = new Boards(new SeededRandom(7, 18));
    while (boards.change().length < 4);
    await imported(
      ['b0', 'b1', 'b2', 'b3'].map((token) => at(`${token}.json`)),
      NOW_MS,
    );
    await built('jobs.snapshot', true, NOW_MS);
    const database = new DatabaseSync(at(`catalogue/${HISTORY_FILE}`));
    database.exec("UPDATE job SET title = 'Damaged'");
    database.close();
    await built('jobs.snapshot', true, NOW_MS + HOUR_MS);
    await expect(built('nothing.snapshot', false, NOW_MS + HOUR_MS)).rejects.toThrow(/is not what was written/);
  });

  it('reads no description of a block that is unchanged', async () => {
    const boards = new Boards(new SeededRandom(5, 18));
    while (boards.change().length < 4);
    await imported(
      ['b0', 'b1', 'b2', 'b3'].map((token) => at(`${token}.json`)),
      NOW_MS,
    );
    await built('jobs.snapshot', true, NOW_MS);
    const database = new DatabaseSync(at('catalogue/catalogue.sqlite'));
    database.exec("UPDATE description SET text = x'00' WHERE is_truncated = 0");
    database.close();
    await built('jobs.snapshot', true, NOW_MS + HOUR_MS);
    await expect(built('nothing.snapshot', false, NOW_MS + HOUR_MS)).rejects.toThrow(
      /the description of job "[^"]+" is unreadable/,
    );
    expect(openKeptBuild(at(`catalogue/${KEPT_LIST}`), at('nowhere'), true)).toBeUndefined();
    expect(openKeptBuild(at('nowhere'), at('jobs.snapshot'), true)).toBeUndefined();
    expect(openKeptBuild(at(`catalogue/${KEPT_LIST}`), at('jobs.snapshot'), false)).toBeUndefined();
  });
});

describe('a combined checksum', () => {
  it.each([
    ['', ''],
    ['a', ''],
    ['', 'b'],
    ['hello ', 'world'],
    ['x'.repeat(70_000), 'y'.repeat(1_234_567)],
  ])('is that of both texts', (first, second) => {
    expect(combinedChecksum(crc32(first), crc32(second), second.length)).toBe(crc32(first + second));
  });
});
