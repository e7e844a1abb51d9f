/**
 * The employers of a snapshot being built: a recorded name with its domain, the evidence for it, and, until `reassign`,
 * the group of jobs whose domain is not found yet. Aliases are stored by domain.
 */
import type { CompanyDomain } from '../company-domain.ts';
import { DOMAIN_EVIDENCE, type DomainEvidence } from '../domain-evidence.ts';
import { TextTable } from './text-table.ts';

export interface EmployerIdentity {
  readonly company: string;
  readonly companyDomain: CompanyDomain | null;
  /** null or absent with a domain: `source`. */
  readonly companyDomainEvidence?: DomainEvidence | null;
  /** Other domains by which the company is found; none without a domain. */
  readonly companyAliases?: readonly CompanyDomain[];
}

export interface SettledAliases {
  /** Alias -> domain of its company. */
  readonly domainOf: ReadonlyMap<CompanyDomain, CompanyDomain>;
  /** Aliases claimed by several companies, so that none gets them; ascending. */
  readonly disputed: readonly CompanyDomain[];
}

/** Index in DOMAIN_EVIDENCE plus one; 0 = no domain. */
function evidenceCodeOf({ companyDomain, companyDomainEvidence }: Omit<EmployerIdentity, 'company'>): number {
  return companyDomain === null ? 0 : DOMAIN_EVIDENCE.indexOf(companyDomainEvidence ?? 'source') + 1;
}

/** A text of the table, taken apart. */
export interface EmployerText {
  readonly domain: string;
  readonly evidence: number;
  readonly group: number;
  readonly name: string;
}

/** Neither a domain nor a number contains a line feed, so the first three separate the parts. */
export function employerTextOf(text: string): EmployerText {
  const [domain = '', evidence = '', group = ''] = text.split('\n', 3);
  const name = text.slice(domain.length + evidence.length + group.length + 3);
  return { domain, evidence: Number(evidence), group: Number(group), name };
}

export class Employers {
  #table = new TextTable();
  readonly #aliases = new Map<CompanyDomain, Set<CompanyDomain>>();

  get table(): TextTable {
    return this.#table;
  }

  /** @param group of jobs that `reassign` gives another identity; 0 = the identity is final */
  numberOf(identity: EmployerIdentity, group: number): number {
    const { company, companyDomain, companyAliases } = identity;
    if (companyDomain !== null && companyAliases !== undefined) this.addAliases(companyDomain, companyAliases);
    return this.#table.numberOf(`${companyDomain ?? ''}\n${evidenceCodeOf(identity)}\n${group}\n${company}`);
  }

  addAliases(domain: CompanyDomain, aliases: readonly CompanyDomain[]): void {
    if (aliases.length === 0) return;
    const known = this.#aliases.get(domain);
    if (known === undefined) this.#aliases.set(domain, new Set(aliases));
    else for (const alias of aliases) known.add(alias);
  }

  /**
   * Gives every employer of a group its final identity.
   * @param numbers the employers of all jobs; overwritten
   */
  reassign(
    identityOf: (group: number, company: string, domain: CompanyDomain | null) => EmployerIdentity,
    numbers: Uint32Array,
  ): void {
    const drafts = this.#table;
    this.#table = new TextTable();
    const next = new Uint32Array(drafts.size);
    for (let number = 0; number < drafts.size; number++) {
      const { domain, evidence, group, name } = employerTextOf(drafts.textOf(number));
      const companyDomain = domain === '' ? null : (domain as CompanyDomain);
      const companyDomainEvidence = DOMAIN_EVIDENCE[evidence - 1] ?? null;
      const identity =
        group === 0 ? { company: name, companyDomain, companyDomainEvidence } : identityOf(group, name, companyDomain);
      next[number] = this.numberOf(identity, 0);
    }
    for (let i = 0; i < numbers.length; i++) numbers[i] = next[numbers[i]!]!;
  }

  /**
   * The aliases of companies in `domains`. A domain beats an alias, and two companies with the same alias both lose it.
   */
  settledAliases(domains: ReadonlySet<string>): SettledAliases {
    const domainOf = new Map<CompanyDomain, CompanyDomain>();
    const disputed = new Set<CompanyDomain>();
    for (const [domain, aliases] of this.#aliases) {
      if (!domains.has(domain)) continue;
      for (const alias of aliases) {
        if (domains.has(alias)) continue;
        if ((domainOf.get(alias) ?? domain) === domain) domainOf.set(alias, domain);
        else disputed.add(alias);
      }
    }
    for (const alias of disputed) domainOf.delete(alias);
    return { domainOf, disputed: [...disputed].sort() };
  }
}
