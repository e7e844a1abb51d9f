/** A build that takes over the blocks of the last snapshot gives the same bytes as one from nothing at the same time. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEarlierBlocks } from '../../src/adapters/files/block-index.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { combinedChecksum } from '../../src/catalogue/packed/combined-checksum.ts';
import { BLOCK_LIST, buildFromHistory } from '../../src/cli/snapshot/build-from-history.ts';
import { IS_WHOLE } from '../support/whole.ts';
import { capturedIo, NOW_MS, run } from './captured-io.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paygrade-next-'));
});
afterEach(() => rmSync(folder, { recursive: true }));
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
      const jobs = postings.map(({ id, title, content }) => ({
        id,
        title,
        content,
        company_name: `Firm ${token.slice(1)}`,
        absolute_url: `https://boards.greenhouse.io/${token}/jobs/${id}`,
        updated_at: '2026-07-01T00:00:00Z',
        location: { name: 'Bern' },
      }));
      writeFileSync(at(`${token}.json`), JSON.stringify({ jobs, meta: { total: jobs.length } }));
      files.push(at(`${token}.json`));
    }
    return files;
  }
}

const plan = { maxAgeDays: undefined, mergesSameUrl: false, keepsDescriptions: true, isJson: false };

async function built(out: string, isNext: boolean, nowMs: number): Promise<Buffer> {
  const { io, written } = capturedIo({ nowMs });
  const exitCode = await buildFromHistory({ ...plan, folder: at('catalogue'), out: at(out), isNext }, io);
  expect(exitCode, written.stderr).toBe(0);
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
        if (damage === 0) rmSync(at(`catalogue/${BLOCK_LIST}`), { force: true });
        if (damage === 1) writeFileSync(at('jobs.snapshot'), await built('other.snapshot', false, nowMs - 1));
        if (damage === 2 && round > 1) {
          const list = readFileSync(at(`catalogue/${BLOCK_LIST}`));
          list[random.below(list.length)]! ^= 4;
          writeFileSync(at(`catalogue/${BLOCK_LIST}`), list);
        }
        const next = await built('jobs.snapshot', true, nowMs);
        expect(next.equals(await built('nothing.snapshot', false, nowMs)), `round ${round}`).toBe(true);
      }
    },
    30_000,
  );

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
    expect(openEarlierBlocks(at(`catalogue/${BLOCK_LIST}`), at('nowhere'))).toBeUndefined();
    expect(openEarlierBlocks(at('nowhere'), at('jobs.snapshot'))).toBeUndefined();
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
