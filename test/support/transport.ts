/**
 * How a test's request reaches a server: through the handler in this process, or over a socket. A case is written once
 * against `Transport` and runs either way.
 */
import { faultOf } from './published.ts';

export interface Transport {
  /** Public address, without a trailing slash. */
  readonly url: string;
  /** As the global `fetch`. @param target a path, or a whole URL of this server */
  fetch(target: string, init?: RequestInit): Promise<Response>;
}

/** The second argument of a handler: the peer that a listener would have seen. */
export interface Peer {
  readonly address: string;
}

export interface Handler {
  fetch(request: Request, peer: Peer): Response | Promise<Response>;
}

const addressOf = (url: string, target: string): string => (target.startsWith('/') ? url + target : target);

/** Redirects are answers like any other. */
export const overSocket = (url: string): Transport => ({
  url,
  fetch: (target, init) => fetch(addressOf(url, target), { redirect: 'manual', ...init }),
});

/** Headers that a client and a listener add between them; a `Request` alone lacks them. */
function wireHeaders(url: string, init: RequestInit): Headers {
  const headers = new Headers(init.headers);
  const { body } = init;
  const bytes =
    typeof body === 'string' ? Buffer.byteLength(body) : body instanceof Uint8Array ? body.length : undefined;
  if (!headers.has('host')) headers.set('host', new URL(url).host);
  if (!headers.has('user-agent')) headers.set('user-agent', 'test');
  if (bytes !== undefined) headers.set('content-length', String(bytes));
  return headers;
}

/** Behaves like a client's own abort: no answer comes and the promise rejects. */
function untilAborted(answer: Promise<Response>, signal: AbortSignal | null | undefined): Promise<Response> {
  if (signal === null || signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    answer.then(resolve, reject);
  });
}

/** Checks each answer against the published contract before the test sees it. */
export function inProcess(handler: Handler, url: string, address = '127.0.0.1'): Transport {
  const answered = async (request: Request): Promise<Response> => {
    const answer = await handler.fetch(request, { address });
    // A listener sends no body to HEAD.
    const response = request.method === 'HEAD' ? new Response(null, answer) : answer;
    const { status, headers } = response;
    const bytes = new Uint8Array(await response.clone().arrayBuffer());
    const fault = faultOf({
      method: request.method,
      path: new URL(request.url).pathname,
      status,
      headers,
      bytes,
    });
    if (fault !== undefined) throw new Error(`not as the contract publishes it:\n${fault}`);
    return response;
  };
  return {
    url,
    fetch: (target, init = {}) =>
      untilAborted(
        answered(new Request(addressOf(url, target), { ...init, headers: wireHeaders(url, init) })),
        init.signal,
      ),
  };
}
