/** A stand-in of a jobs service that answers as a test says: bodies, statuses, pauses, cut connections. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Script = (request: IncomingMessage, response: ServerResponse) => void;

export interface ScriptedService {
  readonly url: string;
  /** Paths and queries of the questions so far; the gate's own looks (`?limit=1` of search) are not among them. */
  readonly questions: readonly string[];
  /** What it does from now on. */
  answerBy(script: Script): void;
  close(): Promise<void>;
}

export const LOOK = '/internal/v1/jobs/search?limit=1';

export const sending =
  (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Script =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };

/** Closes the connection without a word. */
export const hangingUp: Script = (request) => request.socket.destroy();
/** Never answers. */
export const silent: Script = () => {};

/** @param token that questions must carry */
export async function scriptedService(script: Script, token: string): Promise<ScriptedService> {
  let current = script;
  const questions: string[] = [];
  const server: Server = createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    if (request.url !== LOOK) questions.push(request.url ?? '');
    current(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    questions,
    answerBy: (next) => {
      current = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
