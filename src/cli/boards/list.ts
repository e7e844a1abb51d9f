/** `boards`: the watched boards of a catalogue and the health of each. */
import { grouped, quantity } from '../../base/grouped.ts';
import { isoTime } from '../../base/iso-time.ts';
import { printable } from '../../base/printable.ts';
import { BOARD_HEALTHS, type BoardHealth, countByHealth } from '../../catalogue/watched-boards.ts';
import type { WatchedBoard } from '../../storage/history/board-tables.ts';
import { command, EXIT_OK } from '../command.ts';
import { BOARD_CATALOGUE, readBoards } from './board-options.ts';

const healthOf = ({ state }: WatchedBoard): BoardHealth => state?.health ?? 'new';
const timeOf = (timeMs: number | null | undefined): string | null => (timeMs ? isoTime(timeMs) : null);

/** As `--json` prints it. */
const jsonOf = (board: WatchedBoard): string =>
  JSON.stringify({
    board: board.name,
    shape: board.shape,
    company: board.company,
    domain: board.domain,
    address: board.address,
    added_at: isoTime(board.addedMs),
    health: healthOf(board),
    jobs: board.state?.rows ?? null,
    last_fetch_at: timeOf(board.state?.lastFetchMs),
    last_ok_at: timeOf(board.state?.lastOkMs),
    next_at: timeOf(board.nextMs),
    http_status: board.state?.httpStatus ?? null,
    reason: board.state?.reason ?? null,
  });

const minuteOf = (timeMs: number | null | undefined): string =>
  timeMs ? isoTime(timeMs).slice(0, 16).replace('T', ' ') : '-';

function lineOf(board: WatchedBoard, nowMs: number): string {
  const { state } = board;
  const jobs = state?.rows === null || state === null ? '-' : grouped(state.rows);
  const next = board.nextMs <= nowMs ? 'now' : minuteOf(board.nextMs);
  const company = board.company === null ? '' : `  ${printable(board.company, 60)}`;
  const domain = board.domain === null ? '' : ` (${board.domain})`;
  const reason = state?.reason ? `  ${printable(state.reason, 200)}` : '';
  return (
    `${healthOf(board).padEnd(9)}  ${jobs.padStart(7)}  ${minuteOf(state?.lastFetchMs).padEnd(16)}  ${next.padEnd(16)}  ` +
    `${printable(board.name, 120)}${company}${domain}${reason}\n`
  );
}

/** `boards list`, and `boards` itself. */
export const listBoards = command({
  options: {
    catalogue: { ...BOARD_CATALOGUE, help: 'folder of the catalogue' },
    health: { type: 'text', value: 'HEALTH', help: 'only boards that are', choices: BOARD_HEALTHS },
    json: { type: 'flag', help: 'one JSON object a board on stdout' },
  },
  notes: [
    'new: never fetched. ok: the last fetch gave every job. partial: it answers, but never with everything, so nothing is closed. unhealthy: it lists under half of its usual jobs, and was left as it was. failed: no usable answer. gone: its address no longer exists.',
  ],
  async run({ options }, { stdout, stderr, clock }) {
    const all = await readBoards(options.catalogue, (boards) => boards.list());
    const shown = all.filter((board) => options.health === undefined || healthOf(board) === options.health);
    if (options.json) {
      for (const board of shown) stdout.write(`${jsonOf(board)}\n`);
      return EXIT_OK;
    }
    stdout.write(
      `${'health'.padEnd(9)}  ${'jobs'.padStart(7)}  ${'last fetch'.padEnd(16)}  ${'next'.padEnd(16)}  board\n`,
    );
    for (const board of shown) stdout.write(lineOf(board, clock.nowMs()));
    const counts = Object.entries(countByHealth(all.map((board) => ({ health: healthOf(board) }))));
    const parts = counts.filter(([, count]) => count > 0).map(([health, count]) => `${grouped(count)} ${health}`);
    stderr.write(`${quantity(all.length, 'board')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}\n`);
    return EXIT_OK;
  },
});
