/**
 * `SURFACES` and `DATA_URL` (siblings §1): what a server has answers under its addresses, what it lacks is unknown, and no
 * document and no page names it.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { MODULES } from '../../src/app/modules.ts';
import { ConfigError } from '../../src/config/config.ts';
import type { Operation } from '../../src/http/operation.ts';
import { OPERATIONS, OTHER_SURFACES } from '../support/declared.ts';
import { type OpenedApp, openedApp } from '../support/opened-app.ts';
import { bodyFor, RESOLVE_PATH } from '../support/resolve-client.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { answer, TargetsByHost } from '../support/targets-by-host.ts';
import { buyOver, wallet } from '../support/wallet.ts';

const BASE_URL = 'https://shop.example/api';
const ADMIN_TOKEN = 't'.repeat(32);
const PROGRAM = {};
const BROWSER = { accept: 'text/html' };

const opened: OpenedApp[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

async function open(variables: Readonly<Record<string, string>>) {
  const app = await openedApp({ BASE_URL, ADMIN_TOKEN, ...variables });
  opened.push(app);
  const ask = async (path: string, headers: Readonly<Record<string, string>> = PROGRAM, method = 'GET') =>
    app.app.fetch(new Request(`http://any.test${path}`, { method, headers }));
  return { ask, demoKey: app.app.demoKey };
}

const DOCUMENTS = [
  ['/openapi.json', PROGRAM],
  ['/llms.txt', PROGRAM],
  ['/.well-known/api-catalog', PROGRAM],
  ['/.well-known/x402', PROGRAM],
  ['/', BROWSER],
  ['/docs', BROWSER],
] as const;

describe('the configuration, which loads no module', () => {
  it('has every setting of every module', () => {
    const settings = MODULES.flatMap((module) => Object.values(module.settings));
    expect(settings.length).toBeGreaterThan(5);
    expect(settings.filter((setting) => !CONFIGURATION.settings.includes(setting))).toEqual([]);
  });
});

interface Product {
  readonly operations: readonly Operation[];
  /** Words by which a document would name it. */
  readonly words: RegExp;
  /** One of its addresses, with the method. */
  readonly paths: readonly (readonly [path: string, method?: string, headers?: Readonly<Record<string, string>>])[];
}

const PRODUCTS: Readonly<Record<'jobs' | 'callbacks' | 'data', Product>> = {
  jobs: {
    operations: OPERATIONS.filter(({ tag }) => tag === 'jobs'),
    words: /answers? about hiring|cohort|\.\/v1\/companies/i,
    paths: [['/v1/jobs/search'], ['/v1/jobs/detail?id=1'], ['/v1/companies?q=abc']],
  },
  callbacks: {
    operations: OPERATIONS.filter(({ tag }) => tag === 'callbacks'),
    words: /callback|webhook|\bhooks?\b|inbox/i,
    paths: [
      ['/v1/callbacks', 'POST'],
      ['/hooks/cb_1', 'POST'],
      ['/inbox', 'GET', BROWSER],
    ],
  },
  data: {
    operations: OTHER_SURFACES.flatMap(({ operations }) => operations.filter(({ tag }) => tag === 'data')),
    words: /\/data\b|data api|API key|svc_key|credits/i,
    paths: [['/data/health'], ['/data/openapi.json'], ['/data/v1/public/overview'], ['/data/v1/jobs']],
  },
};
const NAMES = Object.keys(PRODUCTS) as (keyof typeof PRODUCTS)[];

describe('a server with SURFACES', () => {
  it.each(['jobs', 'callbacks', 'data', 'jobs,data', 'callbacks,jobs', 'jobs,callbacks,data'])(
    '%s answers for these, and its documents name no other',
    async (chosen) => {
      const { ask } = await open({ SURFACES: chosen });
      const texts = await Promise.all(
        DOCUMENTS.map(async ([path, headers]) => {
          const answer = await ask(path, headers);
          expect([path, answer.status]).toEqual([path, 200]);
          return [path, await answer.text()] as const;
        }),
      );
      for (const name of NAMES) {
        const { operations, paths, words } = PRODUCTS[name];
        const isOn = chosen.split(',').includes(name);
        for (const [path, method, headers] of paths) {
          const { status } = await ask(path, headers, method);
          expect([path, status === 404]).toEqual([path, !isOn]);
        }
        for (const [path, text] of texts) {
          const summaries = operations.filter(({ summary }) => text.includes(summary)).map(({ summary }) => summary);
          if (path === '/llms.txt' && isOn) expect(summaries.length, name).toBe(operations.length);
          if (isOn) continue;
          expect([path, name, summaries, words.exec(text)?.[0]]).toEqual([path, name, [], undefined]);
        }
      }
    },
  );

  it('none has its health, readiness and metrics, and nothing else', async () => {
    const { ask } = await open({ SURFACES: 'none' });
    for (const path of ['/health', '/ready', '/metrics']) {
      expect([path, (await ask(path)).status]).toEqual([path, 200]);
    }
    const others: Product['paths'] = [
      ...DOCUMENTS.map(([path, headers]) => [path, 'GET', headers] as const),
      ...NAMES.flatMap((name) => PRODUCTS[name].paths),
      ['/sales', 'GET', BROWSER],
      ['/admin/v1/keys', 'GET', { authorization: `Bearer ${ADMIN_TOKEN}` }],
    ];
    for (const [path, method, headers] of others) {
      expect([path, (await ask(path, headers, method)).status]).toEqual([path, 404]);
    }
  });

  describe('that lost a product', () => {
    const RETRY_PATH = '/retry/v1/retries';
    const REQUESTS = [
      [RETRY_PATH, { request: { method: 'GET', url: 'https://a.example/retry' } }, 201],
      [RESOLVE_PATH, { url: 'https://a.example/resolve', max_wait_seconds: 0 }, 202],
    ] as const;

    /** A retry and a resolve are sold, then the server starts with `variables`. */
    async function restarted(variables: Readonly<Record<string, string>>) {
      const STATE_DIR = testFolder();
      const before = new TargetsByHost().target('a.example', () => answer(200, 'ok'));
      before.turnOf = () => new Promise(() => {});
      const seller = await openedApp({ STATE_DIR }, { outbound: before });
      for (const [path, body, status] of REQUESTS) {
        expect((await buyOver(seller, path, wallet(), bodyFor(body))).status).toBe(status);
      }
      await seller.close();
      const outbound = new TargetsByHost().target('a.example', () => answer(200, 'ok'));
      const app = await openedApp({ STATE_DIR, ...variables }, { outbound });
      opened.push(app);
      const ask = async (path: string, init?: RequestInit): Promise<Response> =>
        app.app.fetch(new Request(`http://any.test${path}`, init));
      for (const [path, body] of REQUESTS) expect((await ask(path, bodyFor(body))).status).toBe(404);
      return { seen: () => outbound.seen.map(({ url }) => url).sort(), metrics: await (await ask('/metrics')).text() };
    }

    it.each(['jobs', 'none'])('still ends what it sold of it before (siblings §6), with %s', async (SURFACES) => {
      const { seen, metrics } = await restarted({ SURFACES, BASE_URL: 'http://localhost:8402' });
      await expect.poll(seen).toEqual(['https://a.example/resolve', 'https://a.example/retry']);
      expect(metrics).toContain('paygrade_retries_due');
    });

    it('sends nothing where play money must not buy requests of strangers (siblings §1)', async () => {
      const { seen, metrics } = await restarted({ SURFACES: 'jobs', BASE_URL });
      expect(seen()).toEqual([]);
      expect(metrics).not.toContain('paygrade_retries_due');
    });
  });

  it.each(['jobs,other', 'jobs,none', 'jobs,jobs', 'Jobs', 'retries'])('%s does not start', (chosen) => {
    expect(() => CONFIGURATION.read({ SURFACES: chosen })).toThrow(ConfigError);
  });
});

describe('the Jobs Data API', () => {
  const DATA_URL = 'https://data.example.test:8443/jobs-api';
  const at = (host: string) => ({ host });

  it('answers below /data of the base with its health and its contract', async () => {
    const { ask } = await open({});
    expect(await (await ask('/data/health')).json()).toMatchObject({ status: 'ok' });
    expect(await (await ask('/data/openapi.json')).json()).toMatchObject({ servers: [{ url: `${BASE_URL}/data` }] });
    for (const path of ['/data', '/data/', '/data/ready', '/data/metrics', '/data/llms.txt', '/database/health']) {
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    }
    expect((await ask('/data/health', PROGRAM, 'POST')).headers.get('allow')).toBe('GET');
  });

  it('answers on the host of DATA_URL too, where only the Host header leads to it', async () => {
    const { ask, demoKey } = await open({ DATA_URL });
    const key = { authorization: `Bearer ${demoKey}` };
    const keyed = async (path: string, host: string): Promise<number> =>
      (await ask(path, { ...key, ...at(host) })).status;
    expect(await keyed('/jobs-api/v1/jobs?limit=1', 'Data.example.test:8443')).toBe(200);
    expect(await keyed('/data/v1/jobs?limit=1', 'data.example.test:8443')).toBe(200);
    expect(await keyed('/data/v1/jobs?limit=1', 'shop.example')).toBe(200);
    expect(await keyed('/jobs-api/v1/jobs?limit=1', 'shop.example')).toBe(404);
    expect(await keyed('/jobs-api/v1/jobs?limit=1', 'data.example.test')).toBe(404);
    expect((await ask('/jobs-api/v1/jobs', { ...key, 'x-forwarded-host': 'data.example.test:8443' })).status).toBe(404);
    expect((await ask('/jobs-api/health', at('data.example.test:8443'))).status).toBe(200);
  });

  it('goes by the address of DATA_URL in every document, and by its path in the pages', async () => {
    const { ask } = await open({ DATA_URL });
    const textOf = async (path: string, headers = {}) => (await ask(path, headers)).text();
    const contract = JSON.parse(await textOf('/data/openapi.json')) as { servers: unknown };
    expect(contract.servers).toEqual([{ url: DATA_URL }]);
    expect(await textOf('/openapi.json')).toContain(`(${DATA_URL}/openapi.json)`);
    expect(await textOf('/llms.txt')).toContain(`[GET /v1/history](${DATA_URL}/v1/history)`);
    const { linkset } = JSON.parse(await textOf('/.well-known/api-catalog')) as {
      linkset: { anchor: string; 'service-desc'?: { href: string }[] }[];
    };
    const ofData = linkset.find(({ anchor }) => anchor === `${DATA_URL}/`);
    expect(ofData?.['service-desc']?.map(({ href }) => href)).toEqual([`${DATA_URL}/openapi.json`]);
    // Pages load from their own origin alone.
    expect(await textOf('/docs', BROWSER)).toContain('data-contract="./data/openapi.json"');
    const home = await textOf('/', BROWSER);
    expect(home).toContain(`${DATA_URL}/v1/jobs/search?`);
    expect(home).toContain('href="./data/v1/public/overview"');
  });
});
