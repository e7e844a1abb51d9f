/**
 * Lists and counts of the Jobs Data API over the whole catalogue (siblings §4), as the engine answers them, over the
 * catalogue of data-catalogue.ts. The file is in the page cache. Each figure is the median of single calls, with the
 * 99th percentile beside it; every call asks a different question if its title says so.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import type { Catalogue } from '../src/catalogue/catalogue.ts';
import { companyHiring, companySummary } from '../src/catalogue/listing/companies.ts';
import { listHistory, listJobHistory } from '../src/catalogue/listing/list-history.ts';
import { listJobs } from '../src/catalogue/listing/list-jobs.ts';
import { listSkillCounts } from '../src/catalogue/listing/list-skills.ts';
import type { HistoryFilters, JobListFilters, JobPage } from '../src/catalogue/listing/listing-answers.ts';
import { hiringMetrics } from '../src/catalogue/listing/metrics.ts';
import { publicSamples } from '../src/catalogue/listing/public-samples.ts';
import { observationPeriodEndingAt } from '../src/catalogue/questions/period.ts';
import { recordTextsOf } from '../src/modules/data/records-text.ts';
import { LARGE } from './data-catalogue.ts';
import { type Context, type Figure, figureOfCalls, heapBytes, type Size, sized } from './harness.ts';
import { NOW_MS, openCatalogue } from './synthetic-catalogue.ts';

const PAGE = 25;
const DAY_MS = 86_400_000;

/** Single calls: their median, and the 99th percentile as a note. */
function called(name: string, size: Size, run: (call: number) => unknown): Figure {
  const calls = sized(size, 60, 1000);
  const micros: number[] = [];
  for (let i = 0; i < calls / 5; i++) run(i);
  for (let i = 0; i < calls; i++) {
    const startMs = performance.now();
    run(i);
    micros.push((performance.now() - startMs) * 1000);
  }
  return figureOfCalls(name, micros);
}

function once(name: string, run: () => unknown): Figure {
  const startMs = performance.now();
  run();
  return { name, unit: 'ms', value: performance.now() - startMs };
}

/** The position after `pages` pages, found without walking them. */
function positionAfter(catalogue: Catalogue, filters: JobListFilters, pages: number): Uint8Array {
  return listJobs(catalogue, filters, undefined, pages * PAGE)!.next!;
}

/** Checks that pages add up to the whole list and that a page shows the jobs of its rows. */
function check(catalogue: Catalogue, filters: JobListFilters): void {
  const whole = listJobs(catalogue, filters, undefined, 500)!.rows;
  const rows: number[] = [];
  let page: JobPage | undefined;
  while (rows.length < whole.length && page?.next !== null) {
    page = listJobs(catalogue, filters, page?.next, PAGE)!;
    rows.push(...page.rows);
  }
  deepStrictEqual(rows.slice(0, 500), whole);
  deepStrictEqual(
    catalogue.foundJobs.at(whole.slice(0, PAGE)).map(({ id }) => id),
    whole.slice(0, PAGE).map((row) => catalogue.snapshot.cold.rowAt(row).id),
  );
}

const LISTS: Readonly<Record<string, JobListFilters>> = {
  'all jobs': { status: 'any' },
  'a frequent word': { keyword: 'engineer', status: 'active' },
  'a frequent word, remote': { keyword: 'engineer', remote: true, status: 'active' },
  'a rare pair of words': { keyword: 'senior kubernetes', location: 'germany', status: 'any' },
  'a department': { department: 'engineering', status: 'active' },
  'a skill, remote': { skill: 'python', remote: true, status: 'active' },
  'a skill, a word': { skill: 'python', keyword: 'engineer', status: 'any' },
  'a company of 20,000 jobs': { company: LARGE, status: 'any' },
  'that company, a skill': { company: LARGE, skill: 'python', status: 'active' },
};

const FEEDS: Readonly<Record<string, HistoryFilters>> = {
  'of everything': {},
  'of a rare kind': { kind: 'reopened' },
  'of a day': { sinceMs: NOW_MS - 20 * DAY_MS, untilMs: NOW_MS - 19 * DAY_MS },
  'of the company': { company: LARGE },
  'of the company, a rare kind': { company: LARGE, kind: 'reopened' },
  'of the company, a day': { company: LARGE, sinceMs: NOW_MS - 20 * DAY_MS, untilMs: NOW_MS - 19 * DAY_MS },
};

function pages(catalogue: Catalogue, size: Size): Figure[] {
  const { snapshot } = catalogue;
  const figures: Figure[] = [];
  const page = (filters: JobListFilters, after?: Uint8Array): unknown => {
    const texts = recordTextsOf(snapshot);
    return texts.textOf(listJobs(catalogue, filters, after, PAGE, texts.has)!);
  };
  for (const [title, filters] of Object.entries(LISTS)) {
    check(catalogue, filters);
    figures.push(called(`page 1 of ${title}`, size, () => page(filters)));
  }
  const far = sized(size, 1000, 10_000);
  const active: JobListFilters = { status: 'active' };
  const afterFar = positionAfter(catalogue, active, far);
  figures.push(called(`page ${far} of active jobs`, size, () => page(active, afterFar)));
  const afterWord = positionAfter(catalogue, LISTS['a frequent word']!, sized(size, 100, 2000));
  figures.push(called('a late page of a frequent word', size, () => page(LISTS['a frequent word']!, afterWord)));
  const { departments } = snapshot;
  figures.push(
    called('page 1 of another department each time', size, (call) =>
      page({ department: departments.textOf(1 + (call % (departments.size - 1))), status: 'active' }),
    ),
  );
  return figures;
}

function feeds(catalogue: Catalogue, size: Size): Figure[] {
  const figures: Figure[] = [];
  const { snapshot } = catalogue;
  for (const [title, filters] of Object.entries(FEEDS)) {
    const first = listHistory(catalogue, filters, undefined, PAGE)!;
    ok(first.events.length === PAGE || title.includes('company, a rare kind'), title);
    figures.push(
      called(`first page of the feed ${title}`, size, () => listHistory(catalogue, filters, undefined, PAGE)),
    );
  }
  const { next } = listHistory(catalogue, { sinceMs: NOW_MS - 30 * DAY_MS }, undefined, PAGE)!;
  figures.push(called('a page of the feed in its middle', size, () => listHistory(catalogue, {}, next!, PAGE)));
  figures.push(
    called('the events of another job each time', size, (call) =>
      listJobHistory(catalogue, (call * 7919) % snapshot.rowCount, undefined, PAGE),
    ),
  );
  return figures;
}

function summaries(catalogue: Catalogue, size: Size): Figure[] {
  const { snapshot } = catalogue;
  const domains = Array.from({ length: snapshot.companyCount }, (_, company) => snapshot.domainOf(company)).filter(
    (domain) => domain !== null,
  );
  const periodOf = (call: number) => observationPeriodEndingAt(NOW_MS - call * 977);
  return [
    called('overview', size, () => catalogue.listing.overview),
    called('hiring metrics, a later moment each time', size, (call) => hiringMetrics(catalogue, periodOf(call))),
    called('company of 20,000 jobs', size, () => companySummary(catalogue, LARGE)),
    called('another company each time', size, (call) =>
      companySummary(catalogue, domains[(call * 7919) % domains.length]!),
    ),
    called('hiring of the company of 20,000 jobs', size, (call) => companyHiring(catalogue, LARGE, periodOf(call))),
    called('skills', size, () => listSkillCounts(catalogue, {}, undefined, PAGE)),
    called('skills with a letter', size, () => listSkillCounts(catalogue, { q: 'zz' }, undefined, PAGE)),
    called('skills of a department', size, () =>
      listSkillCounts(catalogue, { department: 'engineering' }, undefined, PAGE),
    ),
    called('public samples', size, () => publicSamples(catalogue, 'engineer')),
  ];
}

/** First uses, one after the other over a fresh catalogue. */
const FIRST_USES: Readonly<Record<string, (catalogue: Catalogue) => unknown>> = {
  overview: (catalogue) => catalogue.listing.overview,
  'a department': (catalogue) => listJobs(catalogue, LISTS['a department']!, undefined, PAGE),
  'a skill': (catalogue) => listJobs(catalogue, LISTS['a skill, remote']!, undefined, PAGE),
  skills: (catalogue) => listSkillCounts(catalogue, {}, undefined, PAGE),
  'skills of a department': (catalogue) => listSkillCounts(catalogue, { department: 'engineering' }, undefined, PAGE),
  'hiring metrics': (catalogue) => hiringMetrics(catalogue, observationPeriodEndingAt(NOW_MS)),
  'the company of 20,000 jobs': (catalogue) => companySummary(catalogue, LARGE),
  'a filtered feed': (catalogue) => listHistory(catalogue, FEEDS['of a rare kind']!, undefined, PAGE),
};

export async function measure({ dataCataloguePath, size }: Context): Promise<Figure[]> {
  const catalogue = openCatalogue(dataCataloguePath);
  const heapBefore = heapBytes();
  const residentBefore = process.memoryUsage.rss();
  const first = Object.entries(FIRST_USES).map(([title, run]) => once(`first use: ${title}`, () => run(catalogue)));
  const kept: Figure = { name: 'memory of what is kept', unit: 'MiB', value: (heapBytes() - heapBefore) / 2 ** 20 };
  const figures = [...pages(catalogue, size), ...feeds(catalogue, size), ...summaries(catalogue, size)];
  const after: Figure[] = [
    { name: 'memory after all questions', unit: 'MiB', value: (heapBytes() - heapBefore) / 2 ** 20 },
    { name: 'resident memory beyond', unit: 'MiB', value: (process.memoryUsage.rss() - residentBefore) / 2 ** 20 },
  ];
  catalogue.snapshot.close();
  return [...first, kept, ...figures, ...after];
}
