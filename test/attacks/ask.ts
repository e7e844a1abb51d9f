/** Requests as an ordinary client makes them, from an address of choice: kept-alive connections, whole answers. */
import { Agent, request as httpRequest } from 'node:http';
import type { Target } from './attack.ts';

export interface Question {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The client's address: of the socket and, behind a proxy, in X-Forwarded-For. */
  readonly from: string;
  /** What X-Forwarded-For says instead of `from`. */
  readonly forwarded?: string;
  readonly timeoutMs?: number;
}

export interface Reply {
  /** 0: no whole answer arrived; `text` has the system's code, TIMEOUT or CUT. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly tookMs: number;
}

const TIMEOUT_MS = 10_000;
/** Below the shortest time after which a server of ours closes an idle connection, so that none is closed under a request. */
const IDLE_MS = 15_000;

/** By port and client's address. */
const agents = new Map<string, Agent>();

function agentFor(port: number, from: string): Agent {
  const key = `${port} ${from}`;
  let agent = agents.get(key);
  if (agent === undefined) {
    agent = new Agent({ keepAlive: true, timeout: IDLE_MS, maxSockets: 4096 });
    agents.set(key, agent);
  }
  return agent;
}

/** Ends all connections of this process to a target. */
export function hangUp({ port }: Target): void {
  for (const [key, agent] of agents) {
    if (!key.startsWith(`${port} `)) continue;
    agent.destroy();
    agents.delete(key);
  }
}

/** Never rejects. */
export function ask({ port, isProxied }: Target, question: Question): Promise<Reply> {
  const { method = 'GET', path, body, from, forwarded = from, timeoutMs = TIMEOUT_MS } = question;
  const startMs = performance.now();
  return new Promise((resolve) => {
    const fail = (text: string): void => resolve({ status: 0, headers: {}, text, tookMs: performance.now() - startMs });
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      method,
      path,
      localAddress: from,
      agent: agentFor(port, from),
      headers: {
        ...(isProxied ? { 'x-forwarded-for': forwarded } : {}),
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        ...question.headers,
      },
    });
    const timer = setTimeout(() => {
      fail('TIMEOUT');
      request.destroy();
    }, timeoutMs);
    request.on('error', (failure: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      fail(failure.code ?? 'CUT');
    });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('close', () => {
        clearTimeout(timer);
        if (!response.complete) return fail('CUT');
        const text = Buffer.concat(chunks).toString('utf8');
        const { statusCode: status = 0, headers } = response;
        return resolve({ status, headers, text, tookMs: performance.now() - startMs });
      });
    });
    request.end(body);
  });
}

/** Status and error code of an answer, as failures are counted: `503 OVERLOADED`, `lost TIMEOUT`. */
export function nameOf({ status, text }: Reply): string {
  if (status === 0) return `lost ${text}`;
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}
