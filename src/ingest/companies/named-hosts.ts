/** The hosts that one posting names, as evidence for its employer (decisions §8, `site` and `links`). */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import { ownerOf } from '../shapes/board.ts';
import { hasToken } from './employer.ts';
import { companyHostOf, squeezed } from './hosts.ts';
import { linkedDomains } from './links.ts';

export interface NamedHosts {
  /** Hosts of the posting's own and apply address, without job sites; distinct. */
  readonly sites: readonly CompanyDomain[];
  /** Registrable domains in the description that are named like the board or the company; distinct. */
  readonly links: readonly CompanyDomain[];
}

export function namedHosts(
  { company, sourceUrl }: { readonly company: string; readonly sourceUrl: string },
  source: {
    readonly shape: { readonly name: string };
    readonly board: string;
    readonly applyUrl?: string | null | undefined;
    readonly description: string | null;
  },
): NamedHosts {
  const sites = new Set<CompanyDomain>();
  for (const address of [sourceUrl, source.applyUrl]) {
    const host = companyHostOf(address ?? '');
    if (host !== null) sites.add(host);
  }
  const names = new Set([squeezed(company)]);
  if (hasToken(source.shape.name)) names.add(squeezed(ownerOf(source.board)));
  names.delete('');
  return { sites: [...sites], links: source.description === null ? [] : linkedDomains(source.description, names) };
}
