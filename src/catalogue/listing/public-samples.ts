/** The jobs that anyone may look at (`GET /v1/public/search`, siblings §4): a few of a fixed pool, the same for all. */
import type { Catalogue } from '../catalogue.ts';
import { rowFilterOf } from '../index/row-filter.ts';
import { RowScan } from '../index/row-scan.ts';
import { PUBLIC_SAMPLES_MAX } from '../limits.ts';
import type { PublicSamples } from './listing-answers.ts';

/** The first PUBLIC_SAMPLES_MAX jobs of the pool, in its order, that `q` finds as a keyword. @param q of at most eight terms */
export function publicSamples({ snapshot }: Catalogue, q: string): PublicSamples {
  const { publicPool } = snapshot;
  const scan = new RowScan(snapshot, rowFilterOf({ keyword: q }), publicPool.length);
  const indexes = scan.matchesAmong(publicPool, PUBLIC_SAMPLES_MAX);
  return { poolSize: publicPool.length, rows: indexes.map((index) => publicPool[index]!) };
}
