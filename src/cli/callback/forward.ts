/** Forwards an event of a callback to another server as it came: method, bytes and retained headers. */
import { findFetchCode } from '../../adapters/outbound/connection-failure.ts';
import { messageOf } from '../../base/failure.ts';
import { exchange, refused } from '../exchange.ts';
import type { EventAnswer } from './event-line.ts';

/** A local server that takes longer has stopped at a breakpoint, or hangs. */
const FORWARD_TIMEOUT_MS = 30_000;

export type Forwarded =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  /** `reason` is the system's code, such as ECONNREFUSED, or a message. */
  | { readonly kind: 'unanswered'; readonly reason: string };

/** Access to a callback's own routes. */
export interface Reader {
  /** Address of the callback's own routes. */
  readonly own: string;
  readonly readToken: string;
  readonly signal: AbortSignal;
}

/**
 * Reads the event's exact bytes and sends them to `target`. A redirect is an answer, and not followed.
 * @throws CommandError when the callback's server does not give the bytes
 */
export async function forwardEvent(
  event: EventAnswer,
  target: string,
  { own, readToken, signal }: Reader,
): Promise<Forwarded> {
  const raw = await exchange(`${own}/events/${encodeURIComponent(event.id)}/raw`, {
    headers: { authorization: `Bearer ${readToken}` },
    signal,
  });
  if (raw.status !== 200) throw refused(raw);
  const headers = new Headers(event.headers);
  // The callback shows text/plain if the sender stated no type; the forwarded request states none either.
  const contentType = raw.header('x-original-content-type');
  if (contentType === null) headers.delete('content-type');
  else headers.set('content-type', contentType);
  try {
    const response = await fetch(target, {
      method: event.method,
      headers,
      body: raw.bytes,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(FORWARD_TIMEOUT_MS)]),
    });
    return { kind: 'answered', status: response.status, body: await response.text() };
  } catch (failure) {
    if (signal.aborted) throw failure;
    return { kind: 'unanswered', reason: findFetchCode(failure) ?? messageOf(failure) };
  }
}
