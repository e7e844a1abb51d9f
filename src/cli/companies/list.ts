/** `companies`: the directory of a catalogue, as the next build would apply it. */
import { grouped } from '../../base/grouped.ts';
import { printable } from '../../base/printable.ts';
import { boardNameOf, type Employer } from '../../ingest/companies/employer.ts';
import type { Identity } from '../../ingest/companies/resolve.ts';
import { companyDirectoryOf } from '../../storage/history/company-directory.ts';
import { HistoryDatabase } from '../../storage/history/database.ts';
import { command, EXIT_OK } from '../command.ts';
import { withHistory } from '../with-history.ts';
import { CATALOGUE_OPTION, unfittingLine } from './company-lines.ts';

/** Members as `--json` prints them (decisions §8). */
interface ListedCompany {
  readonly name: string;
  readonly board: string;
  readonly domain: string | null;
  readonly evidence: string | null;
  readonly aliases: readonly string[];
  readonly jobs: number;
  readonly active_jobs: number;
}

function listedOf(employer: Employer, { name, domain, evidence, aliases }: Identity): ListedCompany {
  return {
    name: name ?? employer.name,
    board: boardNameOf(employer),
    domain,
    evidence,
    aliases,
    jobs: employer.jobs,
    active_jobs: employer.activeJobs,
  };
}

/** Most active jobs first, then most jobs, then by board. */
function byJobs(a: ListedCompany, b: ListedCompany): number {
  return b.active_jobs - a.active_jobs || b.jobs - a.jobs || (a.board < b.board ? -1 : a.board > b.board ? 1 : 0);
}

function lineOf({ name, board, domain, evidence, aliases, active_jobs: active }: ListedCompany): string {
  const shown = domain === null ? '-' : `${domain} (${evidence})`;
  const also = aliases.length === 0 ? '' : `, also ${aliases.join(', ')}`;
  return `${grouped(active).padStart(9)}  ${shown}${also}  ${printable(name, 80)}  ${printable(board, 80)}\n`;
}

export const listCompanies = command({
  options: {
    catalogue: CATALOGUE_OPTION,
    missing: { type: 'flag', help: 'only companies without a domain, which buyers cannot ask for' },
    json: { type: 'flag', help: 'one JSON array' },
  },
  notes: [
    'One line a board, or a company of a board where many publish; most active jobs first. Evidence, in order of trust:\n' +
      'manifest (your word), directory (the list of the package), source (the feed says so), site (the addresses of the\n' +
      'postings), links (the descriptions), namesake (another source states it for the same name).',
    '`companies set` and `companies import` state what is missing or wrong; the next `snapshot build` applies it.',
  ],
  async run({ options }, { stdout }) {
    const { employers, identities, unfitting } = await withHistory(
      () => HistoryDatabase.openForReading(options.catalogue),
      companyDirectoryOf,
    );
    const all = employers
      .map((employer, place) => listedOf(employer, identities[place]!))
      .filter(({ domain }) => !options.missing || domain === null)
      .sort(byJobs);
    if (options.json) stdout.write(`${JSON.stringify(all)}\n`);
    else {
      stdout.write(`${'active'.padStart(9)}  domain (evidence)  company  board\n`);
      for (const each of all) stdout.write(lineOf(each));
      for (const { key } of unfitting) stdout.write(unfittingLine(key));
    }
    return EXIT_OK;
  },
});
