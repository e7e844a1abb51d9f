/** `callback wait`: prints each event of a callback when it arrives, until the callback ends. */
import { command, EXIT_OK } from '../command.ts';
import type { Io } from '../io.ts';
import { baseOf } from '../paying-client.ts';
import { errorOf, exchange, ID, json, refused, token, tokenOf, url } from './callback-client.ts';
import { eventLine, oneLine } from './event-line.ts';
import { memberOf } from './json-parts.ts';

/** Error codes with which a wait ends normally. A rejected `--after` has another code. */
const END_CODES: ReadonlySet<string> = new Set(['CALLBACK_EXPIRED', 'CALLBACK_NOT_FOUND']);
/** Pause after a 429. */
const RATE_LIMIT_PAUSE_MS = 1000;

interface Following {
  readonly base: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly after: string | undefined;
  readonly eventCountMax: number;
  readonly isJson: boolean;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Prints events until the callback ends, `eventCountMax` have come, or the reader of stdout has gone away. */
async function follow({ base, id, headers, after, eventCountMax, isJson, signal }: Following, io: Io): Promise<void> {
  const own = `/v1/callbacks/${encodeURIComponent(id)}`;
  // An id that the server does not know now is an error; one that it forgets later has ended.
  const listed = await exchange(`${base}${own}/events`, { headers, signal });
  if (listed.status !== 200 && listed.status !== 410) throw refused(listed);
  let path = `${own}/wait`;
  if (after !== undefined) path += `?after=${encodeURIComponent(after)}`;
  for (let eventCount = 0; eventCount < eventCountMax; ) {
    const answer = await exchange(base + path, { headers, signal });
    if (answer.status === 410 || answer.status === 404) {
      const { code } = errorOf(answer);
      if (!END_CODES.has(code)) throw refused(answer);
      io.stderr.write(`the callback has ended: ${code}\n`);
      return;
    }
    if (answer.status === 429) {
      await new Promise((resolve) => setTimeout(resolve, RATE_LIMIT_PAUSE_MS));
      continue;
    }
    if (answer.status !== 200) throw refused(answer);
    const waited = JSON.parse(answer.text) as { received: boolean; next_wait_url: string };
    if (!waited.received) continue;
    const event = memberOf(answer.text, 'event') ?? '';
    io.stdout.write(`${isJson ? oneLine(event) : eventLine(event)}\n`);
    if (!(await io.stdout.taken())) return;
    path = waited.next_wait_url;
    eventCount++;
  }
}

export const waitForEvents = command({
  name: 'wait',
  summary: 'Prints the events of a callback as they arrive, until it ends',
  notes: ['Exits with 0 when the callback has expired or was deleted, after --count events, or at Ctrl-C.'],
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
    const base = baseOf(options.url);
    const interrupt = new AbortController();
    const stopListening = io.onSignal('SIGINT', () => interrupt.abort());
    try {
      await follow(
        {
          base,
          id: id as string,
          headers: { authorization: `Bearer ${readToken}` },
          after: options.after,
          eventCountMax: options.count,
          isJson: options.json,
          signal: interrupt.signal,
        },
        io,
      );
    } catch (failure) {
      if (!interrupt.signal.aborted) throw failure;
    } finally {
      stopListening();
    }
    return EXIT_OK;
  },
});
