/** `callback wait`: prints each event of a callback when it arrives, until the callback ends. */
import { command, EXIT_OK } from '../command.ts';
import type { Io } from '../io.ts';
import { callbackOf, ID, json, token, tokenOf, url } from './callback-client.ts';
import { eventLine, oneLine } from './event-line.ts';
import { eventsOf, type Following, untilInterrupted } from './follow.ts';

/** Prints events until the callback ends, `eventCountMax` have come, or the reader of stdout has closed it. */
async function print(following: Following, eventCountMax: number, isJson: boolean, io: Io): Promise<void> {
  const events = eventsOf(following);
  for (let eventCount = 0; eventCount < eventCountMax; eventCount++) {
    const next = await events.next();
    if (next.done) {
      io.stderr.write(`the callback has ended: ${next.value}\n`);
      return;
    }
    io.stdout.write(`${isJson ? oneLine(next.value) : eventLine(next.value)}\n`);
    if (!(await io.stdout.taken())) return;
  }
}

export const waitForEvents = command({
  notes: [
    'Exits with 0 when the callback has expired or was deleted, after --count events, or at Ctrl-C.',
    'While it waits, the server may be away for a minute, for example during a restart.',
  ],
  arguments: [ID],
  options: {
    url,
    token,
    json,
    after: { type: 'text', value: 'EVENT', help: 'only events after this one' },
    count: { type: 'integer', value: 'N', min: 1, max: 10, help: 'end after N events', default: 10 },
  },
  async run({ options, arguments: [id] }, io) {
    const readToken = tokenOf(options.token, io);
    const callback = callbackOf(id, options.url, io.env);
    await untilInterrupted(io, (signal) =>
      print({ callback, readToken, after: options.after, signal, io }, options.count, options.json, io),
    );
    return EXIT_OK;
  },
});
