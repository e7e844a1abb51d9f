/**
 * One outbound HTTP request with bounds: a deadline over connecting, headers and body, a maximum of body bytes, no
 * redirects and no content encodings. The outcome tells whether the request may have reached the server. It is an
 * ordinary `fetch`, so it runs on Node and Bun alike.
 */
import { readAtMost } from '../../base/bounded-stream.ts';
import type { Timers } from '../../base/timers.ts';
import { fetchCodeOf, isNotSent } from './connection-failure.ts';

/** `fetch`, as far as a bounded call uses it. */
export type CallFetch = (url: string, init: RequestInit) => Promise<Response>;

export interface CallRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Names in lower case. `accept-encoding` is set here. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly deadlineMs: number;
  /** Longest body of an answer. */
  readonly answerBytesMax: number;
  /** Ends the call early; the reason is a text. It is not aborted when the call begins. */
  readonly end?: AbortSignal;
}

export type CallOutcome =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Headers; readonly bytes: Uint8Array }
  | CallFailure;

export type CallFailure =
  /** Certain: no byte of the request was written. */
  | { readonly kind: 'not-sent'; readonly detail: string }
  /**
   * The request may have arrived; the answer is missing or unusable.
   * `isTransport`: the connection or the deadline failed; otherwise an answer came and broke a bound.
   */
  | { readonly kind: 'lost'; readonly detail: string; readonly isTransport: boolean };

const NO_BYTES = new Uint8Array(0);

/** Never rejects. What is left of a body is neither read nor kept: the abort ends its connection, on both runtimes. */
export async function boundedCall(
  { method, url, headers, body, deadlineMs, answerBytesMax, end }: CallRequest,
  send: CallFetch,
  timers: Timers,
): Promise<CallOutcome> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  const cancel = timers.after(deadlineMs, stop);
  end?.addEventListener('abort', stop);
  try {
    const response = await send(url, {
      method,
      body,
      redirect: 'manual',
      signal: abort.signal,
      headers: { ...headers, 'accept-encoding': 'identity' },
      decompress: false, // Bun's option to leave an encoded body alone; Node decodes only what is read
    } as RequestInit);
    const { status } = response;
    const encoding = response.headers.get('content-encoding');
    const isRedirect = status === 0 || (status >= 300 && status < 400);
    if (isRedirect || (encoding !== null && encoding.toLowerCase() !== 'identity')) {
      abort.abort();
      return { kind: 'lost', detail: isRedirect ? `redirect ${status}` : 'encoded answer', isTransport: false };
    }
    const bytes = response.body === null ? NO_BYTES : await readAtMost(response.body.getReader(), answerBytesMax);
    if (bytes === undefined) {
      abort.abort();
      return { kind: 'lost', detail: `answer over ${answerBytesMax} bytes`, isTransport: false };
    }
    return { kind: 'answer', status, headers: response.headers, bytes };
  } catch (failure) {
    if (abort.signal.aborted) {
      const detail = end?.aborted === true ? `no answer: ${end.reason}` : `no answer in ${deadlineMs} ms`;
      return { kind: 'lost', detail, isTransport: true };
    }
    if (isNotSent(failure)) return { kind: 'not-sent', detail: fetchCodeOf(failure) };
    return { kind: 'lost', detail: `connection lost (${fetchCodeOf(failure)})`, isTransport: true };
  } finally {
    cancel();
    end?.removeEventListener('abort', stop);
  }
}
