/**
 * `GET /v1/jobs/search`: over the catalogue's cohort, inside a company with an index, and by scan inside one without. The bench
 * compares every answer with the model first.
 *
 * Figures behind choices in src/catalogue, measured once on Node 26.10.0 and Bun 1.4.5, two busy cores:
 * - scanning by blocks and columns (index/row-scan.ts), two terms of which no row has one, 9,157 rows of a million:
 *   2.4 ms instead of 6.9 row by row (Bun 2.0 and 5.4)
 * - building an index (PART_ROWS_MAX in limits.ts): 2 ms for 256 rows, 7 for 1,700, about 30 for 10,000
 * - a text of a dictionary (snapshot/text-column.ts): `Buffer.toString` 135 ns, TextDecoder 234 (Bun 104 and 139);
 *   `pieceOf` 15 ns and `textOf` 180 (Bun 22 and 138), of which Node loses 70 ns again when it writes the piece out
 * - fresh arrays for each question (index/matches.ts): 0.7 µs and 1.3 KB each outside the heap
 */
import { deepStrictEqual } from 'node:assert/strict';
import { Catalogue } from '../src/catalogue/catalogue.ts';
import { PART_ROWS_MAX } from '../src/catalogue/limits.ts';
import { search } from '../src/catalogue/questions/search.ts';
import { NaiveCatalogue } from '../test/support/naive-catalogue.ts';
import { type Context, type Figure, figureOf, sized, timed } from './harness.ts';
import {
  companiesBySize,
  domainAt,
  modelRows,
  modelRowsOf,
  openCatalogue,
  SEARCH_QUESTIONS,
} from './synthetic-catalogue.ts';

export async function measure({ size, cataloguePath }: Context): Promise<Figure[]> {
  const catalogue = openCatalogue(cataloguePath);
  const { snapshot } = catalogue;
  const model = new NaiveCatalogue(modelRows(snapshot));
  const figures: Figure[] = [];
  for (const [title, filters] of Object.entries(SEARCH_QUESTIONS)) {
    const answer = search(catalogue, filters, 10);
    deepStrictEqual(answer, model.search(filters, 10));
    figures.push(await timed(title, size, () => search(catalogue, filters, 10), `${answer.jobs.length} jobs`));
  }

  const bySize = companiesBySize(snapshot);
  const largest = bySize[0]!;
  const scanned = bySize.find((company) => snapshot.activeRowsOf(company) <= PART_ROWS_MAX)!;
  for (const [title, company] of [
    ['in the largest company', largest],
    ['in a company that is scanned', scanned],
  ] as const) {
    const companyModel = new NaiveCatalogue(modelRowsOf(snapshot, company));
    for (const keyword of ['engineer', 'engineer zzqx']) {
      const filters = { keyword, company: domainAt(snapshot, company) };
      deepStrictEqual(search(catalogue, filters, 10), companyModel.search(filters, 10));
      const note = `${snapshot.activeRowsOf(company)} active jobs`;
      figures.push(await timed(`"${keyword}" ${title}`, size, () => search(catalogue, filters, 10), note));
    }
  }

  // The first search inside a company has no index, and each later one builds the index of one part: each round needs a fresh
  // catalogue.
  for (const [title, company] of [
    ['the largest company', largest],
    ['a company of some 1,700', bySize.find((each) => snapshot.activeRowsOf(each) <= 1_700)!],
  ] as const) {
    const filters = { keyword: 'engineer zzqx', company: domainAt(snapshot, company) };
    const first: number[] = [];
    const later: number[] = [];
    for (let round = 0; round < sized(size, 3, 9); round++) {
      const fresh = new Catalogue(snapshot);
      for (let part = 0; part <= fresh.cohortOf(company).rows.length / PART_ROWS_MAX; part++) {
        const startMs = performance.now();
        search(fresh, filters, 10);
        (part === 0 ? first : later).push(performance.now() - startMs);
      }
    }
    const note = `${snapshot.activeRowsOf(company)} active jobs`;
    figures.push(figureOf(`the first search in ${title}`, 'ms', first, note));
    if (later.length > 0) figures.push(figureOf('each of those that index it', 'ms', later, note));
  }
  snapshot.close();
  return figures;
}
