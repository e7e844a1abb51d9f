/** `sales`: the books of a server, from its state folder or through its admin routes (decisions §4). */
import { parseDateTime } from '../base/date-time.ts';
import { IN_MEMORY } from '../config/settings.ts';
import { command, EXIT_OK, UsageError } from './command.ts';
import type { Io } from './io.ts';
import { namedServer } from './paying-client.ts';
import { CSV_LINES, JSON_LINES, PEOPLE_LINES, type SaleLines } from './sales/sales-lines.ts';
import { adminTokenOf, pagesOfFolder, pagesOfServer, type SalesPages, type SalesWanted } from './sales/sales-source.ts';
import { SalesTotals } from './sales/sales-totals.ts';

/** The folder of a server that was started without STATE_DIR. */
const STATE_DIR_DEFAULT = '.state';

const SPAN = /^([1-9][0-9]{0,4})([dhm])$/;
const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/** A date, a date-time, or a span before now such as `7d`. @throws UsageError */
function sinceOf(text: string | undefined, nowMs: number): number {
  if (text === undefined) return 0;
  const [, count, unit = ''] = SPAN.exec(text) ?? [];
  const timeMs = count === undefined ? parseDateTime(text) : nowMs - Number(count) * (UNIT_MS[unit] as number);
  if (timeMs !== undefined) return timeMs;
  throw new UsageError('--since must be an RFC 3339 date-time, a date, or a span such as 7d, 24h or 30m');
}

interface Place {
  readonly 'state-dir': string | undefined;
  readonly url: string | undefined;
  readonly 'admin-token-file': string | undefined;
}

/** @throws UsageError */
function pagesOf(place: Place, wanted: SalesWanted, { env }: Io): SalesPages {
  const { 'state-dir': folder, url, 'admin-token-file': tokenFile } = place;
  if (url !== undefined && folder !== undefined) throw new UsageError('--state-dir does not go with --url');
  const server = folder === undefined ? namedServer(url, env) : undefined;
  if (server !== undefined) return pagesOfServer(server, adminTokenOf(tokenFile, env), wanted, fetch);
  if (tokenFile !== undefined) throw new UsageError('--admin-token-file goes with --url');
  const stateDir = folder ?? (env.STATE_DIR || STATE_DIR_DEFAULT);
  if (stateDir === IN_MEMORY) throw new UsageError('this state is in memory only: ask its server with --url');
  return pagesOfFolder(stateDir, wanted);
}

/** Writes page after page, so that a long history fills no memory. A reader that went away has read enough. */
async function write(pages: SalesPages, lines: SaleLines, io: Io): Promise<SalesTotals | undefined> {
  const totals = new SalesTotals();
  let head = lines.head;
  for await (const sales of pages) {
    for (const sale of sales) totals.add(sale);
    if (sales.length === 0) continue;
    io.stdout.write(head + sales.map((sale) => lines.lineOf(sale)).join(''));
    head = '';
    if (!(await io.stdout.taken())) return undefined;
  }
  if (lines === CSV_LINES) io.stdout.write(head);
  return totals;
}

export const sales = command({
  name: 'sales',
  summary: 'Lists what was sold, from a state folder or a running server',
  options: {
    'state-dir': {
      type: 'text',
      value: 'DIR',
      help: `folder of the state (default STATE_DIR, or ${STATE_DIR_DEFAULT})`,
    },
    url: {
      type: 'text',
      value: 'URL',
      help: 'address of a server to ask instead, with ADMIN_TOKEN (default PAYGRADE_URL)',
    },
    'admin-token-file': { type: 'text', value: 'FILE', help: 'file with the admin token, in place of ADMIN_TOKEN' },
    since: { type: 'text', value: 'TIME', help: 'only from this time on: RFC 3339, or a span such as 7d, 24h, 30m' },
    undelivered: { type: 'flag', help: 'only sales whose answer did not go out' },
    json: { type: 'flag', help: 'one JSON object per line' },
    csv: { type: 'flag', help: 'comma-separated values with a header line' },
  },
  notes: [
    'Reads a folder without changing it, also while a server runs on it or after one was killed.',
    'The lists of people shorten addresses; --json and --csv have them whole, and amounts in atomic USDC (6 decimals).',
  ],
  async run({ options }, io) {
    if (options.json && options.csv) throw new UsageError('--json does not go with --csv');
    const wanted = { sinceMs: sinceOf(options.since, io.clock.nowMs()), isUndeliveredOnly: options.undelivered };
    const pages = pagesOf(options, wanted, io);
    const lines = options.json ? JSON_LINES : options.csv ? CSV_LINES : PEOPLE_LINES;
    const totals = await write(pages, lines, io);
    if (lines === PEOPLE_LINES && totals !== undefined) io.stderr.write(totals.text());
    return EXIT_OK;
  },
});
