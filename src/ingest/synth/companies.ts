/** The companies of a synthetic catalogue: a few large ones and many small ones, each with places and a focus. */
import type { SeededRandom } from '../../base/seeded-random.ts';
import type { Vocabulary } from './vocabulary.ts';
import { type WeightedDraw, zipfWeights } from './weighted-draw.ts';

/** Companies a job needs on average: a million jobs make 48,000, most of them with a handful. */
const COMPANIES_PER_JOB = 0.048;
const COMPANY_COUNT_MIN = 40;
/** Shift of the law of company sizes; at a million jobs the largest company has 6.6 % of them. */
const COMPANY_SHIFT = 0.4;
const WITHOUT_DOMAIN_SHARE = 0.06;
const OWN_CAREERS_SITE_SHARE = 0.4;
/**
 * Odd and coprime to the number of names (2^5 * 3^2 * 5^3 * 23 with today's lists), so multiplying by it visits every
 * name once.
 */
const NAME_STEP = 317_771;

export interface Company {
  readonly name: string;
  readonly domain: string | null;
  /** The part of a source URL before the job's own part. */
  readonly urlBase: string;
  /** Indexes of its usual places, the first the most usual. */
  readonly places: readonly number[];
  /** Index of the discipline it hires for more than others do. */
  readonly focus: number;
}

type NameParts = Vocabulary['companyNames'];

function companyNameOf(index: number, offset: number, nameCount: number, parts: NameParts): string {
  let left = (index * NAME_STEP + offset) % nameCount;
  const digit = (words: readonly string[]): string => {
    const word = words[left % words.length]!;
    left = Math.floor(left / words.length);
    return word;
  };
  const root = digit(parts.starts) + digit(parts.middles) + digit(parts.ends);
  const addition = digit(parts.additions);
  const name = addition === '' ? root : `${root} ${addition}`;
  // After the last name the same names repeat, with a number.
  return index < nameCount ? name : `${name} ${Math.floor(index / nameCount) + 1}`;
}

/** The companies of a catalogue of `jobCount` jobs. */
export function buildCompanies(
  random: SeededRandom,
  { boardHosts, companyNames }: Vocabulary,
  jobCount: number,
  placeDraw: WeightedDraw,
  disciplineDraw: WeightedDraw,
): Company[] {
  const { additions, ends, middles, starts } = companyNames;
  const nameCount = starts.length * middles.length * ends.length * additions.length;
  const companyCount = Math.max(COMPANY_COUNT_MIN, Math.round(jobCount * COMPANIES_PER_JOB));
  const nameOffset = random.below(nameCount);
  const companies: Company[] = [];
  for (let index = 0; index < companyCount; index++) {
    const name = companyNameOf(index, nameOffset, nameCount, companyNames);
    const slug = name.toLowerCase().replaceAll(' ', '-');
    const domain = random.unit() < WITHOUT_DOMAIN_SHARE ? null : `${slug}.example`;
    const hasOwnSite = domain !== null && random.unit() < OWN_CAREERS_SITE_SHARE;
    companies.push({
      name,
      domain,
      urlBase: hasOwnSite ? `https://careers.${domain}/jobs/` : `https://${random.pick(boardHosts)}/${slug}/postings/`,
      places: [placeDraw.next(random), placeDraw.next(random), placeDraw.next(random)],
      focus: disciplineDraw.next(random),
    });
  }
  return companies;
}

/** How many jobs each company has, as weights. */
export function companyWeights(companyCount: number): Float64Array {
  return zipfWeights(companyCount, COMPANY_SHIFT);
}
