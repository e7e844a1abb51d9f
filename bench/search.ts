/**
 * `GET /v1/jobs/search`: over the catalogue's cohort, inside a company that has an index, and by scan inside one that has
 * none. Every answer is compared with the model first.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { Catalogue } from '../src/catalogue/catalogue.ts';
import { PART_ROWS_MAX } from '../src/catalogue/limits.ts';
import { search } from '../src/catalogue/search.ts';
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

  // The first questions inside a company find nothing prepared: each round with a catalogue of its own.
  const filters = { keyword: 'engineer zzqx', company: domainAt(snapshot, largest) };
  const rounds: number[] = [];
  for (let round = 0; round < sized(size, 3, 9); round++) {
    const fresh = new Catalogue(snapshot);
    const startMs = performance.now();
    search(fresh, filters, 10);
    rounds.push(performance.now() - startMs);
  }
  figures.push(figureOf('the first search in the largest company', 'ms', rounds));
  snapshot.close();
  return figures;
}
