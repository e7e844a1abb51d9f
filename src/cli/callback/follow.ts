/** The events of a callback as they arrive, by its wait route. */
import { memberText } from '../../base/json-member.ts';
import { errorOf, exchange, objectFrom, patientExchange, pause, refused } from '../exchange.ts';
import type { Io } from '../io.ts';
import { stopSignal } from '../stop-signal.ts';
import type { NamedCallback } from './callback-client.ts';

/** Error codes with which a wait ends normally. A rejected `after` has another code. */
const END_CODES: ReadonlySet<string> = new Set(['CALLBACK_EXPIRED', 'CALLBACK_NOT_FOUND']);
/** Pause after a 429. */
const RATE_LIMIT_PAUSE_MS = 1000;

export interface Following {
  readonly callback: NamedCallback;
  readonly readToken: string;
  /** Id of the event after which to continue; undefined = from the first one. */
  readonly after: string | undefined;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  readonly io: Io;
}

/**
 * Yields the JSON text of each event, unchanged, and returns the code with which the callback ended.
 * @throws CommandError when the server refuses, does not answer the first request, or is away for a minute
 */
export async function* eventsOf({
  callback,
  readToken,
  after,
  signal,
  io,
}: Following): AsyncGenerator<string, string, void> {
  const { base, own } = callback;
  const headers = { authorization: `Bearer ${readToken}` };
  // An id unknown to the server now is an error; if it becomes unknown later, the callback has ended.
  const listed = await exchange(`${own}/events`, { headers, signal });
  if (listed.status !== 200 && listed.status !== 410) throw refused(listed);
  let target = `${own}/wait${after === undefined ? '' : `?after=${encodeURIComponent(after)}`}`;
  for (;;) {
    const answer = await patientExchange(target, { headers, signal }, io);
    if (answer.status === 410 || answer.status === 404) {
      const { code } = errorOf(answer);
      if (!END_CODES.has(code)) throw refused(answer);
      return code;
    }
    if (answer.status === 429) {
      await pause(RATE_LIMIT_PAUSE_MS, signal);
      continue;
    }
    if (answer.status !== 200) throw refused(answer);
    const waited = objectFrom<{ received: boolean; next_wait_url: string }>(answer, 'received');
    if (!waited.received) continue;
    yield memberText(answer.text, ['event']) ?? '';
    target = base + waited.next_wait_url;
  }
}

/** Runs `act` until it ends, or Ctrl-C aborts its signal; that is no failure. */
export async function untilInterrupted(io: Io, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { signal, restore } = stopSignal(io, { names: ['SIGINT'], ignoresLater: true });
  try {
    await act(signal);
  } catch (failure) {
    if (!signal.aborted) throw failure;
  } finally {
    restore();
  }
}
