/**
 * `GET /v1/companies`: names of many, of one and of no company. The bench compares every answer with a plain filter first.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { companiesCalled } from '../src/catalogue/questions/companies.ts';
import { comparedText } from '../src/catalogue/terms.ts';
import { type Context, type Figure, timed } from './harness.ts';
import { openCatalogue } from './synthetic-catalogue.ts';

const RESULT_COUNT_MAX = 10;

export async function measure({ size, cataloguePath }: Context): Promise<Figure[]> {
  const { snapshot } = openCatalogue(cataloguePath);
  const bySize = Array.from({ length: snapshot.companyCount }, (_, company) => company).sort(
    (a, b) => snapshot.activeCountOf(b) - snapshot.activeCountOf(a) || a - b,
  );
  const shown = bySize.map((company) => ({ name: snapshot.shownNameOf(company), domain: snapshot.domainOf(company) }));
  const last = comparedText(shown.at(-1)!.name);
  const figures: Figure[] = [];
  for (const [title, text] of [
    ['two letters', 'an'],
    ['a name', last],
    ['two frequent terms', 'systems labs'],
    ['nothing', 'zzqx'],
    ['two letters, nothing', 'zz'],
    ['eight terms, nothing', 'a e i o n s r zzqx'],
    ['eight letters, nothing', 'a e i o n s r zz'],
    ['first letters, nothing', 'comx'],
  ] as const) {
    const terms = text.split(' ');
    const expected = shown
      .filter(({ name, domain }) => terms.every((term) => comparedText(name).includes(term) || domain?.includes(term)))
      .slice(0, RESULT_COUNT_MAX);
    const found = companiesCalled(snapshot, text, RESULT_COUNT_MAX);
    deepStrictEqual(found, expected);
    figures.push(
      await timed(title, size, () => companiesCalled(snapshot, text, RESULT_COUNT_MAX), `${found.length} found`),
    );
  }
  snapshot.close();
  return figures;
}
