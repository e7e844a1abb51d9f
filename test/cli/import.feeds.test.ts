/**
 * Dated listings of the same boards: what opened, closed and changed is counted here a second time, by plain code over the
 * files that shares nothing with the program, and compared.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { testFolder } from '../support/scratch-folder.ts';
import { IS_WHOLE } from '../support/whole.ts';
import { run } from './captured-io.ts';

const REAL = new URL('../../../shared/data/real/', import.meta.url).pathname;
const isMissing = !existsSync(REAL);
const because = isMissing ? ' (skipped: ../shared/data/real is not here)' : '';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

interface Plain {
  readonly board: string;
  readonly id: string;
  /** Everything that is recorded of the posting, as one text. */
  readonly content: string;
}

interface Counts {
  new: number;
  seen: number;
  changed: number;
  closed: number;
  reopened: number;
  /** Boards whose feed is under half of the usual. */
  unhealthy: string[];
  opened: string[];
  gone: string[];
}

/** The counts of each step, every feed being complete. */
function countedBySteps(steps: readonly (readonly Plain[])[]): Counts[] {
  const known = new Map<string, Map<string, { content: string; misses: number; isClosed: boolean }>>();
  const sizes = new Map<string, number[]>();
  return steps.map((rows) => {
    const counts: Counts = { new: 0, seen: 0, changed: 0, closed: 0, reopened: 0, unhealthy: [], opened: [], gone: [] };
    const boards = new Map<string, Map<string, string>>();
    for (const { board, id, content } of rows) {
      const listed = boards.get(board) ?? new Map<string, string>();
      boards.set(board, listed);
      if (!listed.has(id)) listed.set(id, content);
    }
    for (const [board, listed] of boards) {
      const sizesBefore = (sizes.get(board) ?? []).slice(-5).sort((a, b) => a - b);
      const low = sizesBefore[Math.floor((sizesBefore.length - 1) / 2)] ?? 0;
      const high = sizesBefore[Math.ceil((sizesBefore.length - 1) / 2)] ?? 0;
      if (listed.size < (low + high) / 4) {
        counts.unhealthy.push(board);
        continue;
      }
      sizes.set(board, [...(sizes.get(board) ?? []), listed.size]);
      const jobs = known.get(board) ?? new Map<string, { content: string; misses: number; isClosed: boolean }>();
      known.set(board, jobs);
      for (const [id, content] of listed) {
        const earlier = jobs.get(id);
        if (!earlier) {
          counts.new++;
          counts.opened.push(`${board}:${id}`);
        } else {
          counts.seen++;
          if (earlier.content !== content) counts.changed++;
          if (earlier.isClosed) counts.reopened++;
        }
        jobs.set(id, { content, misses: 0, isClosed: false });
      }
      for (const [id, job] of jobs) {
        if (job.isClosed || listed.has(id)) continue;
        job.misses++;
        if (job.misses < 2) continue;
        job.isClosed = true;
        counts.closed++;
        counts.gone.push(`${board}:${id}`);
      }
    }
    return counts;
  });
}

function json(name: string): unknown {
  const bytes = readFileSync(join(REAL, name));
  return JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString());
}

type Raw = Record<string, unknown>;
const oneLine = (value: unknown) =>
  String(value ?? '')
    .split(/\s+/)
    .filter(Boolean)
    .join(' ');

function aggregate(name: string): Plain[] {
  return (json(name) as Raw[]).map(({ company_slug: slug, id, title, location, absolute_url: url }) => ({
    board: `greenhouse:${slug}`,
    id: String(id),
    content: JSON.stringify([oneLine(title), oneLine(location), String(url).trim()]),
  }));
}

/** Every word of the posting that is looked at. */
function lever(name: string): Plain[] {
  return (json(name) as Raw[]).map((job) => {
    const categories = job.categories as Raw;
    const { commitment, location, allLocations, department, team } = categories;
    const described = [job.description || job.descriptionPlain, job.lists, job.additional || job.additionalPlain];
    const content = [
      job.text,
      commitment,
      location,
      allLocations,
      department || team,
      job.workplaceType,
      job.hostedUrl,
    ];
    return {
      board: `lever:${(job.hostedUrl as string).split('/')[3]?.toLowerCase()}`,
      id: job.id as string,
      content: JSON.stringify([...content, described]),
    };
  });
}

function board(token: string): (name: string) => Plain[] {
  return (name) =>
    (json(name) as { jobs: Raw[] }).jobs.map((job) => {
      const names = (list: unknown) => ((list ?? []) as { name: string }[]).map((item) => oneLine(item.name));
      const fields = [job.title, (job.location as Raw).name, job.absolute_url, job.company_name].map(oneLine);
      return {
        board: `greenhouse:${token}`,
        id: String(job.id),
        content: JSON.stringify([fields, names(job.departments), job.content ?? null]),
      };
    });
}

async function importing(name: string, at: string) {
  const words = ['import', '--catalogue', folder, '--complete', '--observed-at', at, '--json', join(REAL, name)];
  const { exitCode, stdout, stderr } = await run(words);
  return { exitCode, stderr, report: JSON.parse(stdout) as Counts };
}

async function keysOf(kind: string, at: string): Promise<string[]> {
  const words = ['history', '--catalogue', folder, '--json', '--kind', kind, '--since', at, '--until', at];
  const { stdout } = await run(words);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { id: string }).id);
}

type Step = readonly [file: string, at: string];
/** The first takes a quarter of a minute. */
const series: readonly [because: string, read: (name: string) => Plain[], steps: readonly Step[]][] = [
  [
    'the Greenhouse aggregate of 6 and 8 January, and its second day seen twice',
    aggregate,
    [
      ['greenhouse-aggregate-2026-01-06.part1.json.gz', '2026-01-06'],
      ['greenhouse-aggregate-2026-01-08.part1.json.gz', '2026-01-08'],
      ['greenhouse-aggregate-2026-01-08.part1.json.gz', '2026-01-09'],
    ],
  ],
  ...(['binance', 'moo', 'yassir'] as const).map((site): [string, (name: string) => Plain[], Step[]] => {
    const dates = { binance: ['08', '21'], moo: ['08', '17', '21'], yassir: ['08', '20'] }[site];
    const packed = site === 'moo' ? '' : '.gz';
    const steps = dates.map((day): Step => [`lever-${site}.2026-08-${day}.json${packed}`, `2026-08-${day}`]);
    // The last one again, so that what it misses is missing twice.
    return [`lever-${site}`, lever, [...steps, [steps.at(-1)?.[0] ?? '', '2026-08-30']]];
  }),
  [
    'greenhouse-luno',
    board('luno'),
    [
      ['greenhouse-luno.2026-08-08.json', '2026-08-08'],
      ['greenhouse-luno.2026-08-21.json', '2026-08-21'],
      ['greenhouse-luno.2026-08-21.json', '2026-08-22'],
      ['greenhouse-luno.2026-08-08.json', '2026-08-23'],
    ],
  ],
  [
    'greenhouse-impact',
    board('impact'),
    [
      ['greenhouse-impact.2026-08-08.json.gz', '2026-08-08'],
      ['greenhouse-impact.2026-08-22.json.gz', '2026-08-22'],
      ['greenhouse-impact.2026-08-22.json.gz', '2026-08-23'],
    ],
  ],
  [
    'greenhouse-okta, with half a year between',
    board('okta'),
    [
      ['greenhouse-okta.2025-10-28.json', '2025-10-28'],
      ['greenhouse-okta.2026-03-23.json', '2026-03-23'],
      ['greenhouse-okta.2026-05-21.json', '2026-05-21'],
      ['greenhouse-okta.json', '2026-08-22'],
    ],
  ],
];

describe.skipIf(isMissing)(`dated listings${because}`, () => {
  it.each(IS_WHOLE ? series : series.slice(1))('%s', { timeout: 240_000 }, async (_, read, steps) => {
    const expected = countedBySteps(steps.map(([name]) => read(name)));
    for (const [i, [name, at]] of steps.entries()) {
      const { report, exitCode, stderr } = await importing(name, at);
      const { unhealthy, opened, gone, ...counts } = expected[i] as Counts;
      expect(report, name).toMatchObject(counts);
      expect(exitCode).toBe(unhealthy.length > 0 ? 2 : 0);
      for (const refused of unhealthy) expect(stderr).toContain(`${refused}: refused as unhealthy`);
      expect((await keysOf('opened', at)).sort()).toEqual(opened.sort());
      expect((await keysOf('closed', at)).sort()).toEqual(gone.sort());
    }
    // The counts are not all zero.
    const sums = expected.reduce(
      (sum, { new: isNew, changed, closed }) => [sum[0]! + isNew, sum[1]! + changed, sum[2]! + closed],
      [0, 0, 0],
    );
    expect(sums.filter((sum) => sum > 0).length).toBeGreaterThanOrEqual(2);
  });
});
