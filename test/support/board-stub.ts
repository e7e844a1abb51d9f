/**
 * A stub of every board API at one address: it serves documents like each API, in pages if the API has pages, with
 * ETags and 304, compressed if the request accepts that; a test can replace the next answers of a path.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { BOARD_SHAPES, type Board } from '../../src/ingest/boards/board.ts';

export interface SeenRequest {
  /** Monotonic, milliseconds. */
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly status: number;
}

/** Handles a request in place of an answer. @returns false to answer it after all */
export type Fault = (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown;

interface Listing {
  readonly board: Board;
  document: unknown;
  /** Rows of a page, where the API has pages. */
  readonly pageRows: number;
  hasEtags: boolean;
}

/** The name of the list in a document of a shape that has pages. */
const LIST: Readonly<Record<string, string>> = {
  smartrecruiters: 'content',
  workday: 'jobPostings',
  teamtailor: 'items',
};
const TOTAL: Readonly<Record<string, string>> = { smartrecruiters: 'totalFound', workday: 'total' };

function pathOf({ shape, token, address }: Board): string {
  const { host, pathname } = new URL(address);
  switch (shape) {
    case 'greenhouse':
      return `/v1/boards/${token}/jobs`;
    case 'lever':
      return `/v0/postings/${token}`;
    case 'ashby':
      return `/posting-api/job-board/${token}`;
    case 'smartrecruiters':
      return `/v1/companies/${token}/postings`;
    case 'workable':
      return `/api/v1/widget/accounts/${token}`;
    case 'recruitee':
      return `/${host}/api/offers/`;
    case 'teamtailor':
      return `/${host}/jobs.json`;
    case 'workday':
      return `/${host}/wday/cxs/${token}/jobs`;
    case 'jsonld':
      return `/${host}${pathname}`;
    default:
      return shape satisfies never;
  }
}

/** As servers compress what they make; the library's own choice takes fifty times as long. */
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

export class BoardStub {
  readonly seen: SeenRequest[] = [];
  readonly #server: Server;
  readonly #listings = new Map<string, Listing>();
  readonly #faults = new Map<string, Fault[]>();
  readonly texts = new Map<string, string>();
  /** Answers to the bodies posted to a path: a document, or a fault in its place. */
  readonly searches = new Map<string, (sent: string) => unknown>();

  private constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response));
  }

  static async open(): Promise<BoardStub> {
    const stub = new BoardStub();
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    return stub;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Variables for the environment of `watch`. */
  get env(): Record<string, string> {
    const origins = BOARD_SHAPES.map((shape) => `${shape}=http://${this.host}`).join(',');
    return { BOARD_ENDPOINTS: origins, TARGET_ALLOW: this.host, CONTACT: 'https://watch.example/' };
  }

  /** @param document a string is a page of HTML */
  list(board: Board, document: unknown, { pageRows = 4, hasEtags = true } = {}): void {
    this.#listings.set(pathOf(board), { board, document, pageRows, hasEtags });
  }

  /** Replaces the board's next answers, one fault each. */
  fail(board: Board, ...faults: Fault[]): void {
    this.#faults.set(pathOf(board), faults);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { pathname, searchParams } = new URL(request.url!, 'http://stub');
    const path = decodeURIComponent(pathname);
    response.once('close', () => {
      const { method = '', headers } = request;
      this.seen.push({ atMs: performance.now(), method, path: request.url!, headers, status: response.statusCode });
    });
    const text = this.texts.get(path);
    if (text !== undefined) return void response.end(text);
    const search = this.searches.get(path);
    if (search !== undefined) {
      const found = search(Buffer.concat(parts).toString());
      const text = Buffer.from(JSON.stringify(found) ?? '{}');
      return void (typeof found === 'function' ? (found as Fault)(request, response, text) : response.end(text));
    }
    const listing = this.#listings.get(path);
    if (listing === undefined) return void response.writeHead(404).end('{"error":"no such board"}');
    const body = this.#bodyOf(listing, searchParams, Buffer.concat(parts).toString());
    const fault = this.#faults.get(path)?.shift();
    if (fault !== undefined && fault(request, response, body) !== false) return;
    this.#answer(request, response, listing, body);
  }

  #bodyOf({ board, document, pageRows }: Listing, query: URLSearchParams, sent: string): Buffer {
    if (typeof document === 'string') return Buffer.from(document);
    const key = LIST[board.shape];
    if (key === undefined) return Buffer.from(JSON.stringify(document));
    const rows = (document as Record<string, unknown[]>)[key]!;
    const asked =
      board.shape === 'workday'
        ? (JSON.parse(sent) as { offset: number }).offset
        : (query.get('offset') ?? query.get('page'));
    const offset = Number(asked ?? 0);
    const page: Record<string, unknown> = { ...(document as object), [key]: rows.slice(offset, offset + pageRows) };
    const total = TOTAL[board.shape];
    if (total !== undefined) page[total] = rows.length;
    else if (offset + pageRows < rows.length) {
      page.next_url = `https://${new URL(board.address).host}/jobs.json?page=${offset + pageRows}`;
    }
    return Buffer.from(JSON.stringify(page));
  }

  #answer(request: IncomingMessage, response: ServerResponse, { hasEtags, document }: Listing, body: Buffer): void {
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
    const accepted = String(request.headers['accept-encoding']);
    response.setHeader('content-type', typeof document === 'string' ? 'text/html' : 'application/json');
    if (hasEtags) response.setHeader('etag', etag);
    if (hasEtags && request.headers['if-none-match'] === etag) return void response.writeHead(304).end();
    if (body.length % 2 === 0 && accepted.includes('br')) {
      return void response.setHeader('content-encoding', 'br').end(brotliCompressSync(body, QUICKLY));
    }
    if (accepted.includes('gzip')) return void response.setHeader('content-encoding', 'gzip').end(gzipSync(body));
    response.end(body);
  }
}
