/** `retry wait`: waits until a job has ended, and shows it. */
import { untilInterrupted } from '../callback/follow.ts';
import { command, EXIT_FAILED, EXIT_OK } from '../command.ts';
import { objectFrom, pause, read } from '../exchange.ts';
import {
  addressOf,
  credentialOf,
  ENDED,
  ID,
  json,
  readPatiently,
  type ShownRetry,
  show,
  token,
  url,
} from './retry-client.ts';

/** Pause between two looks. */
const PAUSE_MS = 1000;

export const waitForRetry = command({
  notes: [
    'Exits with 0 when it succeeded, with 1 when it failed, expired or was cancelled.',
    'While it waits, the server may be away for a minute, for example during a restart.',
  ],
  arguments: [ID],
  options: { url, token, json },
  async run({ options, arguments: [id] }, io) {
    const credential = credentialOf(options.token, io);
    const address = addressOf(id, options.url, io.env);
    let exitCode: number = EXIT_OK;
    await untilInterrupted(io, async (signal) => {
      let answer = await read(address, credential, { signal });
      while (!signal.aborted) {
        const { status } = objectFrom<ShownRetry>(answer, 'attempt_count');
        if (ENDED.has(status)) {
          show(answer, options.json, io);
          exitCode = status === 'succeeded' ? EXIT_OK : EXIT_FAILED;
          return;
        }
        await pause(PAUSE_MS, signal);
        answer = await readPatiently(address, credential, signal, io);
      }
    });
    return exitCode;
  },
});
