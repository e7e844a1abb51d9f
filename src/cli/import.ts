/** `import`: imports files of job boards into the history of a catalogue. */
import { join } from 'node:path';
import { parseDateTime } from '../base/date-time.ts';
import { SHAPES } from '../ingest/shapes/shapes.ts';
import { HISTORY_FILE } from '../storage/history/database.ts';
import { command, UsageError } from './command.ts';
import { importFiles } from './import/import-files.ts';
import { AUTO, MANIFEST_OPTION, requireOneStdin } from './intake.ts';
import { requireApart } from './output-paths.ts';

/** Value of --observed-at: the date in each file's name. */
const FROM_NAME = 'from-name';

export const importFeeds = command({
  arguments: [
    {
      name: 'FILE',
      help: 'plain, gzip, tar or tar in gzip, recognised by its content; - is stdin',
      count: 'many',
    },
  ],
  options: {
    catalogue: { type: 'text', value: 'DIR', help: 'folder of the catalogue, made when missing', required: true },
    format: {
      type: 'text',
      value: 'NAME',
      choices: [AUTO, ...SHAPES.map(({ name }) => name)],
      default: AUTO,
      help: 'format of the files',
    },
    complete: { type: 'flag', help: 'the files list each board completely: a job that is absent counts as missing' },
    'observed-at': {
      type: 'text',
      value: 'TIME',
      help: `when the files were fetched: RFC 3339, or ${FROM_NAME} for the date in each file's name (default now)`,
    },
    manifest: MANIFEST_OPTION,
    rejects: { type: 'text', value: 'FILE', help: 'write refused records here, unchanged' },
    force: { type: 'flag', help: 'merge a complete feed even with under half of the usual rows' },
    json: { type: 'flag', help: 'report on stdout as JSON' },
  },
  notes: [
    'A feed is one board at one time. The import closes a job that is missing from two complete feeds of its board in a row,\n' +
      'and reopens it when it returns. It refuses a complete feed with under half of the rows that its board usually has.',
    `Files of one board with different days in their names are different feeds. --observed-at ${FROM_NAME} takes each at its day; without it the import refuses such a board.`,
    'Of a file that is cut short the import takes the records before the cut, as a partial feed, whatever --complete says.',
    'Exit code 2: a file could not be read or recognised, or a feed was refused; the import merged the others. 1: the\n' +
      'catalogue cannot be used, and is unchanged.',
    '`snapshot build --catalogue DIR --out FILE` builds the file that a server loads; `history` shows what opened, changed\n' +
      'and closed.',
  ],
  async run({ options, arguments: paths }, io) {
    if (paths.length === 0) throw new UsageError('the argument FILE is missing; - is stdin');
    requireOneStdin(paths);
    const rejectsPath = options.rejects;
    requireApart(undefined, rejectsPath, [...paths, join(options.catalogue, HISTORY_FILE)]);
    const observedAt = options['observed-at'];
    const isFromName = observedAt === FROM_NAME;
    const observedAtMs = observedAt === undefined || isFromName ? io.clock.nowMs() : parseDateTime(observedAt);
    if (observedAtMs === undefined) {
      throw new UsageError(`--observed-at must be an RFC 3339 date-time, a date, or ${FROM_NAME}`);
    }
    return importFiles(
      {
        paths,
        catalogue: options.catalogue,
        format: options.format,
        isComplete: options.complete,
        isForced: options.force,
        observedAtMs,
        isFromName,
        isObservedAtGiven: observedAt !== undefined,
        manifestPath: options.manifest,
        rejectsPath,
        isJson: options.json,
      },
      io,
    );
  },
});
