/** The Jobs Data API's ways in: keys, scopes, the order of checks, rates and credits (siblings §3, §4). */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Scope } from '../../src/accounts/scopes.ts';
import { type Answer, answerOf, expectError } from '../support/answers.ts';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { smallSample } from '../support/small-sample.ts';

const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';
const folder = suiteFolder();

const opened: OpenedApp[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

class Operated {
  readonly app: OpenedApp;

  constructor(app: OpenedApp) {
    this.app = app;
  }

  async post(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await this.app.fetch(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(201);
    return (await answer.json()) as Record<string, unknown>;
  }

  async key(organization: string, scopes: readonly Scope[], more: object = {}): Promise<{ id: string; key: string }> {
    return (await this.post('/admin/v1/keys', { organization, scopes, ...more })) as { id: string; key: string };
  }

  grant(organization: string, amount: number): Promise<unknown> {
    return this.post('/admin/v1/grants', { organization, kind: 'onboarding', amount });
  }

  async get(path: string, key?: string, headers: Record<string, string> = {}): Promise<Answer> {
    const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    return answerOf(await this.app.fetch(`/data${path}`, { headers: { ...authorization, ...headers } }));
  }

  async remaining(organization: string): Promise<number> {
    const answer = await this.app.fetch(`/admin/v1/organizations/${organization}`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    return ((await answer.json()) as { remaining: number }).remaining;
  }
}

async function open(variables: Readonly<Record<string, string>> = {}): Promise<Operated> {
  const app = await openedApp({ SNAPSHOT: smallSample(), ADMIN_TOKEN, ...variables });
  opened.push(app);
  return new Operated(app);
}

const READ: readonly Scope[] = ['jobs:read'];
const ROUTES = [
  ['/v1/jobs/search?keyword=engineer', 'jobs:read'],
  ['/v1/jobs', 'jobs:read'],
  ['/v1/jobs/none', 'jobs:read'],
  ['/v1/jobs/none/history', 'jobs:read'],
  ['/v1/history', 'jobs:read'],
  ['/v1/companies/none.example', 'companies:read'],
  ['/v1/companies/none.example/jobs', 'companies:read'],
  ['/v1/companies/none.example/hiring', 'companies:read'],
  ['/v1/skills', 'jobs:read'],
  ['/v1/metrics/overview', 'signals:read'],
  ['/v1/metrics/hiring', 'signals:read'],
] as const;

describe(`keys of the Jobs Data API, under ${RUNTIME}`, () => {
  it.each(ROUTES)('%s needs its scope %s, and every refusal is free (reliability 241)', async (path, scope) => {
    const server = await open();
    await server.grant('acme', 100);
    const others = ROUTES.map(([, one]) => one).filter((one) => one !== scope);
    const { key: wrong } = await server.key('acme', [...new Set(others), 'retries:write']);
    const { key } = await server.key('acme', [scope]);
    expectError(await server.get(path), 401, 'MISSING_AUTHORIZATION');
    expectError(await server.get(path, `svc_key_${'a'.repeat(43)}`), 401, 'INVALID_API_KEY');
    expectError(await server.get(path, undefined, { authorization: 'Basic a2V5' }), 401, 'INVALID_AUTHORIZATION');
    const refused = await server.get(path, wrong);
    expectError(refused, 403, 'INSUFFICIENT_SCOPE');
    expect(refused.text).toContain(scope);
    expect(await server.remaining('acme')).toBe(100);
    const answer = await server.get(path, key);
    if (path.includes('none'))
      expectError(answer, 404, path.includes('companies') ? 'COMPANY_NOT_FOUND' : 'JOB_NOT_FOUND');
    else expect(answer.headers.get('cache-control')).toBe('private, no-store');
  });

  it('says how an offset is written where a query made its + a blank', async () => {
    const server = await open({});
    const { key } = await server.key('acme', READ);
    const { message } = expectError(
      await server.get('/v1/jobs?observed_since=2026-08-22T02:00:00+02:00', key),
      400,
      'INVALID_PARAMETER',
    );
    expect(message).toMatch(/^`observed_since` must be .*%2B/);
    expect((await server.get('/v1/jobs?observed_since=2026-08-22T02:00:00%2B02:00', key)).status).not.toBe(400);
  });

  it('checks in the order path, method, key, scope, input, rate, question, credits', async () => {
    const server = await open({ KEY_RATE_LIMIT_PER_MINUTE: '3' });
    const { key } = await server.key('acme', READ);
    expectError(await server.get('/v1/jobs/%zz'), 404, 'NOT_FOUND');
    expectError(await server.get('/v1/nothing'), 404, 'NOT_FOUND');
    const posted = await server.app.fetch('/data/v1/jobs', { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
    expectError(await server.get('/v1/jobs?limit=0'), 401, 'MISSING_AUTHORIZATION');
    expectError(await server.get('/v1/metrics/overview?page=1', key), 403, 'INSUFFICIENT_SCOPE');
    expectError(await server.get('/v1/jobs?limit=0', key), 400, 'INVALID_PARAMETER');
    expectError(await server.get('/v1/jobs?cursor=%20', key), 400, 'INVALID_CURSOR');
    expectError(await server.get('/v1/jobs?cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', key), 400, 'INVALID_CURSOR');
    expectError(await server.get('/v1/jobs/none', key), 404, 'JOB_NOT_FOUND');
    const one = await server.get('/v1/jobs?limit=1', key);
    expectError(one, 402, 'INSUFFICIENT_CREDITS');
    expect(one.text).toMatch(/costs 1 credit and the organization has 0/);
    const poor = await server.get('/v1/jobs?limit=3', key);
    expectError(poor, 402, 'INSUFFICIENT_CREDITS');
    expect(poor.text).toMatch(/costs 3 credits and the organization has 0/);
    expect([poor.headers.get('payment-required'), poor.headers.get('x-credits-charged')]).toEqual([null, null]);
    expectError(await server.get('/v1/jobs?limit=0', key), 400, 'INVALID_PARAMETER');
    const late = await server.get('/v1/jobs/none', key);
    expectError(late, 429, 'RATE_LIMIT_EXCEEDED');
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('repeats no key that stands in the wrong place of a request, and no text of any length', async () => {
    const server = await open();
    const { key } = await server.key('acme', ['jobs:read', 'companies:read']);
    for (const end of ['', '/jobs', '/hiring']) {
      const answer = await server.get(`/v1/companies/${key}${end}`, key);
      expectError(answer, 404, 'COMPANY_NOT_FOUND');
      expect(answer.text).not.toContain(key);
    }
    const long = await server.get(`/v1/companies/${'a'.repeat(5_000)}`, key);
    expectError(long, 404, 'COMPANY_NOT_FOUND');
    expect(long.text.length).toBeLessThan(300);
    const named = await server.get(`/v1/jobs?${key}=1`, key);
    expectError(named, 400, 'UNKNOWN_PARAMETER');
    expect(named.text).not.toContain(key);
  });

  it('counts the rate by key, and a revoked or expired key looks like an unknown one', async () => {
    const server = await open({ KEY_RATE_LIMIT_PER_MINUTE: '1' });
    await server.grant('acme', 100);
    const [first, second] = [await server.key('acme', READ), await server.key('acme', READ)];
    expect((await server.get('/v1/skills?limit=1', first.key)).status).toBe(200);
    expect((await server.get('/v1/skills?limit=1', first.key)).status).toBe(429);
    expect((await server.get('/v1/skills?limit=1', second.key)).status).toBe(200);
    const revoked = await server.app.fetch(`/admin/v1/keys/${second.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(await revoked.json()).toEqual({ id: second.id, revoked: true });
    const unknown = await server.get('/v1/skills', `svc_key_${'b'.repeat(43)}`);
    const gone = await server.get('/v1/skills', second.key);
    const told = ({ text }: Answer): unknown => (JSON.parse(text) as { error: { message: string } }).error.message;
    expect([gone.status, told(gone)]).toEqual([unknown.status, told(unknown)]);
  });

  it('counts the requests of a key on all surfaces together', async () => {
    const server = await open({ KEY_RATE_LIMIT_PER_MINUTE: '1' });
    await server.grant('acme', 100);
    const { key } = await server.key('acme', [...READ, 'retries:write']);
    expect((await server.get('/v1/skills?limit=1', key)).status).toBe(200);
    const retry = await server.app.fetch('/retry/v1/retries', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ request: { method: 'GET', url: 'https://example.com/' } }),
    });
    expect(retry.status).toBe(429);
    expect(await retry.text()).toContain('RATE_LIMIT_EXCEEDED');
  });

  it('without a catalogue is 503 after the key, free', async () => {
    const server = await open({ SNAPSHOT: 'none' });
    await server.grant('acme', 5);
    const { key } = await server.key('acme', [...new Set(ROUTES.map(([, scope]) => scope))]);
    for (const [path] of ROUTES) {
      expectError(await server.get(path), 401, 'MISSING_AUTHORIZATION');
      expectError(await server.get(path, key), 503, 'CATALOGUE_UNAVAILABLE');
    }
    expect(await server.remaining('acme')).toBe(5);
  });
});

const BACKENDS = [
  ['in memory', ':memory:'],
  ['in a state folder', join(folder, 'state')],
] as const;

describe(`credits, under ${RUNTIME}`, () => {
  it.each(BACKENDS)(
    '100 requests at once against 10 credits are ten 200 and ninety 402 (reliability 242), %s',
    async (_, stateDir) => {
      const server = await open({ STATE_DIR: stateDir });
      await server.grant('race', 10);
      const { key } = await server.key('race', READ);
      const answers = await Promise.all(Array.from({ length: 100 }, () => server.get('/v1/jobs?limit=1', key)));
      const statuses = Map.groupBy(answers, ({ status }) => status);
      expect([statuses.get(200)?.length, statuses.get(402)?.length]).toEqual([10, 90]);
      const left = statuses.get(200)!.map(({ headers }) => Number(headers.get('x-credits-remaining')));
      expect(left.sort((a, b) => b - a)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
      expect(await server.remaining('race')).toBe(0);
    },
  );

  it('charges what the answer holds, says so twice, and an empty list is free', async () => {
    const server = await open();
    await server.grant('acme', 50);
    const { key } = await server.key('acme', [...READ, 'signals:read']);
    const told = async (path: string) => {
      const answer = await server.get(path, key);
      const { meta } = JSON.parse(answer.text) as { meta: { credits: { charged: number; remaining: number } } };
      const { headers, status } = answer;
      expect([Number(headers.get('x-credits-charged')), Number(headers.get('x-credits-remaining'))]).toEqual([
        meta.credits.charged,
        meta.credits.remaining,
      ]);
      return [status, meta.credits.charged, meta.credits.remaining];
    };
    expect(await told('/v1/jobs?limit=7')).toEqual([200, 7, 43]);
    expect(await told('/v1/jobs?company=nobody.example')).toEqual([200, 0, 43]);
    expect(await told('/v1/metrics/overview')).toEqual([200, 2, 41]);
    expect(await told('/v1/metrics/hiring')).toEqual([200, 5, 36]);
    expect(await told('/v1/jobs?limit=7')).toEqual([200, 7, 29]);
  });

  it('racing mixes add up exactly', async () => {
    const server = await open();
    await server.grant('mix', 200);
    const { key } = await server.key('mix', [...READ, 'signals:read']);
    const paths = Array.from({ length: 120 }, (_, i) =>
      i % 3 === 0 ? '/v1/metrics/hiring' : `/v1/jobs?limit=${1 + (i % 6)}`,
    );
    const answers = await Promise.all(paths.map((path) => server.get(path, key)));
    const charged = answers.reduce((sum, { headers }) => sum + Number(headers.get('x-credits-charged') ?? 0), 0);
    expect(answers.every(({ status }) => status === 200 || status === 402)).toBe(true);
    expect(await server.remaining('mix')).toBe(200 - charged);
    expect(200 - charged).toBeLessThan(5);
  });

  it('the demo organization tries every keyed route at once', async () => {
    const app = await openedApp({ SNAPSHOT: smallSample() });
    opened.push(app);
    const server = new Operated(app);
    const key = app.app.demoKey!;
    for (const [path] of ROUTES.filter(([one]) => !one.includes('none'))) {
      expect((await server.get(path, key)).status, path).toBe(200);
    }
  });
});
