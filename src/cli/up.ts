/** `up`: one command for one machine: watches boards and serves what they list, in one process group. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { boardOfAddress } from '../ingest/boards/address-rules.ts';
import { HISTORY_FILE } from '../storage/history/database.ts';
import { addBoards } from './boards/add-boards.ts';
import { changeBoards, openLook } from './boards/board-options.ts';
import { boardsOfFile } from './boards/import.ts';
import { command, type Options, type OptionValues } from './command.ts';
import type { Io } from './io.ts';
import { serve } from './serve.ts';
import { SETTING_OPTIONS } from './settings.ts';
import { buildFromHistory } from './snapshot/build-from-history.ts';
import { WATCH_OPTIONS, watchBounds } from './watch/watch-options.ts';
import { reachSettings } from './watch/watch-settings.ts';

const SNAPSHOT = 'jobs.snapshot';
/** Pauses before a watch that ended is started again, milliseconds: from the first, doubled, to the longest. */
const RESTART_MS = 1000;
const RESTART_MS_MAX = 60_000;
/** Milliseconds of running after which a watch counts as one that works. */
const STEADY_MS = 600_000;

const { snapshot: _own, 'snapshot-watch': _always, ...SERVER_OPTIONS } = SETTING_OPTIONS;

type Flags = Readonly<Record<string, unknown>>;

/** Adds the boards of a file; only those whose address alone does not tell what they are are asked. */
async function addFromFile(path: string, folder: string, flags: Flags, io: Io): Promise<void> {
  const boards = await boardsOfFile(path, io);
  const { known = [], asked = [] } = Object.groupBy(boards, ({ address }) =>
    boardOfAddress(address).kind === 'page' ? 'asked' : 'known',
  );
  if (known.length > 0) await addBoards({ folder, boards: known, look: null, isJson: false }, io);
  if (asked.length === 0) return;
  const look = openLook(flags, io);
  await addBoards({ folder, boards: asked, look, isJson: false }, io);
}

/** Starts the watch again whenever it ends, until the signal. */
async function keepWatching(words: readonly string[], io: Io, signal: AbortSignal): Promise<void> {
  let pauseMs = RESTART_MS;
  while (!signal.aborted) {
    const startMs = io.clock.monotonicMs();
    const watch = io.startSelf(words);
    const stop = (): void => watch.end();
    signal.addEventListener('abort', stop, { once: true });
    const code = await watch.ended;
    signal.removeEventListener('abort', stop);
    if (signal.aborted) return;
    if (io.clock.monotonicMs() - startMs > STEADY_MS) pauseMs = RESTART_MS;
    io.stderr.write(`the watch ended with ${code ?? 'a signal'}; it starts again in ${pauseMs / 1000} s\n`);
    await setTimeout(pauseMs, undefined, { signal }).catch(() => {});
    pauseMs = Math.min(RESTART_MS_MAX, pauseMs * 2);
  }
}

/** The options that the watch has too, as words of its command line. */
const wordsFor = (flags: Flags): string[] =>
  Object.entries(WATCH_OPTIONS).flatMap(([name, { type }]) => {
    const value = flags[name];
    if (type === 'flag') return value === true ? [`--${name}`] : [];
    return value === undefined ? [] : [`--${name}`, String(value)];
  });

export const up = command({
  name: 'up',
  summary: 'Watches boards and serves what they list, in one process group',
  options: {
    boards: { type: 'text', value: 'FILE.csv', help: 'boards to add first, as `boards import` reads them' },
    catalogue: { type: 'text', value: 'DIR', help: 'folder of the catalogue, made when missing', default: 'catalogue' },
    ...WATCH_OPTIONS,
    ...SERVER_OPTIONS,
  },
  notes: [
    `The same as \`boards import\`, \`watch --out DIR/${SNAPSHOT}\` and \`serve\` with SNAPSHOT=DIR/${SNAPSHOT}. The server starts at once, with what the catalogue has, and loads what the watch finds after each round.`,
    'A watch that ends is started again. SIGTERM ends both; when this process is killed, its watch ends too.',
    'Settings of the server come from the environment or from flags, as for `serve`.',
  ],
  async run({ options, given }, io) {
    const flags: Flags = options;
    watchBounds(options);
    reachSettings(flags, io.env);
    const folder = options.catalogue;
    const out = join(folder, SNAPSHOT);
    if (options.boards !== undefined) await addFromFile(options.boards, folder, flags, io);
    else if (!existsSync(join(folder, HISTORY_FILE))) changeBoards(folder, () => {});
    if (!existsSync(out)) {
      const plan = { folder, out, keepsDescriptions: true, maxAgeDays: undefined, mergesSameUrl: false };
      await buildFromHistory({ ...plan, isJson: false, isNext: true }, io);
    }
    const words = ['watch', '--catalogue', folder, '--out', out, '--json', '--until-stdin-ends', ...wordsFor(flags)];
    const end = new AbortController();
    const watching = keepWatching(words, io, end.signal);
    try {
      const served = { ...flags, snapshot: out, 'snapshot-watch': 'true' } as unknown as OptionValues<Options>;
      return await serve.start({ options: served, given, arguments: [] }, io);
    } finally {
      end.abort();
      await watching;
    }
  },
});
