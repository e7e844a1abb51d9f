/** `history`: what opened, changed, closed and reopened in a catalogue, or its feeds, oldest first. */
import { quantity } from '../base/grouped.ts';
import { isoTime } from '../base/iso-time.ts';
import { printable } from '../base/printable.ts';
import { EVENT_KINDS } from '../ingest/history/observation.ts';
import { HistoryDatabase } from '../storage/history/database.ts';
import { eventsIn, feedsIn, type HistoryQuery } from '../storage/history/history-query.ts';
import { command, EXIT_OK, UsageError } from './command.ts';
import type { Io } from './io.ts';
import { writeLines } from './text-lines.ts';
import { timeOption } from './time-option.ts';
import { withHistory } from './with-history.ts';

/** Says so when there are none: a misspelled board would otherwise look like a quiet one. */
function* orNone(lines: Iterable<string>, none: () => void): Generator<string> {
  let isEmpty = true;
  for (const line of lines) {
    isEmpty = false;
    yield line;
  }
  if (isEmpty) none();
}

/** Longest line of an event for people, characters: id, title, company and two values of a field at their longest. */
const LINE_LENGTH_MAX = 4000;

function* eventLines(history: HistoryDatabase, query: HistoryQuery, isJson: boolean): Generator<string> {
  for (const { atMs, kind, id, title, company, shape, board, field, before, after } of eventsIn(history, query)) {
    const at = isoTime(atMs);
    if (isJson) {
      const change = kind === 'changed' ? { field, before, after } : {};
      yield `${JSON.stringify({ at, kind, id, board: `${shape}:${board}`, company, title, ...change })}\n`;
    } else {
      const what = kind === 'changed' ? `  ${field}: ${before ?? 'none'} -> ${after ?? 'none'}` : '';
      yield `${printable(`${at}  ${kind.padEnd(8)}  ${id}  ${title} (${company})${what}`, LINE_LENGTH_MAX)}\n`;
    }
  }
}

function* feedLines(history: HistoryDatabase, query: HistoryQuery, isJson: boolean): Generator<string> {
  for (const { atMs, shape, board, rows, isComplete } of feedsIn(history, query)) {
    const at = isoTime(atMs);
    yield isJson
      ? `${JSON.stringify({ at, board: `${shape}:${board}`, rows, complete: isComplete })}\n`
      : `${at}  ${shape}:${printable(board)}  ${quantity(rows, 'row')}, ${isComplete ? 'complete' : 'partial'}\n`;
  }
}

export const history = command({
  options: {
    catalogue: { type: 'text', value: 'DIR', help: 'folder of the catalogue', required: true },
    board: { type: 'text', value: 'BOARD', help: 'only this board: <shape>:<token>, or a token' },
    job: { type: 'text', value: 'ID', help: 'only this job' },
    kind: { type: 'text', value: 'KIND', choices: EVENT_KINDS, help: 'only events of this kind' },
    since: { type: 'text', value: 'TIME', help: 'only from this time on, RFC 3339' },
    until: { type: 'text', value: 'TIME', help: 'only up to this time, RFC 3339' },
    feeds: { type: 'flag', help: 'show the imported feeds instead of events' },
    json: { type: 'flag', help: 'one JSON object per line' },
  },
  notes: ['A changed description shows as the digests of the old and the new text.'],
  async run({ options }, io: Io) {
    if (options.feeds && (options.job !== undefined || options.kind !== undefined)) {
      throw new UsageError('--feeds does not go with --job and --kind');
    }
    const sinceMs = timeOption('since', options.since);
    const untilMs = timeOption('until', options.until);
    const { board, job, kind } = options;
    const query: HistoryQuery = {
      ...(board === undefined ? {} : { board }),
      ...(job === undefined ? {} : { job }),
      ...(kind === undefined ? {} : { kind }),
      ...(sinceMs === undefined ? {} : { sinceMs }),
      ...(untilMs === undefined ? {} : { untilMs }),
    };
    const linesOf = options.feeds ? feedLines : eventLines;
    const none = (): void => {
      if (!options.json) io.stderr.write(options.feeds ? 'no feeds\n' : 'no events\n');
    };
    await withHistory(
      () => HistoryDatabase.openForReading(options.catalogue),
      (opened) => writeLines(orNone(linesOf(opened, query, options.json), none), io.stdout),
    );
    return EXIT_OK;
  },
});
