/**
 * An employer: the company behind one board, or one company of a board where many publish. Evidence about it is counted
 * while postings are read, and resolve.ts derives a domain from it.
 */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import { comparedText } from '../../catalogue/terms.ts';

/**
 * Shapes whose boards each belong to one company, named by the platform's token. In all other shapes the name
 * identifies a company.
 */
const TOKEN_SHAPES: ReadonlySet<string> = new Set([
  'ashby',
  'greenhouse',
  'lever',
  'recruitee',
  'smartrecruiters',
  'teamtailor',
  'workable',
  'workday',
]);

export const hasToken = (shape: string): boolean => TOKEN_SHAPES.has(shape);

/** What identifies an employer on its board: nothing if the board has one company, else the compared name. */
export const employerKeyOf = (shape: string, company: string): string => (hasToken(shape) ? '' : comparedText(company));

/** A host with the number of postings that name it. */
export interface HostCount {
  readonly host: CompanyDomain;
  readonly rows: number;
}

export type HostCounts = Map<CompanyDomain, number>;

export const hostCountsOf = (counts: HostCounts): HostCount[] => [...counts].map(([host, rows]) => ({ host, rows }));

export interface Employer {
  readonly shape: string;
  /** The board's token within its shape. */
  readonly board: string;
  /** The name on its most recent active job, else on its most recent one. */
  readonly name: string;
  /** Compared forms of every name that its jobs have. */
  readonly names: readonly string[];
  readonly jobs: number;
  readonly activeJobs: number;
  /** Domains in the jobs' own rows. */
  readonly stated: readonly HostCount[];
  /** Hosts of the postings' own and apply addresses, without job sites. */
  readonly sites: readonly HostCount[];
  /** Registrable domains in descriptions that are named like the board or the company. */
  readonly links: readonly HostCount[];
}

/** `greenhouse:acme`. */
export const boardNameOf = ({ shape, board }: Pick<Employer, 'shape' | 'board'>): string => `${shape}:${board}`;
