/** A build from the catalogue lets the loop turn, and is given up when its process is to end. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { buildFromHistory, KEPT_LIST } from '../../src/cli/snapshot/build-from-history.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { capturedIo, run } from './captured-io.ts';

const folder = suiteFolder();
const catalogue = join(folder, 'catalogue');
const out = join(folder, 'jobs.snapshot');
const plan = { folder: catalogue, out, maxAgeDays: undefined, mergesSameUrl: false, keepsDescriptions: true };
const build = (signal?: AbortSignal): Promise<void> =>
  buildFromHistory({ ...plan, isJson: false, isNext: true }, capturedIo({}).io, signal);

/** More than two turns' worth. */
const JOBS = 600;

beforeAll(async () => {
  const jobs = Array.from({ length: JOBS }, (_, id) => ({
    id,
    title: 'Cook',
    content: '<p>Cook with care.</p>',
    company_name: 'Acme',
    absolute_url: `https://boards.greenhouse.io/acme/jobs/${id}`,
    updated_at: '2026-07-01T00:00:00Z',
    location: { name: 'Bern' },
  }));
  const file = join(folder, 'acme.json');
  writeFileSync(file, JSON.stringify({ jobs, meta: { total: JOBS } }));
  expect(await run(['import', '--catalogue', catalogue, file])).toMatchObject({ exitCode: 0 });
});

it('signals come while jobs are read', async () => {
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  // Writing waits for the disk, which turns the loop too: turns before that are those of the reading.
  const { io } = capturedIo({});
  let turnsAtEnd = 0;
  const clock = {
    ...io.clock,
    nowMs: () => {
      turnsAtEnd = turns;
      return io.clock.nowMs();
    },
  };
  await buildFromHistory({ ...plan, isJson: false, isNext: true }, { ...io, clock });
  isDone = true;
  // The clock is looked at before the first job, and for the facts after the last.
  expect(turnsAtEnd).toBeGreaterThanOrEqual(Math.floor(JOBS / 256));
});

it('it ends with the reason of its signal, and leaves the file and no other', async () => {
  await build();
  const before = readdirSync(folder).sort();
  const end = new AbortController();
  const reason = new Error('SIGTERM');
  end.abort(reason);
  await expect(build(end.signal)).rejects.toBe(reason);
  expect(readdirSync(folder).sort()).toEqual(before);
  await build(new AbortController().signal);
});

it('it ends at any of its turns, and leaves the file as it was', async () => {
  await build();
  const before = readFileSync(out);
  const files = readdirSync(folder).sort();
  // As a first build does, so that every piece of the work comes.
  rmSync(join(catalogue, KEPT_LIST));
  let ended = 0;
  for (let turns = 1; ; turns = Math.ceil(turns * 1.7)) {
    const end = new AbortController();
    const reason = new Error('SIGTERM');
    let left = turns;
    const turn = (): void => {
      if (--left === 0) end.abort(reason);
      else setImmediate(turn);
    };
    setImmediate(turn);
    const outcome = await build(end.signal).catch((error: unknown) => error);
    left = 1;
    expect(readdirSync(folder).sort()).toEqual(files);
    if (outcome === undefined) break;
    expect(outcome).toBe(reason);
    expect(readFileSync(out).equals(before)).toBe(true);
    ended++;
  }
  // The columns, the index, the texts and the checksums are pieces of their own.
  expect(ended).toBeGreaterThan(6);
});
