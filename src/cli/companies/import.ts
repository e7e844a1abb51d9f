/** `companies import`: the operator's words from a CSV file, all of them or none. */
import { readFile } from 'node:fs/promises';
import { errorCodeOf } from '../../base/failure.ts';
import { grouped } from '../../base/grouped.ts';
import { printable } from '../../base/printable.ts';
import { parseCompanyFile } from '../../ingest/companies/company-file.ts';
import { CommandError, command, EXIT_OK } from '../command.ts';
import { CATALOGUE_OPTION, unfittingLine } from './company-lines.ts';
import { stateWords } from './state-words.ts';

/** Bad lines that are shown one by one. */
const SHOWN_COUNT_MAX = 20;

export const importCompanies = command({
  name: 'import',
  summary: 'States the domains of companies from a CSV file',
  arguments: [{ name: 'FILE', help: 'CSV with the columns company, domain and, where wanted, aliases', count: 'one' }],
  options: { catalogue: CATALOGUE_OPTION },
  notes: [
    '`company` is a name as the jobs have it, or shape:token, such as greenhouse:acme; `aliases` are separated by blanks. A\n' +
      'bad line is named with its number, field and reason, and nothing is kept then.',
  ],
  async run({ options, arguments: [path = ''] }, { stderr }) {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      throw new CommandError(`${printable(path)} cannot be read (${errorCodeOf(error) ?? 'unknown'})`);
    });
    const { words, refused } = parseCompanyFile(text);
    if (refused.length > 0) {
      for (const { line, field, reason } of refused.slice(0, SHOWN_COUNT_MAX)) {
        stderr.write(`line ${line}: ${field} ${reason}\n`);
      }
      throw new CommandError(
        `${printable(path)}: ${grouped(refused.length)} bad line${refused.length === 1 ? '' : 's'}; nothing was kept`,
      );
    }
    const { unfitting } = stateWords(options.catalogue, words);
    for (const { key } of unfitting) stderr.write(unfittingLine(key));
    stderr.write(
      `${grouped(words.length)} compan${words.length === 1 ? 'y' : 'ies'} kept, ${grouped(unfitting.length)} without a job; ` +
        'the next build applies them\n',
    );
    return EXIT_OK;
  },
});
