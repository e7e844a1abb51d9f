/** `snapshot build`: a new catalogue file, from job records or from the history of a catalogue. */
import { NAME_LENGTH_MAX } from '../../ingest/native.ts';
import { nativeShape } from '../../ingest/shapes/native.ts';
import { SHAPES } from '../../ingest/shapes/shapes.ts';
import { command, EXIT_OK, UsageError } from '../command.ts';
import { domainOf } from '../companies/company-lines.ts';
import { AUTO, MANIFEST_OPTION, requireOneStdin } from '../intake.ts';
import { requireApart, requireWritable } from '../output-paths.ts';
import { timeOption } from '../time-option.ts';
import { buildFromHistory } from './build-from-history.ts';
import { buildFromInputs } from './build-from-inputs.ts';
import { MAX_AGE_DAYS } from './left-out.ts';

/** Options that may be combined with `--catalogue`. */
const CATALOGUE_OPTIONS: readonly string[] = [
  'catalogue',
  'out',
  'no-descriptions',
  'max-age-days',
  'merge-same-url',
  'json',
];

/** Refuses options and inputs that cannot be combined with `--catalogue`. @throws UsageError */
function requireCatalogueOnly(given: ReadonlySet<string>, paths: readonly string[]): void {
  for (const name of given) {
    if (!CATALOGUE_OPTIONS.includes(name)) throw new UsageError(`--${name} does not go with --catalogue`);
  }
  if (paths.length > 0) throw new UsageError('INPUT does not go with --catalogue');
}

/** Refuses options that the format has no use for. @throws UsageError */
function requireFit(given: ReadonlySet<string>, format: string): void {
  const shape = SHAPES.find(({ name }) => name === format);
  if (shape === undefined) return;
  for (const name of ['company', 'domain', 'manifest', 'observed-at']) {
    const fits = name === 'observed-at' ? shape.observedBy === 'reader' : shape.perBoard;
    if (given.has(name) && !fits) throw new UsageError(`--${name} does not go with --format ${format}`);
  }
}

export const snapshotBuild = command({
  arguments: [
    {
      name: 'INPUT',
      help: 'plain, gzip, tar or tar in gzip, recognised by its content; - or no INPUT is stdin',
      count: 'many',
    },
  ],
  options: {
    out: { type: 'text', value: 'FILE', help: 'catalogue file to write', required: true },
    catalogue: {
      type: 'text',
      value: 'DIR',
      help: 'build from the catalogue that `import` fills in this folder, instead of inputs',
    },
    format: {
      type: 'text',
      value: 'FORMAT',
      choices: [AUTO, ...SHAPES.map(({ name }) => name)],
      default: nativeShape.name,
      help: 'format of the inputs',
    },
    rejects: { type: 'text', value: 'FILE', help: 'write bad records here unchanged, and build the rest' },
    company: { type: 'text', value: 'NAME', help: 'company of all boards in the inputs' },
    domain: { type: 'text', value: 'DOMAIN', help: 'its domain, such as example.com' },
    manifest: MANIFEST_OPTION,
    'observed-at': { type: 'text', value: 'TIME', help: 'when the boards were fetched, RFC 3339 (default now)' },
    'max-age-days': {
      type: 'integer',
      value: 'N',
      min: 1,
      max: MAX_AGE_DAYS,
      help: 'leave out active jobs that were last observed more than N days ago',
    },
    'merge-same-url': {
      type: 'flag',
      help: 'with --catalogue: of active jobs with one address keep only the one that was observed last',
    },
    'no-descriptions': { type: 'flag', help: 'leave the descriptions out: a smaller file, whose jobs have none' },
    json: { type: 'flag', help: 'report on stdout as JSON' },
  },
  notes: [
    `Formats: ${AUTO}, which recognises each input by its content; ${SHAPES.map(({ name, summary }) => `${name}, ${summary}`).join('; ')}.`,
    'An input of any format may be a JSON document, JSON Lines, CSV (UTF-8 or Windows-1252), Parquet or an HTML page.',
    '--max-age-days and --merge-same-url leave jobs out of the file. The catalogue keeps them and their events, and a job returns when it is observed again. The file says how many were left out.',
    'A bad native line stops the build, which reports its number, field and reason, unless --rejects is given. Of other\n' +
      'formats the build leaves out refused records and goes on. It reports and leaves out an input that auto cannot read or\n' +
      'recognise. An empty input counts as one that cannot be read. When it refuses every record, or can read no input, the\n' +
      'build writes nothing.',
    'Exit code 1: nothing was written. 2: wrong usage, or the file was written without an input that could not be read.',
    '--company, --domain and --manifest are for formats with one board per file, --observed-at for formats whose records\n' +
      'do not say when they were observed.',
  ],
  async run({ options, given, arguments: paths }, io) {
    if (options.catalogue !== undefined) {
      requireCatalogueOnly(given, paths);
      await buildFromHistory(
        {
          folder: options.catalogue,
          out: options.out,
          keepsDescriptions: !options['no-descriptions'],
          maxAgeDays: options['max-age-days'],
          mergesSameUrl: options['merge-same-url'],
          isJson: options.json,
          isNext: false,
        },
        io,
      );
      return EXIT_OK;
    }
    if (options['merge-same-url'])
      throw new UsageError('--merge-same-url goes with --catalogue: import the inputs first');
    requireFit(given, options.format);
    requireOneStdin(paths);
    const company = options.company?.trim();
    if (company === '' || (company?.length ?? 0) > NAME_LENGTH_MAX)
      throw new UsageError('--company is blank or too long');
    const domain = options.domain === undefined ? null : domainOf('--domain', options.domain);
    const observedAtMs = timeOption('observed-at', options['observed-at']);
    requireApart(options.out, options.rejects, paths);
    await requireWritable(options.out);
    return buildFromInputs(
      {
        paths,
        out: options.out,
        rejectsPath: options.rejects,
        manifestPath: options.manifest,
        shape: SHAPES.find(({ name }) => name === options.format),
        company: company ?? null,
        domain,
        observedAtMs,
        maxAgeDays: options['max-age-days'],
        keepsDescriptions: !options['no-descriptions'],
        isJson: options.json,
      },
      io,
    );
  },
});
