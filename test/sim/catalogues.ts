/** Small catalogues whose every text names their version, so that an answer shows which one it was made from. */
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import type { CatalogueSource } from '../../src/catalogue/holder.ts';
import type { Job } from '../../src/catalogue/job.ts';
import { openSnapshot } from '../../src/catalogue/snapshot/snapshot.ts';
import { memorySource } from '../../src/catalogue/snapshot/source.ts';
import { bytesOfJobs } from '../support/opened-jobs.ts';

export const VERSION_COUNT = 3;
export const COMPANY = 'acme.com';

const OBSERVED_MS = Date.UTC(2026, 10, 20);

const job = (version: number, index: number): Job => ({
  id: `edition${version}-${index}`,
  title: `Engineer edition${version}`,
  company: `Acme edition${version}`,
  companyDomain: COMPANY as CompanyDomain,
  location: 'Berlin',
  department: `Engineering edition${version}`,
  remoteStatus: 'remote',
  employmentType: 'full_time',
  sourceUrl: `https://acme.com/edition${version}/${index}`,
  skills: [`edition${version}`],
  firstObservedMs: OBSERVED_MS,
  lastObservedMs: OBSERVED_MS + version * 1000,
  status: 'active',
  closedAtMs: null,
  description: null,
  descriptionTruncated: false,
});

const FILES = Array.from({ length: VERSION_COUNT }, (_, version) =>
  bytesOfJobs(Array.from({ length: 6 }, (_, index) => job(version, index))),
);

/** When the jobs of a version were observed last, as `meta` says it. */
export const freshnessOf = (version: number): string => new Date(OBSERVED_MS + version * 1000).toISOString();

/** Versions that a text names. */
export const versionsIn = (text: string): Set<number> =>
  new Set([...text.matchAll(/edition([0-9])/g)].map(([, digit]) => Number(digit)));

/** @param version what the operator's file holds at the moment; undefined = it is damaged */
export function sourceOf(version: () => number | undefined): CatalogueSource {
  const load = () => {
    const now = version();
    const file = now === undefined ? FILES[0]?.subarray(0, 100) : FILES[now];
    const catalogue = new Catalogue(openSnapshot(memorySource('catalogue', file as Uint8Array)));
    catalogue.warm();
    return { catalogue, isSynthetic: false };
  };
  return {
    load,
    reload: async () => load(),
    discard: (catalogue) => void catalogue?.snapshot.release(),
    close: async () => {},
  };
}
