/**
 * Where the time of an uncached page of 25 records goes: its steps one by one over successive pages, in processor time,
 * and the plain way to the same records' text next to the one in use.
 */
import { deepStrictEqual } from 'node:assert/strict';
import type { Catalogue } from '../src/catalogue/catalogue.ts';
import { listJobs } from '../src/catalogue/listing/list-jobs.ts';
import type { JobPage } from '../src/catalogue/listing/listing-answers.ts';
import { Cursors, questionOf } from '../src/modules/data/cursors.ts';
import { RecordTexts } from '../src/modules/data/records-text.ts';
import { jobRecordOf } from '../src/modules/job-answer.ts';
import { cpuMicros, type Figure, figureOf, type Size, sized } from './harness.ts';
import { openCatalogue } from './synthetic-catalogue.ts';

const PAGE = 25;
const ROUNDS = 9;

/** The records by JSON.stringify, from an object for each. */
function plainText({ foundJobs, snapshot }: Catalogue, rows: readonly number[]): string {
  const { activeCount, department, departments, firstObserved, skillNames, skillOffsets, skills } = snapshot;
  const records = foundJobs.at(rows).map((job, i) => {
    const row = rows[i]!;
    return jobRecordOf({
      ...job,
      department: department[row] === 0 ? null : departments.textOf(department[row]!),
      skills: [...skills.subarray(skillOffsets[row], skillOffsets[row + 1])].map((code) => skillNames.textOf(code)),
      firstObservedMs: firstObserved[row]!,
      status: row < activeCount ? 'active' : 'closed',
    });
  });
  return JSON.stringify(records).slice(1, -1);
}

export function partsOfPage(size: Size, cataloguePath: string): Figure[] {
  const catalogue = openCatalogue(cataloguePath);
  const { snapshot } = catalogue;
  const kept = new RecordTexts(snapshot);
  const notKept = new RecordTexts(snapshot, 64, 1);
  const cursors = new Cursors(new Uint8Array(32));
  const question = questionOf('listJobs', { status: 'active' }, {});
  const pageAfter = (after: Uint8Array | undefined, has: (row: number) => boolean): JobPage =>
    listJobs(catalogue, { status: 'active' }, after, PAGE, has)!;
  const unknown = (): boolean => false;

  // Pages are found once beforehand, because each step needs the result of the previous one.
  const pageCount = sized(size, 40, 1000);
  const pages: { readonly rows: readonly number[]; readonly after: Uint8Array | undefined; readonly cursor: string }[] =
    [];
  for (let after: Uint8Array | undefined; pages.length < pageCount; ) {
    const page = pageAfter(after, unknown);
    deepStrictEqual(notKept.textOf(page), plainText(catalogue, page.rows));
    if (page.next === null) break;
    pages.push({ rows: page.rows, after, cursor: cursors.textOf(question, page.next) });
    after = page.next;
  }

  const steps: Readonly<Record<string, (page: (typeof pages)[number]) => unknown>> = {
    'its rows, their ids and URLs from the file': ({ after }) => pageAfter(after, unknown),
    'the same and its records as text': ({ after }) => notKept.textOf(pageAfter(after, unknown)),
    'the same, its records kept': ({ after }) => kept.textOf(pageAfter(after, kept.has)),
    'its records the plain way': ({ rows }) => plainText(catalogue, rows),
    'reading its cursor': ({ cursor }) => cursors.positionIn(question, cursor),
    'writing the next one': ({ after }) => after && cursors.textOf(question, after),
  };
  return Object.entries(steps).map(([name, step]) => {
    const micros: number[] = [];
    for (let round = -2; round < ROUNDS; round++) {
      const before = cpuMicros();
      for (const page of pages) step(page);
      if (round >= 0) micros.push((cpuMicros() - before) / pages.length);
    }
    return figureOf(`a page: ${name}`, 'µs', micros, 'processor time');
  });
}
