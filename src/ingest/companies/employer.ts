/**
 * An employer: the company behind one board, or one company of a board where many publish. What a catalogue knows about it
 * is counted while postings are read, and resolve.ts makes a domain of it.
 */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import { comparedText } from '../../catalogue/terms.ts';

/** Shapes whose board is one company's, named by a token of the platform. On every other one a name tells companies apart. */
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

/** What tells the employers of a board apart: nothing where the board is one company's, else the compared name. */
export const employerKeyOf = (shape: string, company: string): string => (hasToken(shape) ? '' : comparedText(company));

/** A host with the number of postings that name it. */
export interface HostCount {
  readonly host: CompanyDomain;
  readonly rows: number;
}

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
  /** Registrable domains in descriptions that are called like the board or the company. */
  readonly links: readonly HostCount[];
}

/** `greenhouse:acme`. */
export const boardNameOf = ({ shape, board }: Pick<Employer, 'shape' | 'board'>): string => `${shape}:${board}`;
