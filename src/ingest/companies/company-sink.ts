/**
 * Passes jobs of feeds to a snapshot's builder under the directory's rules: it counts what postings say about their
 * employers, and `finish` gives every job its company. Native lines pass unchanged. Memory grows with the employers.
 */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { Job } from '../../catalogue/job.ts';
import type { SnapshotBuilder } from '../../catalogue/snapshot/build.ts';
import { comparedText } from '../../catalogue/terms.ts';
import type { JobSink, JobSource } from '../job-sink.ts';
import { fileStemOf } from '../shapes/board.ts';
import { nativeShape } from '../shapes/native.ts';
import type { CompanyList } from './company-list.ts';
import { boardNameOf, type Employer, employerKeyOf, type HostCounts, hostCountsOf } from './employer.ts';
import { namedHosts } from './named-hosts.ts';
import { type OperatorWord, OperatorWords } from './operator-words.ts';
import { resolveEmployers, shownCompanyOf } from './resolve.ts';

/** Distinct hosts of one kind that an employer's postings may name; further ones are left out. */
const HOSTS_MAX = 256;

interface Draft {
  readonly shape: string;
  readonly board: string;
  readonly names: Set<string>;
  readonly stated: HostCounts;
  readonly sites: HostCounts;
  readonly links: HostCounts;
}

function count(counts: HostCounts, host: CompanyDomain): void {
  const known = counts.get(host);
  if (known !== undefined || counts.size < HOSTS_MAX) counts.set(host, (known ?? 0) + 1);
}

export class CompanySink implements JobSink {
  readonly #builder: SnapshotBuilder;
  readonly #domain: CompanyDomain | null;
  /** The index of a group is its number minus one. */
  readonly #drafts: Draft[] = [];
  readonly #groups = new Map<string, number>();
  readonly #files = new Map<string, Set<string>>();

  /** @param domain the operator's for every board; null = none */
  constructor(builder: SnapshotBuilder, domain: CompanyDomain | null) {
    this.#builder = builder;
    this.#domain = domain;
  }

  get rowCount(): number {
    return this.#builder.rowCount;
  }

  add(job: Job, source: JobSource): number | undefined {
    if (source.shape === nativeShape) return this.#builder.add(job);
    const group = this.#groupOf(job, source);
    const earlier = this.#builder.add(job, group);
    if (earlier === undefined) this.#observe(this.#drafts[group - 1]!, job, source);
    return earlier;
  }

  /** @returns words of the operator that hold for no employer. Call it once, before the builder's `finish` */
  finish(words: readonly OperatorWord[], list: CompanyList): OperatorWord[] {
    const employers: Employer[] = this.#drafts.map(({ shape, board, names, stated, sites, links }) => ({
      ...{ shape, board, name: [...names][0] ?? board, names: [...names], jobs: 0, activeJobs: 0 },
      ...{ stated: hostCountsOf(stated), sites: hostCountsOf(sites), links: hostCountsOf(links) },
    }));
    const files = new Map([...this.#files].map(([board, names]) => [board, [...names]] as const));
    const spoken = new OperatorWords(words, files);
    const identities = resolveEmployers(employers, { words: spoken, list });
    this.#builder.reassignCompanies((group, company, companyDomain) => {
      const identity = identities[group - 1]!;
      if (this.#domain !== null) {
        return { company, companyDomain: this.#domain, companyDomainEvidence: 'manifest' };
      }
      const shown = shownCompanyOf({ company, companyDomain }, identity);
      return { ...shown, companyAliases: shown.companyDomain === identity.domain ? identity.aliases : [] };
    });
    return spoken.unfitting(employers);
  }

  #groupOf(job: Job, { shape, board }: JobSource): number {
    const key = JSON.stringify([shape.name, board, employerKeyOf(shape.name, job.company)]);
    let group = this.#groups.get(key);
    if (group === undefined) {
      const counts = { stated: new Map(), sites: new Map(), links: new Map() };
      group = this.#drafts.push({ shape: shape.name, board, names: new Set(), ...counts });
      this.#groups.set(key, group);
    }
    return group;
  }

  #observe(draft: Draft, job: Job, source: JobSource): void {
    draft.names.add(comparedText(job.company));
    if (job.companyDomain !== null) count(draft.stated, job.companyDomain);
    const { sites, links } = namedHosts(job, source);
    for (const host of sites) count(draft.sites, host);
    for (const domain of links) count(draft.links, domain);
    const { fileName } = source.document.member;
    if (fileName === null) return;
    const board = boardNameOf(draft);
    const files = this.#files.get(board) ?? new Set();
    this.#files.set(board, files.add(fileName).add(fileStemOf(fileName)));
  }
}
