/** `GET /v1/jobs/company`: the largest company's cohort, and smaller ones. The bench compares every answer with the model first. */
import { deepStrictEqual } from 'node:assert/strict';
import { companyActivity } from '../src/catalogue/questions/company.ts';
import { NaiveCatalogue } from '../test/support/naive-catalogue.ts';
import { type Context, type Figure, timed } from './harness.ts';
import { companiesBySize, domainAt, modelRowsOf, openCatalogue } from './synthetic-catalogue.ts';

export async function measure({ size, cataloguePath }: Context): Promise<Figure[]> {
  const catalogue = openCatalogue(cataloguePath);
  const { snapshot } = catalogue;
  const bySize = companiesBySize(snapshot);
  const figures: Figure[] = [];
  for (const [title, place] of [
    ['largest', 0],
    ['200th', Math.min(199, bySize.length - 1)],
    ['median', bySize.length >> 1],
  ] as const) {
    const company = bySize[place]!;
    const domain = domainAt(snapshot, company);
    deepStrictEqual(
      companyActivity(catalogue, domain),
      new NaiveCatalogue(modelRowsOf(snapshot, company)).company(domain),
    );
    const note = `${snapshot.activeCountOf(company)} active jobs`;
    figures.push(await timed(title, size, () => companyActivity(catalogue, domain), note));
  }
  snapshot.close();
  return figures;
}
