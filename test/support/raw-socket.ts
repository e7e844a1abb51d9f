/**
 * Bytes on a socket, for everything that an HTTP library refuses to send: odd methods and targets, repeated headers,
 * pipelines, half requests. The received bytes are split into answers by the rules of RFC 9112 §6.3.
 */
import { connect } from 'node:net';
import type { Answer } from './answers.ts';
import { checkPublished, isOwnPort } from './published.ts';

export interface Exchange {
  /** Complete answers in order. */
  readonly answers: readonly Answer[];
  /** True when the server closed the connection, false when it was left open until the time ran out. */
  readonly closed: boolean;
  /** All bytes received, as Latin-1 text. */
  readonly received: string;
}

export interface ExchangeOptions {
  /** Stops listening once this many answers are complete. */
  readonly answerCount?: number;
  /** Longest wait for them. */
  readonly timeoutMs?: number;
  /** Methods of the requests sent, in order: an answer to HEAD has no body. Missing ones count as GET. */
  readonly methods?: readonly string[];
}

const CRLF = '\r\n';

/** A request as text; `headers` are lines as sent, so that a name can stand there twice. */
export function requestText(method: string, target: string, headers: readonly string[] = [], body = ''): string {
  return [`${method} ${target} HTTP/1.1`, ...headers, '', body].join(CRLF);
}

/** Body bytes of a chunked message from `at`, and where it ends; undefined while it is not all there. */
function chunkedBody(text: string, at: number): { body: string; end: number } | undefined {
  let body = '';
  for (let from = at; ; ) {
    const lineEnd = text.indexOf(CRLF, from);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(text.slice(from, lineEnd), 16);
    const end = lineEnd + 2 + size;
    if (text.length < end + 2) return undefined;
    if (size === 0) return { body, end: end + 2 };
    body += text.slice(lineEnd + 2, end);
    from = end + 2;
  }
}

/** Complete answers at the beginning of `text` (Latin-1). A body that ends with the connection is complete when `closed`. */
export function answersIn(text: string, methods: readonly string[], closed: boolean): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; at < text.length; ) {
    const headEnd = text.indexOf(CRLF + CRLF, at);
    if (headEnd < 0) break;
    const [statusLine = '', ...lines] = text.slice(at, headEnd).split(CRLF);
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]);
    const headers = new Headers();
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    const start = headEnd + 4;
    const length = headers.get('content-length');
    let body = '';
    if (methods[answers.length] === 'HEAD' || status === 204 || status === 304 || status < 200) at = start;
    else if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') {
      const chunked = chunkedBody(text, start);
      if (chunked === undefined) break;
      body = chunked.body;
      at = chunked.end;
    } else if (length !== null) {
      if (text.length < start + Number(length)) break;
      body = text.slice(start, start + Number(length));
      at = start + Number(length);
    } else if (closed) {
      body = text.slice(start);
      at = text.length;
    } else break;
    answers.push({ status, headers, text: Buffer.from(body, 'latin1').toString('utf8') });
  }
  return answers;
}

/** Method and target of each request in what was sent. */
const REQUEST_LINE = /(?:^|\r\n\r\n)([A-Z]+) (\S+) HTTP\/1\.[01]\r\n/g;

/**
 * Checks the answers against the published contract if it is certain which request each belongs to. An answer without a
 * request id is the runtime's own answer to bytes that were no request.
 */
function checkAnswers(port: number, sent: string, answers: readonly Answer[]): void {
  const requests = [...sent.matchAll(REQUEST_LINE)];
  if (!isOwnPort(String(port)) || requests.length !== answers.length) return;
  // A body may look like a request, so requests with bodies are ambiguous.
  if (requests.length > 1 && /\r\n(?:content-length|transfer-encoding):/i.test(sent)) return;
  for (const [index, { status, headers, text }] of answers.entries()) {
    const [, method = '', target = ''] = requests[index]!;
    const path = target.replace(/^https?:\/\/[^/]*/, '').replace(/[?#].*$/, '');
    // Runtimes fold dot segments and backslashes before we see them.
    const isFolded = /\\|(?:^|\/)(?:\.|%2e)+(?:\/|$)/i.test(path);
    if (headers.get('x-request-id') === null || isFolded) continue;
    checkPublished({ method, path, status, headers, bytes: Buffer.from(text) });
  }
}

/** Sends `bytes` (text goes as Latin-1) and reads until the answers are complete, the server closes, or time is up. */
export function exchange(port: number, bytes: string | Uint8Array, options: ExchangeOptions = {}): Promise<Exchange> {
  const { answerCount = 1, timeoutMs = 5000, methods = [] } = options;
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1');
    const finish = (closed: boolean): void => {
      clearTimeout(timer);
      socket.removeAllListeners().on('error', () => {});
      socket.destroy();
      const answers = answersIn(received, methods, closed);
      checkAnswers(port, typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('latin1'), answers);
      resolve({ answers, closed, received });
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    socket.on('connect', () => socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes));
    socket.on('data', (data) => {
      received += data.toString('latin1');
      if (answersIn(received, methods, false).length >= answerCount) finish(false);
    });
    socket.on('error', () => finish(true));
    socket.on('close', () => finish(true));
  });
}

/** One GET and its answer. */
export async function rawGet(port: number, target: string, headers: readonly string[] = ['Host: x']): Promise<Answer> {
  const { answers, received } = await exchange(port, requestText('GET', target, [...headers, 'Connection: close']));
  const [answer] = answers;
  if (answer === undefined) throw new Error(`no answer to GET ${target}: ${JSON.stringify(received.slice(0, 200))}`);
  return answer;
}
