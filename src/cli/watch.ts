/** `watch`: fetches the boards of a catalogue as often as they change, and keeps its snapshot up to date. */
import { join } from 'node:path';
import { awakeTimers } from '../adapters/process/system-timers.ts';
import { drawFrom, systemRandom } from '../base/random.ts';
import { folderFaultOf } from '../storage/folder-fault.ts';
import { HISTORY_FILE, HistoryError } from '../storage/history/database.ts';
import { makeFolder } from '../storage/make-folder.ts';
import { lockState, WATCH_LOCK_FILE } from '../storage/sqlite/lock.ts';
import { CommandError, command, commandErrorOf, EXIT_OK, UsageError } from './command.ts';
import type { Io } from './io.ts';
import { realPathOf, requireWritable } from './output-paths.ts';
import { stopSignal, UNTIL_STDIN_ENDS } from './stop-signal.ts';
import { buildOptions, WATCH_OPTIONS, watchBounds } from './watch/watch-options.ts';
import { REACH_NOTE, reachSettings } from './watch/watch-settings.ts';
import { Watcher, type WatchPlan } from './watch/watcher.ts';
import { openWayOut } from './watch/way-out.ts';

/** @throws CommandError */
function lockedFolder(folder: string): { release(): void } {
  try {
    makeFolder(folder);
    const lock = lockState(folder, WATCH_LOCK_FILE);
    if (lock !== undefined) return lock;
  } catch (failure) {
    throw new CommandError(`${folder} cannot be a catalogue: ${folderFaultOf(folder, failure)}`);
  }
  throw new CommandError(`another watch runs on ${folder}`);
}

async function watchBoards(plan: WatchPlan, flags: Readonly<Record<string, unknown>>, io: Io): Promise<number> {
  const reach = reachSettings(flags, io.env);
  await requireWritable(plan.out);
  const lock = lockedFolder(plan.folder);
  // `up` may pass on a signal that the whole group has had already.
  const stop = stopSignal(io, { endsWithStdin: flags['until-stdin-ends'] === true, ignoresLater: true });
  let watcher: Watcher | undefined;
  try {
    if (reach.contact === null) {
      io.stderr.write(
        'warning: without CONTACT the boards’ hosts cannot tell who asks; set it to an address or URL of yours\n',
      );
    }
    const draw = (): number => drawFrom(systemRandom);
    const wayOut = openWayOut({ ...reach, draw, clock: io.clock, timers: awakeTimers });
    watcher = new Watcher(plan, { io, wayOut, origins: reach.boardEndpoints, draw, signal: stop.signal });
    await watcher.run();
    return EXIT_OK;
  } catch (error) {
    throw commandErrorOf(error, HistoryError);
  } finally {
    watcher?.close();
    stop.restore();
    lock.release();
  }
}

export const watch = command({
  options: {
    catalogue: { type: 'text', value: 'DIR', help: 'folder of the catalogue, made when missing', required: true },
    out: { type: 'text', value: 'FILE', help: 'catalogue file to write after each round', required: true },
    once: { type: 'flag', help: 'one round over the boards that are due, then end: for cron' },
    all: { type: 'flag', help: 'with --once: every board, due or not, that its host did not ask to leave alone' },
    ...WATCH_OPTIONS,
    'until-stdin-ends': UNTIL_STDIN_ENDS,
    json: { type: 'flag', help: 'one JSON object a board on stdout; also where stdout is no terminal' },
  },
  notes: [
    'Boards are added with `boards add` and `boards import`. Each is fetched as often as it changes, between --every-min and --every-max. One request at a time goes to a host; Retry-After and robots rules are obeyed.',
    'After each round the file is built beside the old one and renamed over it; a server that runs on it loads it (SNAPSHOT_WATCH). A board that fails, or lists under half of its usual jobs, stays as it was and is reported. A host that fails for five boards in a row, for minutes or asking for a pause, is left alone for a while, with all its boards, also with --all.',
    'The process may be killed at any moment: each board is stored once it has been fetched, and the next start continues with those that are due.',
    REACH_NOTE,
    'Exit code 0: the round ended, whatever single boards did. 1: the catalogue or the file cannot be used.',
  ],
  async run({ options }, io) {
    if (options.all && !options.once) throw new UsageError('--all goes with --once');
    const { catalogue: folder, out } = options;
    if (realPathOf(out) === realPathOf(join(folder, HISTORY_FILE)))
      throw new UsageError('--out names the catalogue itself');
    const plan: WatchPlan = {
      folder,
      out,
      bounds: watchBounds(options),
      isOnce: options.once,
      isAll: options.all,
      isJson: options.json || !io.stdout.isTerminal,
      build: buildOptions(options),
    };
    return watchBoards(plan, options, io);
  },
});
