/** Answers to browsers of other origins (decisions §2, CORS_ORIGIN; reliability 278). */
import { describe, expect, it } from 'vitest';
import { adminToken } from '../../src/access/admin-token.ts';
import { engineToken } from '../../src/access/engine-token.ts';
import { isOperatorPath } from '../../src/app/cors.ts';
import { SURFACES } from '../../src/app/modules.ts';
import { SURFACE_NAMES } from '../../src/config/surfaces.ts';
import { waysIn } from '../../src/http/access.ts';
import type { Route } from '../../src/http/route.ts';
import type { Module } from '../../src/modules/module.ts';
import { expectError } from '../support/answers.ts';
import { OTHER_SURFACES } from '../support/declared.ts';
import { openJobsApp } from '../support/jobs-app.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { type Operation, publishedAt, publishedContract } from '../support/published.ts';
import { wallet } from '../support/wallet.ts';

/** Browsers obey these themselves, or show them to every page (Fetch, "CORS-safelisted response-header name"). */
const FOR_BROWSERS = ['cache-control', 'content-security-policy', 'x-content-type-options'];

describe(`browsers, under ${RUNTIME}`, () => {
  const CORS_NAMES = ['access-control-allow-origin', 'access-control-expose-headers', 'access-control-allow-methods'];

  it.each(['*', 'https://app.example'])(
    'CORS_ORIGIN=%s is on every answer, and preflights are 204 (reliability 278)',
    async (origin) => {
      const jobs = await openJobsApp({ CORS_ORIGIN: origin, RATE_LIMIT_PER_MINUTE: '6' });
      const account = wallet();
      const payment = await jobs.payment(jobs.search, account);
      const answers = [
        await jobs.get('/health'),
        await jobs.get('/nothing'),
        await jobs.get('/v1/jobs/search?limit=0'),
        await jobs.get(jobs.search),
        await jobs.pay(jobs.search, payment),
        await jobs.pay(jobs.search, payment),
        await jobs.send(jobs.search, { method: 'POST' }),
      ];
      while (answers.at(-1)?.status !== 429) answers.push(await jobs.get(jobs.search));
      expect([...new Set(answers.map(({ status }) => status))].sort()).toEqual([200, 400, 402, 404, 405, 409, 429]);
      for (const { headers } of answers) {
        expect(headers.get('access-control-allow-origin')).toBe(origin);
        const exposed = (headers.get('access-control-expose-headers') ?? '').toUpperCase().split(', ');
        for (const name of ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'RETRY-AFTER']) expect(exposed).toContain(name);
        for (const name of ['X-CREDITS-CHARGED', 'X-CREDITS-REMAINING']) expect(exposed).toContain(name);
        expect(headers.get('access-control-allow-credentials')).toBeNull();
      }
      for (const path of ['/v1/jobs/search', '/v1/jobs/company', '/health', '/nothing', '/hooks/a/b']) {
        const preflight = await jobs.transport.fetch(path, {
          method: 'OPTIONS',
          headers: {
            Origin: 'https://app.example',
            'Access-Control-Request-Method': 'GET',
            'Access-Control-Request-Headers': 'payment-signature, access-control-expose-headers',
          },
        });
        expect(preflight.status).toBe(204);
        expect(await preflight.text()).toBe('');
        expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
        expect(preflight.headers.get('access-control-allow-methods')).toContain('GET');
        const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
        expect(allowed.sort()).toEqual([
          ...['access-control-expose-headers', 'authorization', 'content-type', 'idempotency-key', 'if-none-match'],
          ...['payment-signature', 'sign-in-with-x', 'x-payment'],
        ]);
      }
      await jobs.close();
    },
  );

  it.each(['', '/data', '/retry', '/resolve'])(
    'a page may read the 404 and the 405 of %s, whose preflights it passes, and none of the operator',
    async (mount) => {
      const surfaces = { SURFACES: SURFACE_NAMES.join(',') };
      const jobs = await openJobsApp({ ...surfaces, CORS_ORIGIN: '*', ADMIN_TOKEN: 'x'.repeat(32) });
      const preflightOf = (path: string, method: string) =>
        jobs.send(path, {
          method: 'OPTIONS',
          headers: {
            Origin: 'https://app.example',
            'Access-Control-Request-Method': method,
            'Access-Control-Request-Headers': 'content-type, payment-signature',
          },
        });
      for (const method of ['GET', 'POST', 'DELETE']) {
        const preflight = await preflightOf(`${mount}/v1/nothing`, method);
        expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
        expect(preflight.headers.get('access-control-allow-methods')?.split(', ')).toContain(method);
        expect(preflight.headers.get('access-control-allow-headers')).toContain('payment-signature');
      }
      const unknown = await jobs.send(`${mount}/v1/nothing`, { method: 'POST', headers: {} });
      expectError(unknown, 404, 'NOT_FOUND');
      const other = await jobs.send(`${mount}/health`, { method: 'POST' });
      expectError(other, 405, 'METHOD_NOT_ALLOWED');
      for (const { headers } of [unknown, other]) expect(headers.get('access-control-allow-origin')).toBe('*');
      expectError(await jobs.send(`${mount}/v1/nothing`, { method: 'OPTIONS' }), 404, 'NOT_FOUND');
      for (const path of ['/admin/v1/nothing', '/internal/v1/nothing', '/sales/nothing', '/boards/nothing']) {
        const refused = await preflightOf(path, 'GET');
        expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([404, null]);
      }
      await jobs.close();
    },
  );

  it('every path behind the token of the operator or of gates is closed to them, and no path of another module with a contract', () => {
    const OPERATOR: ReadonlySet<unknown> = new Set([adminToken, engineToken]);
    const isOfOperator = ({ access }: Route): boolean => waysIn(access).some((way) => OPERATOR.has(way));
    const modules = SURFACES.flatMap(({ modules }) => modules as readonly Module[]);
    const published = modules.filter(({ summary }) => summary !== undefined).flatMap(({ routes }) => routes);
    const closed = modules.flatMap(({ routes }) => routes).filter(isOfOperator);
    expect(closed.length).toBeGreaterThan(10);
    expect(closed.filter(({ path }) => !isOperatorPath(path))).toEqual([]);
    expect(published.filter(({ path }) => isOperatorPath(path))).toEqual([]);
  });

  it('a page may send every header that a contract names, and read every one that is not for the browser itself', async () => {
    const jobs = await openJobsApp({ CORS_ORIGIN: '*' });
    const preflight = await jobs.send('/health', { method: 'OPTIONS' });
    const namesIn = (header: string): string[] => (preflight.headers.get(header) ?? '').toLowerCase().split(', ');
    const [allowed, exposed] = [
      namesIn('access-control-allow-headers'),
      namesIn('access-control-expose-headers').concat(FOR_BROWSERS),
    ];
    for (const { contract } of [publishedContract(), ...OTHER_SURFACES.map(publishedAt)]) {
      for (const { operationId, parameters = [], responses } of Object.values(contract.paths).flatMap(
        (item): Operation[] => Object.values(item),
      )) {
        for (const { name, in: place } of parameters) {
          if (place === 'header') expect(allowed, operationId).toContain(name.toLowerCase());
        }
        for (const name of Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers))) {
          expect(exposed, operationId).toContain(name.toLowerCase());
        }
      }
    }
    await jobs.close();
  });

  it('without CORS_ORIGIN no answer carries any of it, and OPTIONS is 405 (reliability 278)', async () => {
    const jobs = await openJobsApp();
    const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' };
    const options = await jobs.send('/v1/jobs/search', { method: 'OPTIONS', headers });
    expectError(options, 405, 'METHOD_NOT_ALLOWED');
    const paid = await jobs.pay(jobs.search, await jobs.payment(jobs.search, wallet()));
    for (const answer of [options, paid, await jobs.get(jobs.search, headers), await jobs.get('/nothing', headers)]) {
      for (const name of CORS_NAMES) expect(answer.headers.get(name)).toBeNull();
    }
    await jobs.close();
  });
});
