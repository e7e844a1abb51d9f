/**
 * `reload`: sends SIGHUP to the server that runs on a state folder. It finds the process by the folder's lock, so it
 * reaches the server even if a shell shows only the pid of a wrapper: npm does not pass SIGHUP on.
 */
import { errorCodeOf } from '../base/failure.ts';
import { printable } from '../base/printable.ts';
import { IN_MEMORY } from '../config/settings.ts';
import { closedFolder } from '../storage/folder-fault.ts';
import { lockHolder } from '../storage/sqlite/inspect.ts';
import { LOCK_FILE } from '../storage/sqlite/lock.ts';
import { CommandError, command, EXIT_OK, UsageError } from './command.ts';

const PRINTED_PID = 'send SIGHUP to the pid that the server printed at its start: kill -HUP PID';

export const reload = command({
  options: {
    'state-dir': { type: 'text', value: 'DIR', help: 'folder of the state (default STATE_DIR, or .state)' },
    json: { type: 'flag', help: 'print the pid as JSON on stdout' },
  },
  notes: [
    'The same as kill -HUP with the pid that the server prints at its start, and works under `npm start` too, whose own pid does not pass the signal on. The server finishes every request in flight and says on stderr how the reload went; a bad file changes nothing.',
    'Needs Linux, which lists the holders of locks, and the user that runs the server. Elsewhere use kill -HUP.',
  ],
  async run({ options }, io) {
    const stateDir = options['state-dir'] ?? (io.env.STATE_DIR || '.state');
    if (stateDir === IN_MEMORY) throw new UsageError(`this state is in memory only and has no lock: ${PRINTED_PID}`);
    const found = lockHolder(stateDir);
    if (found.kind === 'unknown') throw new CommandError(`this system does not list locks: ${PRINTED_PID}`);
    if (found.kind === 'none') {
      const folder = printable(stateDir);
      throw new CommandError(
        closedFolder(stateDir, LOCK_FILE) ??
          `no server runs on ${folder}: --state-dir or STATE_DIR names the folder of the server`,
      );
    }
    const { processId } = found;
    try {
      io.sendSignal(processId, 'SIGHUP');
    } catch (failure) {
      throw new CommandError(
        errorCodeOf(failure) === 'EPERM'
          ? `process ${processId} belongs to another user: run this as the user that runs the server`
          : `process ${processId} has ended meanwhile`,
      );
    }
    if (options.json) io.stdout.write(`${JSON.stringify({ pid: processId })}\n`);
    else io.stderr.write(`process ${processId} reloads its catalogue and says on its stderr how it went\n`);
    return EXIT_OK;
  },
});
