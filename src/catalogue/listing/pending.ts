/** Signatures that the routes are built against; each moves into a file of its own. */
import type { Catalogue } from '../catalogue.ts';
import type { CompanyDomain } from '../company-domain.ts';
import type { ObservationPeriod } from '../questions/period.ts';
import type {
  CompanyHiring,
  CompanySummary,
  HiringMetrics,
  HistoryFilters,
  HistoryPage,
  PublicSamples,
  SkillFilters,
  SkillPage,
} from './listing-answers.ts';

export type ListHistory = (
  catalogue: Catalogue,
  filters: HistoryFilters,
  after: Uint8Array | undefined,
  limit: number,
) => HistoryPage | undefined;
export type ListJobHistory = (
  catalogue: Catalogue,
  row: number,
  after: Uint8Array | undefined,
  limit: number,
) => HistoryPage | undefined;
export type CompanySummaryOf = (catalogue: Catalogue, domain: CompanyDomain) => CompanySummary | undefined;
export type CompanyHiringOf = (
  catalogue: Catalogue,
  domain: CompanyDomain,
  period: ObservationPeriod,
) => CompanyHiring | undefined;
export type ListSkillCounts = (
  catalogue: Catalogue,
  filters: SkillFilters,
  after: Uint8Array | undefined,
  limit: number,
) => SkillPage | undefined;
export type HiringMetricsOf = (catalogue: Catalogue, period: ObservationPeriod) => HiringMetrics;
export type PublicSamplesOf = (catalogue: Catalogue, q: string) => PublicSamples;
