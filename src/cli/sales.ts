/** `sales`: the books of a server, from its state folder, its database or its admin routes (decisions §4). */
import { parseDateTime } from '../base/date-time.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/durations.ts';
import { command, EXIT_OK, UsageError } from './command.ts';
import type { Io } from './io.ts';
import { CSV_LINES, JSON_LINES, PEOPLE_LINES, type SaleLines } from './sales/sales-lines.ts';
import {
  pagesOfDatabase,
  pagesOfFolder,
  pagesOfServer,
  type SalesPages,
  type SalesWanted,
} from './sales/sales-source.ts';
import { SalesTotals } from './sales/sales-totals.ts';
import { PLACE_OPTIONS, type PlaceOptions, placeOf } from './state-place.ts';

const SPAN = /^([1-9][0-9]{0,4})([dhm])$/;
const UNIT_MS: Readonly<Record<string, number>> = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS };

/** Accepts a date, a date-time, or a span before now such as `7d`. @throws UsageError */
function sinceOf(text: string | undefined, nowMs: number): number {
  if (text === undefined) return 0;
  const [, count, unit = ''] = SPAN.exec(text) ?? [];
  const timeMs = count === undefined ? parseDateTime(text) : nowMs - Number(count) * (UNIT_MS[unit] as number);
  if (timeMs !== undefined) return timeMs;
  throw new UsageError('--since must be an RFC 3339 date-time, a date, or a span such as 7d, 24h or 30m');
}

/** @throws UsageError */
function pagesOf(options: PlaceOptions, wanted: SalesWanted, io: Io): SalesPages {
  const place = placeOf(options, io);
  switch (place.kind) {
    case 'server':
      return pagesOfServer(place.base, place.token, wanted, fetch);
    case 'database':
      return pagesOfDatabase(place.url, io.clock, wanted);
    case 'folder':
      return pagesOfFolder(place.stateDir, wanted);
    default:
      return place satisfies never;
  }
}

/** Writes page by page, so that long books do not fill memory. If the reader closes its end, it has read enough. */
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
  options: {
    ...PLACE_OPTIONS,
    since: { type: 'text', value: 'TIME', help: 'only from this time on: RFC 3339, or a span such as 7d, 24h, 30m' },
    undelivered: { type: 'flag', help: 'only sales whose answer did not go out' },
    json: { type: 'flag', help: 'one JSON object per line' },
    csv: { type: 'flag', help: 'comma-separated values with a header line' },
  },
  notes: [
    'Reads a folder or a database without changing it, also while a server runs on it or after one was killed.',
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
