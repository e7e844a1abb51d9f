/**
 * `GET /v1/jobs/search`: over the whole catalogue, inside its largest company, and by scan inside a small one. The bench first
 * compares every answer with the model; at full size, which is too large for the model, with a scan of every row.
 *
 * Figures behind choices in src/catalogue, measured once on Node 26.10.0 and Bun 1.4.5, two busy cores:
 * - scanning by blocks and columns (index/row-scan.ts), two terms of which no row has one, 9,157 rows of a million:
 *   2.4 ms instead of 6.9 row by row (Bun 2.0 and 5.4)
 * - a text of a dictionary (snapshot/text-column.ts): `Buffer.toString` 135 ns, TextDecoder 234 (Bun 104 and 139);
 *   `pieceOf` 15 ns and `textOf` 180 (Bun 22 and 138), but Node loses 70 ns of that when it writes the piece out
 * - fresh arrays for each question (index/matches.ts): 0.7 µs and 1.3 KB each outside the heap
 */
import { deepStrictEqual } from 'node:assert/strict';
import { rowFilterOf } from '../src/catalogue/index/row-filter.ts';
import { RowScan } from '../src/catalogue/index/row-scan.ts';
import { COHORT_ROWS_MAX, SCANNED_ROWS_MAX } from '../src/catalogue/limits.ts';
import { type SearchAnswer, type SearchFilters, search } from '../src/catalogue/questions/search.ts';
import type { Snapshot } from '../src/catalogue/snapshot/snapshot.ts';
import { NaiveCatalogue } from '../test/support/naive-catalogue.ts';
import { type Context, type Figure, figureOf, quantile, timed } from './harness.ts';
import {
  companiesBySize,
  domainAt,
  MORE_SEARCH_QUESTIONS,
  openCatalogue,
  SEARCH_QUESTIONS,
} from './synthetic-catalogue.ts';

const LIMIT = 10;

type Judge = (filters: SearchFilters, answer: SearchAnswer) => void;

function byModel(snapshot: Snapshot): Judge {
  const model = new NaiveCatalogue(Array.from({ length: snapshot.rowCount }, (_, row) => snapshot.job(row)));
  return (filters, answer) => deepStrictEqual(answer, model.search(filters, LIMIT));
}

function byScan(snapshot: Snapshot): Judge {
  const active = Uint32Array.from({ length: snapshot.activeCount }, (_, row) => row);
  return (filters, { coverage, jobs }) => {
    const rows = filters.company === undefined ? active : snapshot.activeRowsIn(snapshot.companyOf(filters.company));
    const matches = new RowScan(snapshot, rowFilterOf(filters), rows.length).matchesAmong(rows, COHORT_ROWS_MAX + 1);
    const ids = matches.slice(0, LIMIT).map((index) => snapshot.job(rows[index]!).id);
    deepStrictEqual(
      jobs.map(({ id }) => id),
      ids,
    );
    deepStrictEqual(coverage.candidateJobs, Math.min(matches.length, COHORT_ROWS_MAX));
    deepStrictEqual(coverage.sampled, matches.length > COHORT_ROWS_MAX);
  };
}

export async function measure({ size, cataloguePath }: Context): Promise<Figure[]> {
  const catalogue = openCatalogue(cataloguePath);
  const { snapshot } = catalogue;
  const judge = size === 'small' ? byModel(snapshot) : byScan(snapshot);
  const figures: Figure[] = [];
  const measureOne = async (title: string, filters: SearchFilters, note?: string): Promise<void> => {
    const answer = search(catalogue, filters, LIMIT);
    judge(filters, answer);
    const { candidateJobs, sampled } = answer.coverage;
    const found = `${sampled ? 'over ' : ''}${candidateJobs} match`;
    const run = (): unknown => search(catalogue, filters, LIMIT);
    figures.push(await timed(title, size, run, note === undefined ? found : `${found}, ${note}`));
  };
  for (const [title, filters] of Object.entries({ ...SEARCH_QUESTIONS, ...MORE_SEARCH_QUESTIONS })) {
    await measureOne(title, filters);
  }
  const micros = Float64Array.from(figures, ({ value }) => value).sort();
  figures.push(figureOf('the median of these questions', 'µs', [quantile(micros, 0.5)]));
  figures.push(figureOf('the slowest of them', 'µs', [micros.at(-1)!]));

  const bySize = companiesBySize(snapshot);
  for (const [title, company] of [
    ['in the largest company', bySize[0]!],
    ['in a company that is scanned', bySize.find((each) => snapshot.activeCountOf(each) <= SCANNED_ROWS_MAX)!],
  ] as const) {
    for (const keyword of ['engineer', 'engineer zzqx', 'er an']) {
      const note = `of ${snapshot.activeCountOf(company)}`;
      await measureOne(`"${keyword}" ${title}`, { keyword, company: domainAt(snapshot, company) }, note);
    }
  }
  snapshot.close();
  return figures;
}
