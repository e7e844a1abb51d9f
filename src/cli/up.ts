/** `up`: one command for one machine: watches boards and serves their jobs, in one process group. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HOUR_MS, MINUTE_MS } from '../base/durations.ts';
import { boardOfAddress } from '../ingest/boards/address-rules.ts';
import { HISTORY_FILE } from '../storage/history/database.ts';
import { addBoards } from './boards/add-boards.ts';
import { changeBoards } from './boards/board-options.ts';
import { boardsOfFile } from './boards/import.ts';
import { knownBoards } from './boards/known-boards.ts';
import { command, type Options, type OptionValues } from './command.ts';
import { pause } from './exchange.ts';
import type { Io } from './io.ts';
import { configFrom, serve } from './serve.ts';
import { SETTING_OPTIONS } from './settings.ts';
import { buildFromHistory } from './snapshot/build-from-history.ts';
import { stopSignal } from './stop-signal.ts';
import { buildOptions, WATCH_OPTIONS, watchBounds } from './watch/watch-options.ts';
import { REACH_OPTIONS, reachSettings } from './watch/watch-settings.ts';

const SNAPSHOT = 'jobs.snapshot';
/** Pauses before a watch that ended is restarted, milliseconds: the first, which doubles, and the longest. */
const RESTART_MS = 1000;
const RESTART_MS_MAX = MINUTE_MS;
/** Pauses before failed pages are looked at again, milliseconds; after the last one, the next start looks again. */
const LOOK_AGAIN_MS = [MINUTE_MS, 10 * MINUTE_MS, HOUR_MS];
/** Milliseconds after which a running watch counts as stable. */
const STEADY_MS = 10 * MINUTE_MS;

const { snapshot: _own, 'snapshot-watch': _always, ...SERVER_OPTIONS } = SETTING_OPTIONS;

type Flags = Readonly<Record<string, unknown>>;

/**
 * Adds the boards of a file that need no look: their address identifies them, or they were looked at before. @returns
 * whether there are others @throws CommandError
 */
async function addFromFile(path: string, folder: string, io: Io): Promise<boolean> {
  const boards = await boardsOfFile(path, io);
  const known = await changeBoards(folder, (tables) => knownBoards(tables, boards));
  const told = boards.filter(({ address }) => known.has(address) || boardOfAddress(address).kind !== 'page');
  if (told.length > 0) await addBoards({ folder, boards: told, look: null, isJson: false, known }, io);
  return told.length < boards.length;
}

/** Looks at the remaining boards of a file in a separate process, so that the server waits for no page. */
async function addOthers(words: readonly string[], io: Io, signal: AbortSignal): Promise<void> {
  for (const pauseMs of [...LOOK_AGAIN_MS, undefined]) {
    const code = await runSelf(words, io, signal);
    if (code === 0 || signal.aborted) return;
    const when = pauseMs === undefined ? 'at the next start' : `in ${pauseMs / MINUTE_MS} min`;
    io.stderr.write(`not every board of the file was added; the others are looked at again ${when}\n`);
    if (pauseMs !== undefined) await pause(pauseMs, signal);
    if (signal.aborted) return;
  }
}

/**
 * Runs this program with other words until it ends or the signal aborts. @returns its exit code; null: a signal ended it
 */
async function runSelf(words: readonly string[], io: Io, signal: AbortSignal): Promise<number | null> {
  const running = io.startSelf(words);
  const stop = (): void => running.end();
  signal.addEventListener('abort', stop, { once: true });
  const code = await running.ended;
  signal.removeEventListener('abort', stop);
  return code;
}

/** Starts the watch again whenever it ends, until the signal. */
async function keepWatching(words: readonly string[], io: Io, signal: AbortSignal): Promise<void> {
  let pauseMs = RESTART_MS;
  while (!signal.aborted) {
    const startMs = io.clock.monotonicMs();
    const code = await runSelf(words, io, signal);
    if (signal.aborted) return;
    if (io.clock.monotonicMs() - startMs > STEADY_MS) pauseMs = RESTART_MS;
    io.stderr.write(`the watch ended with ${code ?? 'a signal'}; it starts again in ${pauseMs / 1000} s\n`);
    await pause(pauseMs, signal);
    pauseMs = Math.min(RESTART_MS_MAX, pauseMs * 2);
  }
}

/** An option as one word, so that a value which begins with a dash is no other option. */
const wordOf = (name: string, value: unknown): string => `--${name}=${value}`;

/** The given options that another command shares, as words for its command line. */
const wordsFor = (options: Options, flags: Flags): string[] =>
  Object.entries(options).flatMap(([name, { type }]) => {
    const value = flags[name];
    if (type === 'flag') return value === true ? [`--${name}`] : [];
    return value === undefined ? [] : [wordOf(name, value)];
  });

export const up = command({
  options: {
    boards: { type: 'text', value: 'FILE.csv', help: 'boards to add first, as `boards import` reads them' },
    ...WATCH_OPTIONS,
    ...SERVER_OPTIONS,
    // Replaces the server's setting, which has no default.
    catalogue: { type: 'text', value: 'DIR', help: 'folder of the catalogue, made when missing', default: 'catalogue' },
  },
  notes: [
    `The same as \`boards import\`, \`watch --out DIR/${SNAPSHOT}\` and \`serve\` with SNAPSHOT=DIR/${SNAPSHOT}. The server starts at once, with what the catalogue has, while the pages of addresses that do not name a board are looked at. It loads what the watch finds after each round.`,
    'A watch that ends is started again. SIGTERM ends both; when this process is killed, its watch ends too.',
    'Settings of the server come from the environment or from flags, as for `serve`.',
  ],
  async run({ options, given }, io) {
    const flags: Flags = options;
    watchBounds(options);
    reachSettings(flags, io.env);
    const folder = given.has('catalogue') ? options.catalogue : io.env.CATALOGUE || options.catalogue;
    const out = join(folder, SNAPSHOT);
    const settings = { ...flags, catalogue: folder, snapshot: out, 'snapshot-watch': 'true' };
    const served = settings as unknown as OptionValues<Options>;
    // Refuses an invalid setting before anything is created.
    configFrom(served, io.env);
    let hasOthers = false;
    if (options.boards !== undefined) hasOthers = await addFromFile(options.boards, folder, io);
    else if (!existsSync(join(folder, HISTORY_FILE))) await changeBoards(folder, () => {});
    if (!existsSync(out)) {
      await buildFromHistory({ ...buildOptions(options), folder, out, isJson: false, isNext: true }, io);
    }
    const words = [
      'watch',
      wordOf('catalogue', folder),
      wordOf('out', out),
      '--json',
      '--until-stdin-ends',
      ...wordsFor(WATCH_OPTIONS, flags),
    ];
    const end = new AbortController();
    // A supervisor may signal the whole group: then the ended watch must not be restarted while the server drains.
    void stopSignal(io).stopped.then(() => end.abort());
    const watching = keepWatching(words, io, end.signal);
    const others = ['boards', 'import', wordOf('catalogue', folder), '--skip-known', '--until-stdin-ends'];
    const adding = hasOthers
      ? addOthers([...others, ...wordsFor(REACH_OPTIONS, flags), '--', options.boards!], io, end.signal)
      : undefined;
    try {
      return await serve.start({ options: served, given, arguments: [] }, io);
    } finally {
      end.abort();
      await Promise.all([watching, adding]);
    }
  },
});
