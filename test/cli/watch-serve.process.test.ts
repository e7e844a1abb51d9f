/**
 * What the watch and a server do together, as real processes: rounds that are killed lose nothing, and a server loads each snapshot
 * without a failed or mixed answer.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import type { Board } from '../../src/ingest/boards/board.ts';
import { BoardTables } from '../../src/storage/history/board-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { jobsToBuild } from '../../src/storage/history/jobs-to-build.ts';
import { BoardStub } from '../support/board-stub.ts';
import { greenhouseBoard as boardOf, greenhouseListing as listing } from '../support/greenhouse-listing.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { binaryOf, MAIN, startProcess, startServer } from '../support/server.ts';
import { pause, until } from '../support/until.ts';
import { IS_WHOLE, partOf } from '../support/whole.ts';

let folder: string;
let stub: BoardStub;
beforeEach(async () => {
  folder = testFolder();
  stub = await BoardStub.open();
});
afterEach(() => {
  stub.close();
});

const at = (name: string): string => join(folder, name);

function addBoards(boards: readonly Board[]): void {
  const history = HistoryDatabase.openForSettings(at('catalogue'));
  for (const board of boards) new BoardTables(history).put(board, 0);
  history.commit();
  history.close();
}

const WATCH = ['watch', '--catalogue', 'CATALOGUE', '--out', 'OUT', '--once', '--host-pause-ms', '15'] as const;
const watchWords = (...more: readonly string[]): string[] =>
  [...WATCH, ...more].map((word) =>
    word === 'CATALOGUE' ? at('catalogue') : word === 'OUT' ? at('jobs.snapshot') : word,
  );

/** The names of boards that have been fetched, and the jobs of each. */
function kept(): ReadonlyMap<string, number> {
  const history = HistoryDatabase.openForReading(at('catalogue'));
  const visited = new BoardTables(history).list().filter(({ state }) => state !== null);
  const jobs = Map.groupBy(jobsToBuild(history), ({ job }) => job.id.split(':')[1]!);
  history.close();
  return new Map(visited.map(({ token }) => [token, jobs.get(token)?.length ?? 0]));
}

/** Boards of a round that is killed over and over. */
const BOARDS = IS_WHOLE ? 150 : 24;
const KILLS = IS_WHOLE ? 50 : 1;

describe('a round of watch that is killed', () => {
  it(`loses nothing of ${KILLS} tries, and asks each board until it is kept and not again`, async () => {
    const boards = Array.from({ length: BOARDS }, (_, i) => boardOf(`board${i}`));
    for (const [i, board] of boards.entries()) stub.list(board, listing(board.token, 1 + (i % 7)), { hasEtags: false });
    addBoards(boards);
    const random = new SeededRandom(9);
    for (let kill = 0; kill < KILLS; kill++) {
      const before = stub.seen.length;
      const { child, exited } = startProcess(binaryOf('node'), [MAIN, ...watchWords()], stub.env);
      // Somewhere between its first request and a few boards later.
      await until('its first request', () => stub.seen.length > before || child.exitCode !== null, 20_000);
      await pause(random.below(IS_WHOLE ? 60 : 120));
      child.kill('SIGKILL');
      await exited;
      for (const [token, jobs] of kept()) expect(jobs, token).toBe(1 + (Number(token.slice(5)) % 7));
    }
    const keptBefore = kept().size;
    const askedBefore = stub.seen.length;
    const last = startProcess(binaryOf('node'), [MAIN, ...watchWords()], stub.env);
    expect((await last.ended).exitCode).toBe(0);
    expect(kept().size).toBe(BOARDS);
    expect(stub.seen.length - askedBefore).toBeGreaterThanOrEqual(BOARDS - keptBefore);
    expect(existsSync(at('jobs.snapshot'))).toBe(true);
    // Of each killed process at most one board was answered and not kept, for one host is asked at a time.
    expect(stub.seen.length).toBeLessThanOrEqual(BOARDS + 2 * KILLS);
  }, 120_000);
});

/** Boards of a build that takes long enough to be met. */
const BUILT_BOARDS = 4;
const BUILT_JOBS = 500;
/** A busy machine may let a build end before the kill comes. */
const BUILDS_MAX = 6;

describe('a build that is killed', () => {
  it('leaves the snapshot as it was, and the next start builds what was found', async () => {
    const boards = Array.from({ length: BUILT_BOARDS }, (_, i) => boardOf(`board${i}`));
    const serve = (company: string): void => {
      for (const board of boards) stub.list(board, listing(board.token, BUILT_JOBS, company), { hasEtags: false });
    };
    addBoards(boards);
    serve('First');
    expect((await startProcess(binaryOf('node'), [MAIN, ...watchWords()], stub.env).ended).exitCode).toBe(0);
    const left = (): string[] => readdirSync(folder).filter((name) => /^jobs\.snapshot\..*\.tmp$/.test(name));
    let before = readFileSync(at('jobs.snapshot'));
    let company = '';
    for (let build = 1; left().length === 0 && build <= BUILDS_MAX; build++) {
      before = readFileSync(at('jobs.snapshot'));
      company = `Company${build}`;
      serve(company);
      const visited = stub.seen.length + BUILT_BOARDS;
      const killed = startProcess(binaryOf('node'), [MAIN, ...watchWords('--all')], stub.env);
      // A watch tries at its start whether the file can be written, so one that is left before the visits is not of a build.
      const isBuilding = (): boolean => stub.seen.length >= visited && left().length > 0;
      while (!isBuilding() && killed.child.exitCode === null) await pause(2);
      killed.child.kill('SIGKILL');
      await killed.exited;
    }
    expect(left()).not.toEqual([]);
    expect(readFileSync(at('jobs.snapshot')).equals(before)).toBe(true);
    const asked = stub.seen.length;
    expect((await startProcess(binaryOf('node'), [MAIN, ...watchWords()], stub.env).ended).exitCode).toBe(0);
    expect(stub.seen.length).toBe(asked);
    const exported = startProcess(binaryOf('node'), [MAIN, 'snapshot', 'export', at('jobs.snapshot')], {});
    const { exitCode, stdout } = await exported.ended;
    const companies = stdout.split('\n').map((line) => /"company":"(\w+)"/.exec(line)?.[1]);
    expect([exitCode, companies.filter((one) => one === company).length]).toEqual([0, BUILT_BOARDS * BUILT_JOBS]);
  }, 120_000);
});

interface Companies {
  readonly data: { readonly companies: readonly { readonly name: string }[] };
}

/** Rounds that a client asks through. */
const ROUNDS = partOf(20, 1);

describe('a server whose catalogue is watched', () => {
  it(`loads ${ROUNDS} snapshots while a client asks, without a failed or mixed answer`, async () => {
    const boards = ['a', 'b', 'c', 'd'].map(boardOf);
    addBoards(boards);
    const round = async (version: number): Promise<void> => {
      for (const board of boards) stub.list(board, listing(board.token, 6, `Firm ${board.token} v${version}`));
      const { ended } = startProcess(binaryOf('node'), [MAIN, ...watchWords('--all')], stub.env);
      const { exitCode, stderr } = await ended;
      expect(exitCode, stderr).toBe(0);
    };
    await round(0);
    const server = await startServer('node', {
      SNAPSHOT: at('jobs.snapshot'),
      LOG_LEVEL: 'error',
      RATE_LIMIT_PER_MINUTE: '0',
    });
    const versionsSeen: string[] = [];
    let asked = 0;
    let isDone = false;
    const client = (async () => {
      while (!isDone) {
        const response = await fetch(`${server.url}/v1/companies?q=firm`);
        const text = await response.text();
        expect(response.status, text).toBe(200);
        const names = (JSON.parse(text) as Companies).data.companies.map(({ name }) => name);
        const versions = [...new Set(names.map((name) => name.split(' v')[1]!))];
        expect([names.length, versions.length], text).toEqual([4, 1]);
        if (versionsSeen.at(-1) !== versions[0]) versionsSeen.push(versions[0]!);
        asked++;
        await pause(IS_WHOLE ? 0 : 10);
      }
    })();
    for (let version = 1; version <= ROUNDS; version++) {
      await round(version);
      await until(`version ${version}`, () => versionsSeen.at(-1) === String(version), 15_000);
    }
    isDone = true;
    await client;
    expect(versionsSeen).toEqual(Array.from({ length: ROUNDS + 1 }, (_, version) => String(version)));
    expect(asked).toBeGreaterThan(ROUNDS * 10);
    expect(await server.stop()).toBe(0);
  }, 120_000);

  it.runIf(IS_WHOLE)(
    'is left alone with SNAPSHOT_WATCH=false, and keeps what it has when the new file is damaged',
    async () => {
      addBoards([boardOf('acme')]);
      stub.list(boardOf('acme'), listing('acme', 3));
      const { ended } = startProcess(binaryOf('node'), [MAIN, ...watchWords('--all')], stub.env);
      expect((await ended).exitCode).toBe(0);
      const [still, watching] = await Promise.all(
        ['false', 'true'].map((SNAPSHOT_WATCH) =>
          startServer('node', { SNAPSHOT: at('jobs.snapshot'), LOG_LEVEL: 'error', SNAPSHOT_WATCH }),
        ),
      );
      writeFileSync(at('jobs.snapshot.new'), readFileSync(at('jobs.snapshot')).subarray(0, 5000));
      rmSync(at('jobs.snapshot'));
      writeFileSync(at('jobs.snapshot'), readFileSync(at('jobs.snapshot.new')));
      await until('a refusal', () => /catalogue reload failed/.test(watching!.stderr()), 20_000);
      const names = await (await fetch(`${watching!.url}/v1/companies?q=acme`)).text();
      expect(names).toContain('"name":"acme"');
      expect(still!.stderr()).not.toMatch(/reload/);
      await Promise.all([still!.stop(), watching!.stop()]);
    },
    60_000,
  );
});
