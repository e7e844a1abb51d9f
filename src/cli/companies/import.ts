/** `companies import`: the operator's words from a CSV file, all of them or none. */
import { grouped } from '../../base/grouped.ts';
import { parseCompanyFile } from '../../ingest/companies/company-file.ts';
import { command, EXIT_OK } from '../command.ts';
import { operatorFile } from '../operator-file.ts';
import { CATALOGUE_OPTION, unfittingLine } from './company-lines.ts';
import { overruledLine, stateWords } from './state-words.ts';

export const importCompanies = command({
  arguments: [{ name: 'FILE', help: 'CSV with the columns company, domain and, where wanted, aliases', count: 'one' }],
  options: { catalogue: CATALOGUE_OPTION },
  notes: [
    '`company` is a name as the jobs have it, or shape:token, such as greenhouse:acme; `aliases` are separated by blanks. A\n' +
      'bad line is reported with its number, field and reason, and then nothing is kept.',
  ],
  async run({ options, arguments: [path] }, { stderr }) {
    const { words } = await operatorFile(path, parseCompanyFile, 'nothing was kept', stderr);
    const { unfitting, overruled } = await stateWords(options.catalogue, words);
    for (const { key } of unfitting) stderr.write(unfittingLine(key));
    for (const each of overruled) stderr.write(overruledLine(each));
    stderr.write(
      `${grouped(words.length)} compan${words.length === 1 ? 'y' : 'ies'} kept, ${grouped(unfitting.length)} without a job; ` +
        'the next build applies them\n',
    );
    return EXIT_OK;
  },
});
