/**
 * Inputs that are made to be slow. One that takes noticeable time is measured at two sizes: time that grows with the square
 * quadruples, linear time doubles. The processor's time of this thread counts, and of several runs the least, because other work
 * on the machine only ever adds to it.
 */
import { describe, expect, it } from 'vitest';
import { boardOfPage } from '../../src/ingest/boards/page-boards.ts';
import { htmlText } from '../../src/ingest/input/html-text.ts';
import { InputError } from '../../src/ingest/input/input.ts';
import { textOf, timeOf } from '../../src/ingest/input/source-field.ts';
import { Intake } from '../../src/ingest/intake.ts';
import { boardOfFileName } from '../../src/ingest/shapes/board.ts';
import { workplaceOf } from '../../src/ingest/shapes/employment-terms.ts';
import { slugOf } from '../../src/ingest/shapes/job-id.ts';
import { SHAPES } from '../../src/ingest/shapes/shapes.ts';
import { loadSkillExtractor } from '../../src/ingest/skills/skills.ts';
import { parseRobots } from '../../src/ingest/watch/robots.ts';

/** Characters of the smaller input; the other has twice as many. */
const SIZE = 100_000;
const RATIO_MAX = 2.6;
/** The slowest linear case takes about half of this; those that are not linear took 1 to 20 seconds. */
const SURELY_QUICK_MS = 200;
const REPEATS = 3;

const skills = loadSkillExtractor();

/** Reads a document as `import` does, in pieces of `pieceLength` bytes. */
async function take(text: string, pieceLength = 65_536): Promise<string> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    const all = Buffer.from(text);
    for (let at = 0; at < all.length; at += pieceLength) yield new Uint8Array(all.subarray(at, at + pieceLength));
  }
  const rows = new Map<string, number>();
  const intake = new Intake({
    sink: {
      get rowCount() {
        return rows.size;
      },
      add({ id }) {
        const earlier = rows.get(id);
        if (earlier === undefined) rows.set(id, rows.size);
        return earlier;
      },
    },
    skills,
    shape: SHAPES,
    context: { observedAtMs: 0, board: { company: null, domain: null }, manifest: new Map() },
    observedAtGiven: true,
    namesFiles: false,
    nowMs: 0,
    onRejection: () => {},
    rejects: { write: () => {} },
    onProgress: () => {},
  });
  try {
    await intake.take({ name: 'hostile', fileName: 'hostile', bytes: bytes() });
    return `${intake.tally.source} read, ${intake.tally.rejected} refused`;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.message.split('\n', 1)[0]!;
  }
}

/** `unit` over and over, about `length` characters long. */
const filled = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length));

const A = 'https://a.example/';

const record = (fields: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({
    id: 'a',
    title: 'Engineer',
    company: 'Acme',
    source_url: `${A}1`,
    first_observed_at: '2026-01-01',
    last_observed_at: '2026-01-01',
    ...fields,
  });

/** A record whose `extra` is arrays in each other. */
const nested = (fields: Readonly<Record<string, unknown>>, n: number): string =>
  `[${record(fields).slice(0, -1)},"extra":${'['.repeat(n / 2)}${']'.repeat(n / 2)}}]`;

const CASES: Readonly<Record<string, (n: number) => unknown>> = {
  'a page of open <div>': (n) => take(`<html>${filled('<div>', n)}`),
  'a page of <p> in <div>': (n) => take(`<html>${filled('<div><p>', n)}`),
  'a page of </p>': (n) => take(`<html>${filled('</p>', n)}`),
  'a page of open elements and foreign ends': (n) => take(`<html>${filled('<i>', n / 2)}${filled('</b>', n / 2)}`),
  'a page of tables in tables': (n) => take(`<html>${filled('<table><tr><td>', n)}`),
  'a tag with many attributes': (n) => take(`<html><link ${filled('a=b ', n)}>`),
  'an attribute of entities': (n) => take(`<html><meta property=og:url content="${filled('&amp;', n)}">`),
  'a comment without end': (n) => take(`<html><!--${filled('--', n)}`),
  'CDATA without end': (n) => take(`<html><svg>${filled('<![CDATA[', n)}`),
  'a JSON-LD script without end': (n) => take(`<html><script type=application/ld+json>${filled('</scrip', n)}`),
  'a JSON-LD script of comment marks': (n) => take(`<html><script type=application/ld+json>${filled('// ]]>', n)}`),
  'many JSON-LD scripts': (n) => take(`<html>${filled('<script type=application/ld+json>{"a":1}</script>', n)}`),
  'JSON arrays without end': (n) => take('['.repeat(n)),
  'a record of arrays in arrays': (n) => take(nested({}, n)),
  'a refused record of arrays in arrays': (n) => take(nested({ title: null }, n)),
  'a million keys': (n) => take(`[{${Array.from({ length: n / 10 }, (_, i) => `"k${i}":1`).join()}}]`),
  'a million lists': (n) => take(`{${Array.from({ length: n / 10 }, (_, i) => `"k${i}":[]`).join()}}`),
  'JSON of blanks': (n) => take(`[${' '.repeat(n)}NaN`),
  'one line without end': (n) => take(`{"a":1}\n"${'a'.repeat(n)}`),
  'many short lines': (n) => take(filled('{"a":1}\n', n)),
  'a quote in CSV that never closes, in tiny pieces': (n) => take(`title,url\n"${filled('a,', n)}`, 1024),
  'quotes in CSV that close nothing, then blanks': (n) =>
    take(`title,url\n"${filled('" x', n / 2)}${' '.repeat(n / 2)},\n`),
  'a CSV record of separators': (n) => take(`title,url\n${','.repeat(n)}`),
  'CSV of many columns': (n) => take(`${Array.from({ length: n / 8 }, (_, i) => `c${i}`).join()}\n1,2\n`),
  'a description of open <div>': (n) => take(`[${record({ description: filled('<div>', n) })}]`),
  'a description of <pre> and lines': (n) => htmlText(`<pre>${filled('a\n', n)}`),
  'a description of &': (n) => htmlText(`<p>${'&'.repeat(n)}`),
  'a description of <': (n) => htmlText(`${'<'.repeat(n)}&amp;`),
  'a title of entities': (n) => textOf(filled('&amp;amp;', n)),
  'a time of digits': (n) => timeOf(`${'1'.repeat(n)}x`),
  'a robots.txt line of blanks': (n) => parseRobots(`Disallow: /${' '.repeat(n)}x`, 'paygrade'),
  'a robots.txt of names, then rules': (n) =>
    parseRobots(filled('User-agent:x\n', 1.25 * n) + filled('Allow:/\n', 1.25 * n), 'paygrade'),
  'skills: one word': (n) => skills.extract('', 'a'.repeat(n)),
  'skills: names without blanks': (n) => skills.extract('', filled('java:c#:', n)),
  'skills: names in a URL': (n) => skills.extract('', `http://${filled('java,', n)}`),
  'skills: half a phrase and blanks': (n) => skills.extract('', filled(`machine${' '.repeat(100)}`, n)),
  'skills: neighbours in a list': (n) => skills.extract('', filled('Go\n', n)),
  'skills: marks on one letter': (n) => skills.extract('', `a${filled('\u0301\u0316', n)}`),
  'a company of marks': (n) => slugOf(`a${filled('\u0301\u0316', n)}`),
  'a workplace of marks': (n) => workplaceOf(`a${filled('\u0301\u0316', n)}`),
  'a workplace of brackets': (n) => workplaceOf('('.repeat(n)),
  'a RemoteOK place of commas': (n) =>
    take(`[{"id":1,"position":"a","company":"a","epoch":1,"url":"${A}","location":"a${','.repeat(n)}a"}]`),
  'a LinkedIn link of digits': (n) => take(`[{"job_title":"a","company":"a","job_link":"${A}${'1'.repeat(n)}a"}]`),
  'a Workday path of queries': (n) =>
    take(`{"jobPostings":[{"title":"a","externalPath":"/job/${filled('_a?', n)}\u2028a"}],"base_url":"${A}"}`),
  'a board whose address is slashes': (n) =>
    take(`{"jobPostings":[{"title":"a","externalPath":"/job/a_1"}],"base_url":"${A}${'/'.repeat(n)}a"}`),
  'a page about a job whose address is slashes': (n) =>
    boardOfPage(
      `<script type=application/ld+json>{"@type":"JobPosting","url":"${A}${'/'.repeat(n)}a"}</script>`,
      `${A}jobs`,
    ),
  'a file name of endings': (n) => boardOfFileName(`${filled('.gz', n)}x`, 'greenhouse'),
};

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function leastMsOf(run: (n: number) => unknown, n: number, repeats: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let repeat = 0; repeat < repeats; repeat++) {
    const startMs = processorMs();
    await run(n);
    least = Math.min(least, processorMs() - startMs);
  }
  return least;
}

describe('hostile input takes time in proportion to its length', () => {
  it.each(Object.entries(CASES))('%s', async (_, run) => {
    if ((await leastMsOf(run, 2 * SIZE, 1)) < SURELY_QUICK_MS) return;
    const once = await leastMsOf(run, SIZE, REPEATS);
    const twice = await leastMsOf(run, 2 * SIZE, REPEATS);
    expect(twice).toBeLessThan(Math.max(SURELY_QUICK_MS, once * RATIO_MAX));
  });

  it('refuses a record that is nested too deeply to be written, and goes on', async () => {
    expect(await take(nested({ title: null }, 200_000))).toBe('1 read, 1 refused');
  });

  it('reads a Workable job whose rows have rows, and so on', async () => {
    const job = `"shortcode":"a","title":"a","url":"https://apply.workable.com/acme/j/a"`;
    const rows = `${'{"rows":'.repeat(SIZE)}1${'}'.repeat(SIZE)}`;
    expect(await take(`[{${job},"rows":${rows}}]`)).toBe('1 read, 0 refused');
    expect(await take(`{"name":"Acme","jobs":[{${job}},{${job},"rows":${rows}}]}`)).toBe('2 read, 0 refused');
  });
});
