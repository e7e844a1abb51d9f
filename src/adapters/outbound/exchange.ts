/**
 * One request over node:http or node:https to judged addresses. It uses a separate agent, because the default one
 * reuses sockets without calling `lookup` and may take a proxy from the environment. `lookup` returns exactly the
 * judged addresses, so a second answer of the resolver changes nothing; the certificate is still checked for the host's
 * name. Bun's `node:http` does all of this (test/adapters/outbound/client.process.test.ts), its `fetch` does not.
 */
import type http from 'node:http';
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import { errorCodeOf } from '../../base/failure.ts';
import { bareHostOf } from '../../base/ip-address.ts';
import type { Timers } from '../../base/timers.ts';
import { VERSION } from '../../base/version.ts';
import { ACCEPTED_CODINGS, type Coding, codingsOf } from '../../outbound/codings.ts';
import { ADDRESSES_TRIED_MAX, CONNECT_MS, HEAD_BYTES_MAX } from '../../outbound/limits.ts';
import type { OutboundAnswer, OutboundFailure, OutboundRequest } from '../../outbound/outbound.ts';
import { nodeHttp, nodeHttps } from '../process/late-modules.ts';
import { isNotSent } from './connection-failure.ts';
import { BodyTooLargeError, readBody } from './unpack.ts';

/** Without its duration, which the client measures. */
export type ExchangeResult = Omit<OutboundAnswer, 'durationMs'> | Omit<OutboundFailure, 'durationMs'>;

export interface ExchangePorts {
  readonly timers: Timers;
  /** The head of the answer has arrived. */
  readonly onAnswer: () => void;
  /** Ends the request: the caller's signal or the deadline. */
  readonly signal: AbortSignal;
  /** Certificates of the authorities, PEM, in place of the system's. */
  readonly ca?: string | undefined;
  readonly userAgent: string;
}

/** Sends one request to judged addresses, tried in order, and resolves with the result. Never rejects. */
export type Exchange = (
  request: OutboundRequest,
  addresses: readonly string[],
  ports: ExchangePorts,
) => Promise<ExchangeResult>;

/** Time for an address before the next one of the same name is tried, milliseconds (RFC 8305 §5 says 250 to 2000). */
const ATTEMPT_MS = 1000;

/** The HTTP parser's code for a head longer than its bound. */
const HEAD_TOO_LONG = { code: 'HPE_HEADER_OVERFLOW' };

/** RFC 9110 §15: the first digit is a class, from 1 on. */
const STATUS_MIN = 100;

/** `HTTP/1.1 100 `, and the line ends of the status and of the head. */
const INTERIM_LINE_BYTES = 17;

/** Made at the first request. */
let plainAgent: Agent | undefined;
let tlsAgent: Agent | undefined;

/** The request function and the agent of a scheme. */
function clientOf(isTls: boolean): { readonly send: typeof http.request; readonly agent: Agent } {
  const options = { keepAlive: false, autoSelectFamilyAttemptTimeout: ATTEMPT_MS };
  if (!isTls) {
    const { Agent, request } = nodeHttp();
    plainAgent ??= new Agent(options);
    return { send: request, agent: plainAgent };
  }
  const { Agent, request } = nodeHttps();
  tlsAgent ??= new Agent({ ...options, maxCachedSessions: 0 });
  return { send: request, agent: tlsAgent };
}

/** Headers that are set here or concern one connection (RFC 9110 §7.6.1). */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/** @param contact address or URL of the operator (CONTACT) */
export const userAgentOf = (contact: string | null): string =>
  `paygrade/${VERSION}${contact === null ? '' : ` (+${contact})`}`;

/** Headers of the request, as both ways out send them. */
export function sentHeadersOf({ headers, body, method }: OutboundRequest, userAgent: string): Record<string, string[]> {
  const sent = new Map<string, [string, string[]]>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (NOT_PASSED_ON.has(key) || key.startsWith('proxy-')) continue;
    const values = sent.get(key);
    if (values === undefined) sent.set(key, [name, [value]]);
    else values[1].push(value);
  }
  const hasBody = body !== null || (method !== 'GET' && method !== 'HEAD');
  return {
    ...Object.fromEntries(sent.values()),
    'User-Agent': [userAgent],
    'Accept-Encoding': [ACCEPTED_CODINGS],
    ...(hasBody ? { 'Content-Length': [String(body?.length ?? 0)] } : {}),
  };
}

const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4);

/**
 * Answers in a later turn, as a resolver does: an address without a route fails at once, and in the turn of the request Node would
 * report that before anything listens to the TLS socket, which ends the process.
 */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.slice(0, ADDRESSES_TRIED_MAX).map((address) => ({ address, family: familyOf(address) }));
  return (_, { all: wantsAll }, callback) => {
    setImmediate(() => {
      const [first] = all;
      if (wantsAll === true || first === undefined) callback(null, all);
      else callback(null, first.address, first.family);
    });
  };
}

/** How far an exchange came before its answer, where the error alone does not tell. */
interface Progress {
  isConnected: boolean;
  isSecured: boolean;
  isTooSlow: boolean;
}

/** Codes of a handshake that failed and of verdicts on a certificate (Node's `tls` documentation, OpenSSL). */
const isTlsCode = (code: string): boolean =>
  /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH)/.test(
    code,
  ) || code === 'EPROTO';

/** Codes of the decoders of zlib and Brotli for bytes in no such coding, or whose end is missing. */
const isCodingCode = (code: string): boolean => /^(?:Z_|ERR__ERROR_FORMAT_)/.test(code);

function failureOf(failure: unknown, { isConnected, isSecured, isTooSlow }: Progress, isTls: boolean): ExchangeResult {
  if (isTooSlow) return { kind: 'timeout', detail: `no connection in ${CONNECT_MS} ms` };
  if (failure instanceof BodyTooLargeError) return { kind: 'too-large', detail: failure.message };
  const code = errorCodeOf(failure) ?? 'no code';
  if (code === HEAD_TOO_LONG.code) return { kind: 'too-large', detail: `a head over ${HEAD_BYTES_MAX} bytes` };
  if (isTls && !isSecured && (isTlsCode(code) || isConnected)) return { kind: 'tls-error', detail: `TLS (${code})` };
  if (code === 'ETIMEDOUT') return { kind: 'timeout', detail: 'no connection (ETIMEDOUT)' };
  if (isCodingCode(code)) return { kind: 'unreachable', detail: `a body that does not unpack (${code})` };
  const what = isNotSent(failure) ? 'no connection' : 'connection lost';
  return { kind: 'unreachable', detail: `${what} (${code})` };
}

/** Pairs of `rawHeaders`, names in lower case; without the coding headers if the codings are known. */
function headersOf({ rawHeaders }: IncomingMessage, isCoded: boolean): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (!isCoded || (name !== 'content-encoding' && name !== 'content-length')) {
      pairs.push([name, rawHeaders[i + 1] as string]);
    }
  }
  return pairs;
}

/** The length that the answer states; undefined if it states none. */
function lengthOf({ headers }: IncomingMessage): number | undefined {
  const said = headers['content-length'];
  return said !== undefined && /^\d{1,15}$/.test(said) ? Number(said) : undefined;
}

/** Whether only the end of the connection ends the body (RFC 9112 §6.3). */
const endsWithConnection = ({ headers, statusCode }: IncomingMessage): boolean =>
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  statusCode !== 204 &&
  statusCode !== 304;

/**
 * The codings of a body; undefined when one of them is unknown, or when a transfer coding remains: the runtimes remove
 * `chunked` and pass on any coding under it (RFC 9112 §7) as if it were the body. Old servers say `identity` (RFC 2616 §3.6).
 */
function knownCodingsOf({ headers }: IncomingMessage): readonly Coding[] | undefined {
  const transfer = headers['transfer-encoding'];
  if (transfer !== undefined && !/^(chunked|identity)$/i.test(transfer)) return undefined;
  return codingsOf(headers['content-encoding'] ?? '');
}

async function answerOf(response: IncomingMessage, request: OutboundRequest): Promise<ExchangeResult> {
  const status = response.statusCode as number; // an answer always has one
  // The parsers take any three digits.
  if (status < STATUS_MIN) throw new Error('no status of HTTP');
  if (request.endsAtHead !== undefined) {
    const head = { status, headers: headersOf(response, false) };
    if (request.endsAtHead(head)) return { kind: 'answer', ...head, body: new Uint8Array(0), isTruncated: false };
  }
  const known = knownCodingsOf(response);
  const codings = known ?? [];
  const { bytes, isTruncated } = await readBody(response, codings, request, lengthOf(response));
  const headers = headersOf(response, codings.length > 0);
  return {
    kind: 'answer',
    status,
    headers,
    body: bytes,
    isTruncated,
    ...(request.unpackedBytesMax === null && { codings }),
    ...(known === undefined && { isUnreadable: true }),
  };
}

/**
 * Ends an exchange whose interim answers (1xx) are together longer than a head may be. The runtimes skip any number of
 * them, and an endless stream blocked Bun's event loop for seconds at a time.
 */
function boundInterim(sent: ClientRequest, end: (failure: Error) => void): void {
  let headBytes = 0;
  sent.on('information', ({ statusMessage, rawHeaders }) => {
    headBytes += INTERIM_LINE_BYTES + statusMessage.length;
    for (const part of rawHeaders) headBytes += part.length + 2;
    if (headBytes > HEAD_BYTES_MAX) end(Object.assign(new Error('too many interim answers'), HEAD_TOO_LONG));
  });
}

/** Notes how far the connection came, and ends it when it takes too long. */
function watchConnection(sent: ClientRequest, progress: Progress, isTls: boolean, timers: Timers): () => void {
  const stop = timers.after(CONNECT_MS, () => {
    progress.isTooSlow = true;
    sent.destroy(new Error('connecting took too long'));
  });
  sent.once('socket', (socket: Socket) => {
    socket.once('connect', () => {
      progress.isConnected = true;
      if (!isTls) stop();
    });
    socket.once('secureConnect', () => {
      progress.isSecured = true;
      stop();
    });
  });
  return stop;
}

/**
 * Never rejects. An exchange that `ports.signal` ended is `aborted`; the caller knows why the signal fired.
 * @param addresses judged, at least one
 */
export async function exchange(
  request: OutboundRequest,
  addresses: readonly string[],
  { timers, onAnswer, signal, ca, userAgent }: ExchangePorts,
): Promise<ExchangeResult> {
  const { url } = request.target;
  const isTls = url.protocol === 'https:';
  const progress: Progress = { isConnected: false, isSecured: false, isTooSlow: false };
  let sent: ClientRequest | undefined;
  let broken: unknown;
  let stopWatching = (): void => {};
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const { send, agent } = clientOf(isTls);
      sent = send({
        agent,
        method: request.method,
        hostname: bareHostOf(url.hostname),
        port: url.port === '' ? undefined : Number(url.port),
        path: `${url.pathname}${url.search}`,
        headers: sentHeadersOf(request, userAgent),
        lookup: pinned(addresses),
        maxHeaderSize: HEAD_BYTES_MAX,
        signal,
        ...(isTls ? { rejectUnauthorized: true, ca } : {}),
      });
      // No limit on header lines: the bytes of a head bound them, and the runtimes would silently drop those beyond a limit.
      sent.maxHeadersCount = 0;
      // The parser may already have read the answer after them: destroying the request alone would be too late.
      boundInterim(sent, (failure) => {
        reject(failure);
        sent?.destroy();
      });
      stopWatching = watchConnection(sent, progress, isTls, timers);
      sent.once('response', resolve);
      // The listener stays, because an error after the answer must not end the process.
      sent.on('error', (failure) => {
        broken = failure;
        reject(failure);
      });
      sent.once('close', () => reject(new Error('closed without an answer')));
      sent.end(request.body ?? undefined);
    });
    onAnswer();
    const result = await answerOf(response, request);
    // Cut by the signal or a reset, such a body ends like a whole one; only the request's error tells them apart.
    const isWhole = broken === undefined || !endsWithConnection(response);
    if (result.kind === 'answer' && !result.isTruncated && !isWhole) throw broken;
    return result;
  } catch (failure) {
    if (signal.aborted) return { kind: 'aborted', detail: 'the request was ended' };
    return failureOf(failure, progress, isTls);
  } finally {
    stopWatching();
    sent?.destroy();
  }
}
