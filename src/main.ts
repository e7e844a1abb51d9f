#!/usr/bin/env node
/**
 * The process entry: runs the command line and ends with its exit code. The only file that uses streams, signals and
 * environment of `process`, except that adapters/engine/ reads proxy variables and cli/fleet/ handles signal listeners of a
 * package. An unexpected error becomes one line and exit code 1; with LOG_LEVEL=debug its stack.
 */
import { fstatSync, readSync, write } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemClock } from './base/clock.ts';
import { MINUTE_MS } from './base/durations.ts';
import { errorCodeOf, messageOf } from './base/failure.ts';
import { printableLines } from './base/printable.ts';
import { versionFault } from './base/runtime-version.ts';
import { CommandError, EXIT_FAILED, EXIT_OK, runProgram } from './cli/command.ts';
import type { Io, Output } from './cli/io.ts';

// An older Node would fail for a missing module, with a message that does not name the cause.
const fault = versionFault(process.versions);
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`);
  process.exit(1);
}

// These reload at SIGHUP. One that comes while their code loads would end them, and systemd takes that end for a clean one.
if (['serve', 'up', 'fleet'].includes(process.argv[2] ?? '')) process.on('SIGHUP', () => {});

// Node 22 warns on stderr that node:sqlite is experimental, where we promise one clear line. The warning comes when a module
// that imports node:sqlite is linked, so commands load only after this.
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.name}: ${warning.message}\n`);
});

// The runtime caches compiled code for the next start; if the folder cannot be written, it caches nothing.
const { XDG_CACHE_HOME = '' } = process.env;
const COMPILED = join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache'), 'paygrade');
module.enableCompileCache?.(COMPILED);

/** Only long-running processes clean up caches of other versions, long after their start. */
const CACHES_AFTER_MS = MINUTE_MS;
async function removeUnusedCaches(): Promise<void> {
  try {
    const caches = await import('./adapters/files/compile-caches.ts');
    await caches.removeUnusedCaches(COMPILED, module.getCompileCacheDir?.(), systemClock.nowMs());
  } catch {
    // An update of the package may have replaced its files meanwhile.
  }
}
globalThis.setTimeout(() => void removeUnusedCaches(), CACHES_AFTER_MS).unref();

const { PROGRAM } = await import('./cli/program.ts');

const writeTo = promisify(write);

/** Moves to the start of the line and clears it (ECMA-48 EL). */
const CLEAR_LINE = '\r\u001b[K';

/** Pause before writing to a full pipe again, on systems that report it instead of waiting. */
const FULL_PIPE_PAUSE_MS = 5;

/** Error codes when a pipe's reader has closed; ECONNRESET is from a socket closed with unread text (write(2), unix(7)). */
const READER_GONE: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET']);

/** Loads node:tty only for a character device: it loads sockets, which a start with its log in a file or pipe does not need. */
const isTerminal = (fileDescriptor: number): boolean =>
  fstatSync(fileDescriptor).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fileDescriptor);

/**
 * A file descriptor as an output. Bun's own stream reports an empty write as done while earlier text still waits, and the exit
 * of the process would lose that text; so this writes to the descriptor directly, in order, one write at a time. A closed
 * reader is not an error; `taken` throws any other failure of stdout.
 */
function outputOf(fileDescriptor: 1 | 2, columns: () => number | undefined): Output {
  let pending = '';
  let passing: Promise<void> | undefined;
  let isGone = false;
  let failure: CommandError | undefined;

  const writeAll = async (bytes: Buffer): Promise<void> => {
    for (let done = 0; done < bytes.length; ) {
      try {
        done += (await writeTo(fileDescriptor, bytes, done, bytes.length - done, null)).bytesWritten;
      } catch (error) {
        const code = errorCodeOf(error);
        if (code === 'EAGAIN') {
          await setTimeout(FULL_PIPE_PAUSE_MS);
          continue;
        }
        const isReaderGone = READER_GONE.has(code);
        // A server's stderr is a log, so it continues once a full disk has space again.
        isGone = isReaderGone || fileDescriptor === 1;
        if (isGone && !isReaderGone) failure = new CommandError(`stdout cannot be written (${code})`);
        return;
      }
    }
  };

  const pass = async (): Promise<void> => {
    while (pending !== '' && !isGone) {
      const bytes = Buffer.from(pending);
      pending = '';
      await writeAll(bytes);
    }
    passing = undefined;
  };

  const add = (text: string): void => {
    if (isGone || text === '') return;
    pending += text;
    passing ??= pass();
  };

  return {
    write(text) {
      add(printableLines(text));
    },
    clearLine() {
      add(CLEAR_LINE);
    },
    async taken() {
      await passing;
      if (failure !== undefined) throw failure;
      return !isGone;
    },
    get isTerminal() {
      return isTerminal(fileDescriptor);
    },
    get columns() {
      // A terminal of unknown width reports 0.
      return columns() || 80;
    },
  };
}

const io: Io = {
  stdout: outputOf(1, () => process.stdout.columns),
  stderr: outputOf(2, () => process.stderr.columns),
  stdin: {
    // Opened on the first read: an unread stdin must not keep the process alive.
    bytes: {
      [Symbol.asyncIterator]() {
        // Node's stream of a directory ends at once; a read fails as it should.
        if (fstatSync(0).isDirectory()) readSync(0, Buffer.alloc(1));
        return (process.stdin as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
      },
    },
    get isTerminal() {
      return isTerminal(0);
    },
  },
  env: process.env,
  clock: systemClock,
  onSignal(name, handler) {
    process.on(name, handler);
    return () => process.off(name, handler);
  },
  processId: process.pid,
  // A clone has no `paygrade` on its path.
  programWords: import.meta.url.endsWith('.ts') ? 'npm run -s paygrade --' : PROGRAM.name,
  sendSignal(processId, name) {
    process.kill(processId, name);
  },
  startSelf(words) {
    const child = process
      .getBuiltinModule('node:child_process')
      .spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...words], {
        stdio: ['pipe', 'inherit', 'inherit'],
      });
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => resolve(code));
      child.once('error', () => resolve(null));
    });
    return { ended, end: () => void child.kill('SIGTERM') };
  },
};

async function main(): Promise<number> {
  try {
    return await runProgram(PROGRAM, process.argv.slice(2), io);
  } catch (error) {
    const text =
      process.env.LOG_LEVEL === 'debug' && error instanceof Error ? error.stack : String(error).split('\n', 1)[0];
    io.stderr.write(`${PROGRAM.name}: unexpected failure: ${text}\n`);
    return EXIT_FAILED;
  }
}

let exitCode = await main();
try {
  await io.stdout.taken();
} catch (error) {
  if (exitCode === EXIT_OK) io.stderr.write(`${PROGRAM.name}: ${messageOf(error)}\n`);
  exitCode = EXIT_FAILED;
}
await io.stderr.taken().catch(() => {});
process.exit(exitCode);
