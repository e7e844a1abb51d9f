/** `companies set`: the operator's word about one company. */
import { quantity } from '../../base/grouped.ts';
import { wordOfCompany } from '../../ingest/companies/company-file.ts';
import { CommandError, command, EXIT_OK, quoted, UsageError } from '../command.ts';
import { CATALOGUE_OPTION, domainOf } from './company-lines.ts';
import { overruledLine, stateWords } from './state-words.ts';

export const setCompany = command({
  arguments: [
    {
      name: 'NAME-OR-BOARD',
      help: 'the company as its jobs name it, or shape:token, such as greenhouse:acme',
      count: 'one',
    },
    { name: 'DOMAIN', help: 'its domain, such as acme.com', count: 'one' },
    { name: 'ALIAS', help: 'further domains by which buyers find it', count: 'many' },
  ],
  options: { catalogue: CATALOGUE_OPTION },
  notes: [
    'It counts before all other evidence, for every board whose jobs name the company so, or for the one board. What you\n' +
      'state about a board counts before what you state about a name. Without an ALIAS the aliases that were set before stay.',
  ],
  async run({ options, arguments: [company, domain, ...aliases] }, { stderr }) {
    if (company.trim() === '') throw new UsageError('NAME-OR-BOARD is blank');
    const word = wordOfCompany(
      company,
      domainOf('DOMAIN', domain),
      aliases.map((alias) => domainOf('ALIAS', alias)),
    );
    const { employers, overruled } = await stateWords(options.catalogue, [word], ({ unfitting }) => {
      if (unfitting.length === 0) return;
      throw new CommandError(
        `the catalogue has no company or board ${quoted(company)}; \`companies --catalogue ${options.catalogue}\` lists them`,
      );
    });
    const others = new Set(overruled.map(({ employer }) => employer));
    const jobs = employers.reduce((sum, employer) => sum + (others.has(employer) ? 0 : employer.jobs), 0);
    stderr.write(`${company}: ${word.domain}, for ${quantity(jobs, 'job')} from the next build on\n`);
    for (const each of overruled) stderr.write(overruledLine(each));
    return EXIT_OK;
  },
});
