/**
 * A server that stands for every platform at once (`BOARD_ENDPOINTS`) and for the companies' own pages: the boards of a list with
 * the real files where they are here, 404 for every other board.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { BOARD_SHAPES, type BoardShape, parseBoardName } from '../../../src/ingest/boards/board.ts';
import { type BoardOrigins, parseBoardOrigins } from '../../../src/ingest/boards/origins.ts';
import { realDataMissing, realFile } from '../../ingest/real-data.ts';

const REAL_FILES: Readonly<Record<string, string>> = {
  'greenhouse:anthropic': 'greenhouse-anthropic.json',
  'lever:palantir': 'lever-palantir.json',
  'ashby:notion': 'ashby-notion.json.gz',
  'smartrecruiters:westerndigital': 'smartrecruiters-westerndigital.json',
  'workable:zaelab': 'workable-zaelab.json',
  'recruitee:aikido': 'recruitee-aikido.json',
  'teamtailor:career': 'teamtailor-teamtailor.json',
  'workday:nvidia/nvidiaexternalcareersite': 'workday-cxs-nvidia.json',
};

const MADE_UP: Readonly<Record<Exclude<BoardShape, 'jsonld'>, unknown>> = {
  greenhouse: {
    jobs: [{ id: 1, title: 'Cook', absolute_url: 'https://x.example/1', updated_at: '2026-11-01' }],
    meta: { total: 1 },
  },
  lever: [{ id: 'a', text: 'Cook', hostedUrl: 'https://jobs.lever.co/x/a', categories: {} }],
  ashby: {
    apiVersion: '1',
    jobs: [{ id: 'a', title: 'Cook', jobUrl: 'https://jobs.ashbyhq.com/x/a', isListed: true }],
  },
  smartrecruiters: {
    offset: 0,
    limit: 100,
    totalFound: 1,
    content: [{ id: '1', name: 'Cook', company: { identifier: 'x' } }],
  },
  workable: { name: 'X', jobs: [{ shortcode: 'A', title: 'Cook', url: 'https://apply.workable.com/x/j/A/' }] },
  recruitee: { offers: [{ id: 1, title: 'Cook', careers_url: 'https://x.recruitee.com/o/cook' }] },
  teamtailor: {
    version: 'https://jsonfeed.org/version/1.1',
    title: 'X',
    items: [{ id: '1', title: 'Cook', url: 'https://x/1', _jobposting: {} }],
  },
  workday: {
    total: 1,
    jobPostings: [{ title: 'Cook', externalPath: '/job/x/Cook_R1', bulletFields: ['R1'] }],
    facets: [],
  },
};

function answerOf(name: string, shape: BoardShape): string {
  const file = REAL_FILES[name];
  if (file === undefined || realDataMissing) return JSON.stringify(MADE_UP[shape as keyof typeof MADE_UP]);
  const bytes = readFileSync(realFile(file));
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** The board that a request asks for, in lower case; undefined: none. */
function boardAsked(path: string): string | undefined {
  const decoded = decodeURIComponent(path.replace(/\?.*$/, '')).toLowerCase();
  const match =
    /^\/v1\/(boards)\/([^/]+)\/jobs$/.exec(decoded) ??
    /^\/v0\/(postings)\/([^/]+)$/.exec(decoded) ??
    /^\/posting-api\/(job-board)\/([^/]+)$/.exec(decoded) ??
    /^\/v1\/(companies)\/([^/]+)\/postings$/.exec(decoded) ??
    /^\/api\/v1\/widget\/(accounts)\/([^/]+)$/.exec(decoded) ??
    /^\/([^/]+)\/api\/offers\/()$/.exec(decoded) ??
    /^\/([^/]+)\/jobs\.json()$/.exec(decoded) ??
    /^\/([^/]+)\/wday\/cxs\/([^/]+\/[^/]+)\/jobs$/.exec(decoded);
  if (match === null) return undefined;
  const [, kind = '', token = ''] = match;
  const shapes = {
    boards: 'greenhouse',
    postings: 'lever',
    'job-board': 'ashby',
    companies: 'smartrecruiters',
    accounts: 'workable',
  };
  const shape = shapes[kind as keyof typeof shapes];
  if (shape !== undefined) return `${shape}:${token}`;
  if (decoded.includes('/wday/')) return `workday:${token}`;
  if (decoded.endsWith('.json')) return `teamtailor:${kind.endsWith('.teamtailor.com') ? kind.split('.')[0] : kind}`;
  return `recruitee:${kind.endsWith('.recruitee.com') ? kind.split('.')[0] : kind}`;
}

/** A page, or the address that it redirects to. */
export type SitePage = { readonly html: string } | { readonly to: string };

export interface BoardSite {
  readonly origins: BoardOrigins;
  /** As BOARD_ENDPOINTS. */
  readonly endpoints: string;
  /** As TARGET_ALLOW. */
  readonly target: string;
  /** Boards of the site may come and go. */
  readonly boards: Set<string>;
  /** Paths with their queries, in the order in which they were asked for. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/**
 * @param names `shape:token` of the boards that exist
 * @param pages `host/path`, without a slash at its end -> the page
 */
export async function openBoardSite(names: Iterable<string>, pages: ReadonlyMap<string, SitePage>): Promise<BoardSite> {
  const boards = new Set([...names].map((name) => name.toLowerCase()));
  const asked: string[] = [];
  let origin = '';
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '/';
    asked.push(path);
    const name = boardAsked(path);
    if (name !== undefined && boards.has(name)) {
      const body = answerOf(name, parseBoardName(name)!.shape);
      return response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    }
    const page = pages.get(
      path
        .slice(1)
        .replace(/[?#].*$/, '')
        .replace(/\/+$/, ''),
    );
    if (page === undefined) return response.writeHead(404).end('not found');
    if ('html' in page) return response.writeHead(200, { 'content-type': 'text/html' }).end(page.html);
    return response.writeHead(302, { location: `${origin}/${page.to.replace(/^https?:\/\//, '')}` }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  const endpoints = BOARD_SHAPES.map((shape) => `${shape}=${origin}`).join(',');
  const parsed = parseBoardOrigins(endpoints);
  if (!parsed.ok) throw new Error(parsed.reason);
  return {
    origins: parsed.origins,
    endpoints,
    target: `127.0.0.1:${port}`,
    boards,
    asked,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
