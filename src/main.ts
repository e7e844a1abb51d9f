/**
 * The process entry: hands the process to the command line and takes its exit code. Alone touches `process` for its
 * streams, environment and signals. What no command expected ends as one line and exit code 1; the whole of it is
 * shown when LOG_LEVEL is debug.
 */
import { isatty } from 'node:tty';
import { systemClock } from './base/clock.ts';
import { EXIT_FAILED, runProgram } from './cli/command.ts';
import type { Io, Output } from './cli/io.ts';
import { PROGRAM } from './cli/program.ts';

/** A stream of the process as an output. A reader that has gone away (EPIPE) is no error of ours. */
function outputOf(stream: NodeJS.WriteStream): Output {
  let gone = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    gone = true;
  });
  return {
    write(text) {
      if (!gone && text !== '') stream.write(text);
    },
    // The callback comes once everything before it has been passed on, or has failed.
    taken: () =>
      new Promise((resolve) => {
        if (gone) resolve(false);
        else stream.write('', (error) => resolve(!error && !gone));
      }),
    isTerminal: stream.isTTY === true,
    get columns() {
      // A terminal that does not know its width says 0.
      return stream.columns || 80;
    },
  };
}

const io: Io = {
  stdout: outputOf(process.stdout),
  stderr: outputOf(process.stderr),
  stdin: {
    // Opened only when it is read: a stdin that nobody reads must not keep the process alive.
    bytes: {
      [Symbol.asyncIterator]: () => (process.stdin as AsyncIterable<Uint8Array>)[Symbol.asyncIterator](),
    },
    isTerminal: isatty(0),
  },
  env: process.env,
  clock: systemClock,
  onSignal(name, handler) {
    process.on(name, handler);
    return () => process.off(name, handler);
  },
};

async function main(): Promise<number> {
  try {
    return await runProgram(PROGRAM, process.argv.slice(2), io);
  } catch (error) {
    const told =
      process.env.LOG_LEVEL === 'debug' && error instanceof Error ? error.stack : String(error).split('\n', 1)[0];
    io.stderr.write(`${PROGRAM.name}: unexpected failure: ${told}\n`);
    return EXIT_FAILED;
  }
}

const exitCode = await main();
await Promise.all([io.stdout.taken(), io.stderr.taken()]);
process.exit(exitCode);
