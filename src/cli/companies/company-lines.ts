/** What the commands about companies share, and lines for people about the directory. */
import { type CompanyDomain, parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { quoted, type TextOption, UsageError } from '../command.ts';

export const CATALOGUE_OPTION = {
  type: 'text',
  value: 'DIR',
  help: 'folder of the catalogue that `import` fills',
  required: true,
} as const satisfies TextOption;

/** @param name of the argument or option that gives the domain @throws UsageError */
export function domainOf(name: string, text: string): CompanyDomain {
  const domain = parseCompanyDomain(text);
  if (domain !== undefined) return domain;
  throw new UsageError(`${name} must be a domain name such as example.com, not ${quoted(text)}`);
}

/** A warning about an operator's word that applies to no employer. */
export const unfittingLine = (key: string): string =>
  `note: ${quoted(key)} fits no board and no company of the catalogue; it is kept until one comes\n`;
