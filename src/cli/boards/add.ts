/** `boards add`: accepts any careers address that a person pastes and watches the board behind it from then on. */
import { starterOf } from '../../ingest/boards/starter.ts';
import { parseCompanyList } from '../../ingest/companies/company-list.ts';
import { readPackageText } from '../../ingest/package-data.ts';
import { command, UsageError } from '../command.ts';
import { domainOf } from '../companies/company-lines.ts';
import type { Io } from '../io.ts';
import { REACH_NOTE, REACH_OPTIONS } from '../watch/watch-settings.ts';
import { addBoards } from './add-boards.ts';
import { BOARD_CATALOGUE, openLook } from './board-options.ts';

async function addStarter(folder: string, isJson: boolean, io: Io): Promise<number> {
  const companies = parseCompanyList(readPackageText('companies.csv'));
  const { boards, withoutSite } = starterOf(companies, readPackageText('workday-sites.csv'));
  if (withoutSite > 0) {
    io.stderr.write(
      `${withoutSite} boards of the list are left out, whose careers sites are not known: a Workday board is added by the address of its site\n`,
    );
  }
  return addBoards({ folder, boards, look: null, isJson, isFromPackage: true }, io);
}

export const addBoard = command({
  arguments: [
    {
      name: 'URL',
      help: 'address of a board, of its API, of one of its jobs, or of a page that shows it',
      count: 'many',
    },
  ],
  options: {
    catalogue: BOARD_CATALOGUE,
    company: { type: 'text', value: 'NAME', help: 'name of the company, for one address' },
    domain: { type: 'text', value: 'DOMAIN', help: 'domain of the company, for one address' },
    starter: { type: 'flag', help: 'the boards of well-known companies that come with the package, unchecked' },
    unchecked: { type: 'flag', help: 'go by the address alone and send no requests' },
    ...REACH_OPTIONS,
    json: { type: 'flag', help: 'one JSON object an address on stdout' },
  },
  notes: [
    'Knows Greenhouse, Lever, Ashby, SmartRecruiters, Workable, Recruitee, Teamtailor and Workday, and pages with JobPosting markup. Where the address does not name the board, it looks at the page: at boards that it embeds or links to, and at its markup. `shape:token`, such as greenhouse:acme, works too.',
    'A board is added when it answers. `watch` fetches what was added.',
    REACH_NOTE,
    'Exit code 1: at least one address was not added; the others were.',
  ],
  async run({ options, arguments: addresses }, io) {
    if (options.starter === addresses.length > 0) {
      throw new UsageError(options.starter ? '--starter takes no URL' : 'a URL is missing, or --starter');
    }
    if (options.starter) return addStarter(options.catalogue, options.json, io);
    const company = options.company?.trim() || null;
    const domain = options.domain === undefined ? null : domainOf('--domain', options.domain);
    if (addresses.length > 1 && (company !== null || domain !== null)) {
      throw new UsageError('--company and --domain go with one URL; `boards import` takes them for many');
    }
    const boards = [...new Set(addresses)].map((address) => ({ address, company, domain }));
    const look = options.unchecked ? null : openLook(options, io);
    return addBoards({ folder: options.catalogue, boards, look, isJson: options.json }, io);
  },
});
