/**
 * The published contract against what is served: `/openapi.json`, the discovery block of every offer, and the closed schemas
 * of all three paid answers over a catalogue whose every count is known.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from '@readme/openapi-parser';
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ratedReadToken, readToken } from '../../src/access/read-token.ts';
import { priceOf } from '../../src/access/x402.ts';
import { exampleSearchOf } from '../../src/access/x402-discovery.ts';
import type { Operation } from '../../src/http/operation.ts';
import { type Answer, expectError, expectOffer, expectPaid, parsedBody } from '../support/answers.ts';
import { callbackCounts } from '../support/callback-client.ts';
import { buildSnapshot, jobLine } from '../support/catalogue-files.ts';
import { HOOK_URL, isPaid, OPERATIONS, TAGS } from '../support/declared.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { DECLARATIONS } from '../support/jobs-client.ts';
import { ManualTime } from '../support/manual-time.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { type Contract, Published, publishedContract } from '../support/published.ts';
import { encodeHeader, paymentFor, wallet } from '../support/wallet.ts';

const OFFER_HEADER_BYTES_MAX = 6144;
const DAY_MS = 86_400_000;
const now = Date.now();
const daysAgo = (days: number): string => new Date(now - days * DAY_MS).toISOString();

/** Acme: three active, two of them of this week, one closed. Gone: closed only. Nameless: no domain. */
const JOBS = [
  jobLine({
    id: 'a1',
    company: 'Acme',
    company_domain: 'acme.example',
    last_observed_at: daysAgo(1),
    first_observed_at: daysAgo(3),
  }),
  jobLine({
    id: 'a2',
    company: 'Acme Inc',
    company_domain: 'acme.example',
    last_observed_at: daysAgo(2),
    first_observed_at: daysAgo(30),
    department: 'Platform Engineering',
    skills: ['go', 'rust'],
  }),
  jobLine({
    id: 'a3',
    company: 'Acme',
    company_domain: 'acme.example',
    last_observed_at: daysAgo(20),
    first_observed_at: daysAgo(30),
    department: null,
    remote_status: 'on_site',
    skills: [],
  }),
  jobLine({
    id: 'a4',
    company: 'Acme',
    company_domain: 'acme.example',
    last_observed_at: daysAgo(1),
    first_observed_at: daysAgo(30),
    status: 'closed',
  }),
  jobLine({
    id: 'g1',
    company: 'Gone Old',
    company_domain: 'gone.example',
    last_observed_at: daysAgo(9),
    first_observed_at: daysAgo(30),
    status: 'closed',
  }),
  jobLine({
    id: 'g2',
    company: 'Gone',
    company_domain: 'gone.example',
    last_observed_at: daysAgo(5),
    first_observed_at: daysAgo(30),
    status: 'closed',
  }),
  jobLine({
    id: 'n1',
    company: 'Nameless',
    company_domain: null,
    last_observed_at: daysAgo(40),
    first_observed_at: daysAgo(41),
    title: 'Baker',
  }),
];

const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

const isToken = ({ access }: Pick<Operation, 'access'>): boolean =>
  access.some((way) => Object.is(way, readToken) || Object.is(way, ratedReadToken));

/** Each compiles what its answers need, which takes longer than all answers. */
const judges = new WeakMap<Contract, Published>();

/** An answer against what the document of this very server publishes. */
function expectPublished(contract: Contract, method: string, path: string, answer: Answer): void {
  const { status, headers, text } = answer;
  const judge = judges.get(contract) ?? new Published(contract);
  judges.set(contract, judge);
  expect(judge.fault({ method, path, status, headers, bytes: Buffer.from(text) })).toBeUndefined();
}

describe(`the contract, under ${RUNTIME}`, () => {
  let folder: string;
  /** Waits last as long as the test says. */
  const time = new ManualTime(now);
  let jobs: JobsApp;
  let contract: Contract;
  const account = wallet();
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'paygrade-contract-'));
    const file = join(folder, 'jobs.snap');
    await buildSnapshot(file, JOBS);
    time.catchUp();
    jobs = await openJobsApp(
      {
        SNAPSHOT: file,
        BASE_URL: 'https://shop.example/api',
        HOOK_BASE_URL: HOOK_URL,
      },
      { clock: time, timers: time },
    );
    contract = JSON.parse((await jobs.get('/openapi.json')).text) as Contract;
  });
  afterAll(async () => {
    await jobs.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => time.catchUp());

  const buy = async (path: string): Promise<Answer> => {
    const answer = await jobs.pay(path, await jobs.payment(path, account));
    expectPaid(answer, account.address);
    return answer;
  };

  it('lists every route once, with every parameter, under the configured address', () => {
    expect(contract.openapi).toMatch(/^3\.1\.\d+$/);
    expect(contract.info.title).toBe('paygrade');
    expect(contract.servers).toEqual([{ url: 'https://shop.example/api' }]);
    for (const { method, path, operation, query, lenientQuery } of OPERATIONS) {
      const listed = contract.paths[templateOf(path)]?.[method.toLowerCase()];
      expect(listed?.operationId, `${method} ${path}`).toBe(operation);
      const inQuery = (listed?.parameters ?? []).filter((parameter) => parameter.in === 'query');
      expect(inQuery.map(({ name }) => name)).toEqual(Object.keys(query?.entries ?? lenientQuery ?? {}));
    }
    const ids = Object.values(contract.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('passes a validator of OpenAPI, and each of its schemas is JSON Schema 2020-12', async () => {
    // The validator follows references in place.
    expect(await validate(structuredClone(contract) as never)).toMatchObject({ valid: true, warnings: [] });
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const [path, item] of Object.entries(contract.paths)) {
      for (const [method, { parameters = [], responses }] of Object.entries(item)) {
        for (const { name, schema } of parameters) expect(ajv.validateSchema(schema), `${path} ${name}`).toBe(true);
        for (const [status, { content }] of Object.entries(responses)) {
          for (const { schema } of Object.values(content ?? {})) {
            if (schema !== undefined) expect(ajv.validateSchema(schema), `${method} ${path} ${status}`).toBe(true);
          }
        }
      }
    }
  });

  it('is refused by the validator once something is wrong with it', async () => {
    const broken = structuredClone(contract) as unknown as { paths: Record<string, { get: { responses: unknown } }> };
    broken.paths['/health']!.get.responses = 'none';
    expect(await validate(broken as never)).toMatchObject({ valid: false });
  });

  it('is the one that the suite holds every response against', () => {
    const { info: _, ...served } = contract;
    const { info: __, ...ours } = publishedContract().contract;
    expect(served).toEqual(ours);
    expect(contract.tags.map(({ name }) => name)).toEqual(Object.keys(TAGS));
  });

  it('has an example for every JSON answer that is not a document of its own, and each is as its schema says', () => {
    for (const { method, path, answer, answerType, relation, examples } of OPERATIONS) {
      if (answerType !== undefined || relation === 'service-desc' || relation === 'service-meta') continue;
      const where = `${method} ${path}`;
      expect(v.safeParse(answer, examples?.answer).issues, where).toBeUndefined();
      const operation = contract.paths[templateOf(path)]![method.toLowerCase()]!;
      const [success] = Object.values(operation.responses).filter(({ content }) => content?.['application/json']);
      expect(success?.content?.['application/json']?.example, where).toEqual(examples?.answer);
    }
  });

  it('says of every object whether it may have further members, because generators of clients differ where it is left out', () => {
    const silent: string[] = [];
    const look = (node: unknown, place: string): void => {
      if (typeof node !== 'object' || node === null) return;
      if ('type' in node && node.type === 'object' && !('additionalProperties' in node)) silent.push(place);
      for (const [key, inner] of Object.entries(node)) if (key !== 'example') look(inner, `${place}/${key}`);
    };
    look(contract, '');
    expect(silent).toEqual([]);
  });

  it('says what a paid operation costs and how it is paid, and that webhooks have an address of their own', () => {
    for (const { method, path, access, publicUrl } of OPERATIONS) {
      const operation = contract.paths[templateOf(path)]![method.toLowerCase()]!;
      const price = priceOf(access);
      const where = `${method} ${path}`;
      const header = operation.parameters?.find(({ name }) => name === 'PAYMENT-SIGNATURE');
      expect(operation['x-payment-info'], where).toEqual(
        price && { protocols: ['x402'], pricingMode: 'fixed', price, currency: 'USDC', network: 'eip155:8453' },
      );
      expect(header?.in, where).toBe(price && 'header');
      expect(header?.required, where).toBe(price && false);
      expect(operation.responses['402'] !== undefined, where).toBe(price !== undefined);
      expect(operation.servers, where).toEqual(publicUrl === HOOK_URL ? [{ url: HOOK_URL }] : undefined);
      expect(path.startsWith('/hooks/'), where).toBe(publicUrl === HOOK_URL);
    }
  });

  it('lists the parameters, bodies, security and headers of every operation', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const route of OPERATIONS) {
      const { method, path } = route;
      const operation = contract.paths[templateOf(path)]![method.toLowerCase()]!;
      const where = `${method} ${path}`;
      for (const { name, in: place, description, schema, example } of operation.parameters ?? []) {
        if (place === 'query') expect(description, `${where} ${name}`).toMatch(/\S.*\.$/);
        if (place === 'path') expect(example, `${where} ${name}`).toBeDefined();
        if (example !== undefined) expect(ajv.validate(schema, example), `${where} ${name}`).toBe(true);
      }
      expect(operation.requestBody !== undefined, where).toBe(['POST', 'PUT', 'PATCH'].includes(method));
      for (const [type, { schema, example }] of Object.entries(operation.requestBody?.content ?? {})) {
        expect(example, `${where} ${type}`).toBeDefined();
        expect(ajv.validate(schema as object, example), `${where} ${type}`).toBe(true);
      }
      expect(operation.security).toEqual(isToken(route) ? [{ readToken: [] }] : undefined);
      const allow = OPERATIONS.filter((other) => other.path === path).map((other) => other.method);
      expect(operation.responses['405']?.headers?.Allow).toMatchObject({ schema: { const: allow.join(', ') } });
      for (const [status, { headers }] of Object.entries(operation.responses)) {
        expect(Object.keys(headers ?? {}), `${where} ${status}`).toContain('X-Request-Id');
        if (status === '429') expect(headers, where).toMatchObject({ 'Retry-After': { required: true } });
        if (status === '401') expect(headers, where).toMatchObject({ 'WWW-Authenticate': { required: true } });
      }
      const [success] = Object.entries(operation.responses).filter(([status]) => status < '300');
      expect(success?.[0]).toBe(String(route.status ?? 200));
    }
    const { post } = contract.paths['/v1/callbacks']!;
    expect(post?.requestBody).toEqual({ required: false, content: { 'application/json': expect.anything() } });
    const statuses = ['201', '400', '402', '405', '408', '409', '413', '415', '429', '500', '503'];
    expect(Object.keys(post?.responses ?? {})).toEqual(statuses);
    expect(post?.responses['503']?.headers).toMatchObject({ 'Retry-After': { required: true } });
    for (const webhook of Object.values(contract.paths['/hooks/{callback_id}'] ?? {})) {
      expect(Object.keys(webhook.requestBody?.content ?? {})).toEqual([
        'application/json',
        'text/*',
        'application/x-www-form-urlencoded',
      ]);
      expect(webhook.requestBody?.required).toBe(false);
    }
    const raw = contract.paths['/v1/callbacks/{id}/events/{event_id}/raw']?.get?.responses['200'];
    expect(Object.keys(raw?.content ?? {})).toEqual(['application/octet-stream']);
    expect(raw?.headers).toMatchObject({ 'X-Original-Content-Type': { required: false } });
    // A catalogue that is not there says nothing of when it will be.
    expect(contract.paths['/v1/jobs/search']?.get?.responses['503']?.headers).toHaveProperty('Retry-After');
    expect(
      contract.paths['/v1/jobs/search']?.get?.responses['503']?.headers?.['Retry-After']?.required,
    ).toBeUndefined();
  });

  it('says the bounds of every parameter of the specification', () => {
    const schemaOf = (path: string, name: string): Record<string, unknown> | undefined =>
      contract.paths[path]?.get?.parameters?.find((parameter) => parameter.name === name)?.schema;
    expect(schemaOf('/v1/jobs/search', 'keyword')).toMatchObject({ type: 'string', minLength: 2, maxLength: 120 });
    expect(schemaOf('/v1/jobs/search', 'location')).toMatchObject({ type: 'string', minLength: 2, maxLength: 80 });
    expect(schemaOf('/v1/jobs/search', 'company')).toMatchObject({ type: 'string', maxLength: 253 });
    expect(schemaOf('/v1/jobs/search', 'remote')).toMatchObject({ type: 'boolean' });
    expect(schemaOf('/v1/jobs/search', 'limit')).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 10,
      default: 10,
    });
    expect(schemaOf('/v1/jobs/company', 'company')).toMatchObject({ type: 'string', maxLength: 253 });
    expect(schemaOf('/v1/jobs/company', 'period')).toMatchObject({ const: '7d', default: '7d' });
    expect(schemaOf('/v1/jobs/signals', 'role')).toMatchObject({ type: 'string', minLength: 2, maxLength: 80 });
    expect(schemaOf('/v1/jobs/signals', 'department')).toMatchObject({ type: 'string', minLength: 2, maxLength: 80 });
    expect(schemaOf('/v1/jobs/signals', 'limit')).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 5,
      default: 5,
    });
    for (const path of ['/v1/jobs/search', '/v1/jobs/company', '/v1/jobs/signals']) {
      const statuses = Object.keys(contract.paths[path]?.get?.responses ?? {});
      for (const status of ['200', '400', '402', '409', '429', '500', '503']) expect(statuses).toContain(status);
      expect(contract.paths[path]?.get?.responses['402']?.headers).toHaveProperty('PAYMENT-REQUIRED');
      expect(contract.paths[path]?.get?.responses['200']?.headers).toHaveProperty('PAYMENT-RESPONSE');
      expect(contract.paths[path]?.get?.responses['429']?.headers).toHaveProperty('Retry-After');
    }
    expect(Object.keys(contract.paths['/v1/jobs/company']?.get?.responses ?? {})).toContain('404');
  });

  const PAID_ROUTES = OPERATIONS.filter(isPaid);

  it.each(PAID_ROUTES)(
    '$method $path: asked with its example it is offered, with a valid discovery block',
    async (route) => {
      const { method, path, examples } = route;
      const target = path + exampleSearchOf(route);
      const body = examples?.bodies?.['application/json'];
      const json =
        body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const answer = await jobs.send(target, { method, ...json });
      expectPublished(contract, method, path, answer);
      expect(answer.status).toBe(402);
      const offer = expectOffer(answer);
      expect(offer.resource.url).toBe(`https://shop.example/api${target}`);
      const { bazaar } = offer.extensions as { bazaar: never };
      expect(validateDiscoveryExtension(bazaar)).toEqual({ valid: true });
      expect(validateDiscoveryExtensionSpec(bazaar)).toMatchObject({ valid: true });
      const { input } = (bazaar as { info: { input: { method: string; queryParams?: unknown; body?: unknown } } }).info;
      expect([input.method, input.queryParams, input.body]).toEqual([method, examples?.query, body]);
      const payment = await paymentFor(offer, account);
      const headers = { ...json.headers, 'PAYMENT-SIGNATURE': encodeHeader(payment) };
      const paid = await jobs.send(target, { method, ...json, headers });
      // The example's company and job are not in this catalogue.
      expect(paid.status).toBe(/\/(?:company|detail)$/.test(path) ? 404 : (route.status ?? 200));
      expectPublished(contract, method, path, paid);
    },
  );

  it('every answer of a callback, from its creation to its end, is the one of the published contract', async () => {
    /** Sends one request; its answer stands in the document under the status that is expected. */
    const send = async (
      method: string,
      template: string,
      path: string,
      status: number,
      init: { readonly headers?: Record<string, string>; readonly body?: string } = {},
    ): Promise<Answer> => {
      const answer = await jobs.send(path, { method, ...init });
      expect(answer.status, `${method} ${path} ${answer.text}`).toBe(status);
      expect(publishedContract().templateOf(path.replace(/\?.*/, ''))).toBe(template);
      expectPublished(contract, method, path.replace(/\?.*/, ''), answer);
      return answer;
    };
    const json = { 'Content-Type': 'application/json' };

    const creation = '/v1/callbacks';
    await send('POST', creation, creation, 402);
    await send('POST', creation, creation, 402, { headers: { 'PAYMENT-SIGNATURE': '*' } });
    await send('POST', creation, creation, 400, { headers: json, body: '{' });
    await send('POST', creation, creation, 400, { headers: json, body: '[]' });
    await send('POST', creation, creation, 415, { headers: { 'Content-Type': 'text/plain' }, body: '{}' });
    await send('POST', creation, creation, 413, { headers: json, body: `"${'a'.repeat(16_384)}"` });
    const payment = await paymentFor(await jobs.offer(creation, { method: 'POST' }), account);
    const paid = { 'PAYMENT-SIGNATURE': encodeHeader(payment) };
    const created = await send('POST', creation, creation, 201, { headers: paid });
    await send('POST', creation, creation, 409, { headers: paid });
    const { id, read_token } = JSON.parse(created.text) as { id: string; read_token: string };
    const token = { Authorization: `Bearer ${read_token}` };

    const hook = '/hooks/{callback_id}';
    const stranger = `cb_${'0'.repeat(24)}`;
    const examples = contract.paths[hook]?.post?.requestBody?.content ?? {};
    const sent = await send('POST', hook, `/hooks/${id}`, 200, {
      headers: json,
      body: JSON.stringify(examples['application/json']?.example),
    });
    const { event_id } = JSON.parse(sent.text) as { event_id: string };
    await send('PUT', hook, `/hooks/${id}`, 200, { headers: { 'Content-Type': 'text/csv' }, body: 'a,b' });
    await send('PATCH', hook, `/hooks/${id}`, 200, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'a=1',
    });
    await send('POST', hook, '/hooks/cb_1', 400);
    await send('POST', hook, `/hooks/${stranger}`, 404);
    await send('POST', hook, `/hooks/${id}`, 400, { headers: json, body: '{' });
    await send('POST', hook, `/hooks/${id}`, 415, { headers: { 'Content-Type': 'image/png' }, body: 'a' });
    await send('POST', hook, `/hooks/${id}`, 413, { headers: json, body: `"${'a'.repeat(262_144)}"` });
    for (let stored = 3; stored < 10; stored++) await send('POST', hook, `/hooks/${id}`, 200);
    await send('POST', hook, `/hooks/${id}`, 410);
    for (let asked = 14; asked < 30; asked++) await send('PUT', hook, `/hooks/${id}`, 410);
    await send('PATCH', hook, `/hooks/${id}`, 429);

    const events = '/v1/callbacks/{id}/events';
    const listing = await send('GET', events, `/v1/callbacks/${id}/events`, 200, { headers: token });
    const last = (JSON.parse(listing.text) as { events: { id: string }[] }).events.at(-1)?.id;
    const waiting = '/v1/callbacks/{id}/wait';
    await send('GET', waiting, `/v1/callbacks/${id}/wait?timeout=soon&other=1`, 200, { headers: token });
    const held = send('GET', waiting, `/v1/callbacks/${id}/wait?timeout=0&after=${last}`, 200, { headers: token });
    await expect.poll(async () => (await callbackCounts(jobs.opened)).waits, { interval: 1 }).toBe(1);
    time.pass(1_000);
    const late = await held;
    expect(JSON.parse(late.text)).toEqual({ received: false, timeout: true, after: last });
    await send('GET', waiting, `/v1/callbacks/${id}/wait?after=${event_id}0`, 404, { headers: token });
    const raw = '/v1/callbacks/{id}/events/{event_id}/raw';
    const bytes = await send('GET', raw, `/v1/callbacks/${id}/events/${event_id}/raw`, 200, { headers: token });
    expect(bytes.headers.get('x-original-content-type')).toBe('application/json');
    await send('GET', raw, `/v1/callbacks/${id}/events/evt_0/raw`, 404, { headers: token });

    const one = '/v1/callbacks/{id}';
    for (const [method, template, path] of [
      ['GET', events, `/v1/callbacks/${id}/events`],
      ['GET', waiting, `/v1/callbacks/${id}/wait`],
      ['GET', raw, `/v1/callbacks/${id}/events/${event_id}/raw`],
      ['DELETE', one, `/v1/callbacks/${id}`],
    ] as const) {
      await send(method, template, path, 401);
      await send(method, template, path, 401, { headers: { Authorization: 'Basic a' } });
      await send(method, template, path, 401, { headers: { Authorization: 'Bearer a' } });
      await send(method, template, path.replace(id, 'cb_1'), 400, { headers: token });
      await send(method, template, path.replace(id, stranger), 404, { headers: token });
    }
    await send('DELETE', one, `/v1/callbacks/${id}`, 200, { headers: token });
    await send('DELETE', one, `/v1/callbacks/${id}`, 404, { headers: token });
  });

  it('a method that a path does not have is refused as every operation of the path publishes', async () => {
    for (const template of Object.keys(contract.paths)) {
      const path = template.replace(/\{(\w+)\}/g, 'x');
      const answer = await jobs.send(path, { method: 'OPTIONS' });
      expectError(answer, 405, 'METHOD_NOT_ALLOWED');
      expectPublished(contract, 'OPTIONS', path, answer);
    }
  });

  it('an offer with the longest query stays below 6 KiB on every route', async () => {
    for (const path of ['/v1/jobs/search?keyword=', '/v1/jobs/signals?role=', '/v1/jobs/company?company=']) {
      const value = path.includes('company=')
        ? `${'a'.repeat(60)}.example`
        : encodeURIComponent('\u{1F680}'.repeat(80));
      const answer = await jobs.get(path + value);
      expectError(answer, 402, 'PAYMENT_REQUIRED');
      expect(answer.headers.get('payment-required')?.length).toBeLessThanOrEqual(OFFER_HEADER_BYTES_MAX);
    }
  });

  it.each([
    ...[
      '',
      '?keyword=engineer&limit=10',
      '?keyword=nothing-like-it',
      '?company=nobody.example',
      '?remote=false',
      '?employment_type=contract',
    ].map((query) => `/v1/jobs/search${query}`),
    ...['acme.example', 'gone.example'].map((domain) => `/v1/jobs/company?company=${domain}`),
    ...['', '?role=engineer', '?role=nothing-like-it', '?department=ENGINEERING&limit=1', '?location=oslo'].map(
      (query) => `/v1/jobs/signals${query}`,
    ),
    ...['', '?role=engineer', '?company=acme.example', '?company=gone.example&limit=1'].flatMap((query) => [
      `/v1/jobs/changes${query}`,
      `/v1/jobs/skills${query}`,
    ]),
    ...['', '?role=engineer', '?department=nothing-like-it'].map((query) => `/v1/jobs/market${query}`),
  ])('the answer to %s is exactly its closed schema, and the one of the published contract', async (path) => {
    const answer = await buy(path);
    const [route] = DECLARATIONS.filter((declared) => declared.path === path.replace(/\?.*/, ''));
    parsedBody(answer, route!.answer);
    expectPublished(contract, 'GET', route!.path, answer);
  });

  it('every error body is the one of the published contract', async () => {
    for (const [path, status] of [
      ['/v1/jobs/search', '402'],
      ['/v1/jobs/search?limit=0', '400'],
      ['/v1/jobs/search?x=0', '400'],
      ['/v1/jobs/company', '400'],
      ['/v1/jobs/company?company=a.com&period=1d', '400'],
      ['/v1/jobs/company?company=a.com', '402'],
      ['/v1/jobs/signals', '402'],
      ['/v1/jobs/detail', '400'],
      ['/v1/jobs/changes?period=1d', '400'],
      ['/v1/jobs/skills', '402'],
      ['/v1/jobs/market', '402'],
    ] as const) {
      const answer = await jobs.get(path);
      expect(String(answer.status)).toBe(status);
      expectPublished(contract, 'GET', path.replace(/\?.*/, ''), answer);
    }
  });

  it('a search without a match is zero counts and empty arrays, with the facts of the cohort', async () => {
    const { data, meta } = JSON.parse((await buy('/v1/jobs/search?keyword=nothing-like-it')).text);
    expect(data).toEqual({ jobs: [], returned_jobs: 0, limit: 10 });
    expect(meta.coverage).toMatchObject({
      sampled: false,
      candidate_jobs: 0,
      candidate_limit: 10_000,
      candidate_scope: 'monitored catalogue',
    });
    expect(meta.freshness).toEqual({ last_observed_at: daysAgo(1), oldest_last_observed_at: daysAgo(40) });
  });

  it('a search for a company that is not there is empty too, over an empty cohort', async () => {
    const { data, meta } = JSON.parse((await buy('/v1/jobs/search?company=nobody.example')).text);
    expect(data.jobs).toEqual([]);
    expect(meta.coverage).toMatchObject({ candidate_jobs: 0, candidate_scope: 'requested company', sampled: false });
    expect(meta.freshness).toEqual({ last_observed_at: null, oldest_last_observed_at: null });
  });

  it('remote=false is on_site only, and a job is shown field by field', async () => {
    const { data } = JSON.parse((await buy('/v1/jobs/search?remote=false')).text);
    expect(data.jobs).toEqual([
      {
        id: 'a3',
        title: 'Engineer',
        company: 'Acme',
        company_domain: 'acme.example',
        location: 'Oslo',
        remote_status: 'on_site',
        employment_type: 'full_time',
        source_url: 'https://example.com/jobs/1',
        last_observed_at: daysAgo(20),
      },
    ]);
  });

  it('a company is summed up over its active jobs', async () => {
    const { data } = JSON.parse((await buy('/v1/jobs/company?company=ACME.example')).text);
    expect(data).toEqual({
      company: { name: 'Acme', domain: 'acme.example' },
      active_job_count: 3,
      observed_sample_jobs: 3,
      engineering_jobs_in_sample: 2,
      engineering_job_count: 2,
      top_hiring_departments: [
        { department: 'Engineering', observed_job_count: 1 },
        { department: 'Platform Engineering', observed_job_count: 1 },
      ],
      top_requested_skills: [
        { skill: 'rust', observed_job_count: 2, sample_size: 3 },
        { skill: 'go', observed_job_count: 1, sample_size: 3 },
      ],
      last_observed_at: daysAgo(1),
    });
  });

  it('a company with closed jobs only is 200 with zeros, nulls and its latest name', async () => {
    const { data, meta } = JSON.parse((await buy('/v1/jobs/company?company=gone.example')).text);
    expect(data).toEqual({
      company: { name: 'Gone', domain: 'gone.example' },
      active_job_count: 0,
      observed_sample_jobs: 0,
      engineering_jobs_in_sample: 0,
      engineering_job_count: 0,
      top_hiring_departments: [],
      top_requested_skills: [],
      last_observed_at: null,
    });
    expect(meta.coverage).toMatchObject({ candidate_jobs: 0, candidate_scope: 'requested company', sampled: false });
  });

  it('a company that is not in the catalogue is 402 unpaid and 404 paid', async () => {
    const path = '/v1/jobs/company?company=nobody.example';
    expectError(await jobs.get(path), 402, 'PAYMENT_REQUIRED');
    expectError(await jobs.pay(path, await jobs.payment(path, account)), 404, 'COMPANY_NOT_FOUND');
  });

  it('signals are grouped by company, the most recently hiring first', async () => {
    const { data, meta } = JSON.parse((await buy('/v1/jobs/signals')).text);
    expect(data).toMatchObject({ returned_companies: 2, limit: 5, matching_active_jobs: 4, observed_sample_jobs: 4 });
    const [acme, nameless] = data.companies;
    expect(acme).toMatchObject({
      company: { name: 'Acme', domain: 'acme.example' },
      active_jobs: 3,
      observed_sample_jobs: 3,
      recently_observed_jobs: 2,
      hiring_activity_score: 66.67,
      supporting_evidence: { first_observed_jobs: 1, matching_sample_jobs: 3 },
      last_observed_at: daysAgo(1),
    });
    expect(nameless).toMatchObject({
      company: { name: 'Nameless', domain: null },
      recently_observed_jobs: 0,
      hiring_activity_score: 0,
    });
    expect(acme.observation_period).toEqual(meta.observation_period);
    const { start, end, days } = meta.observation_period;
    expect([days, Date.parse(end) - Date.parse(start), end]).toEqual([7, 7 * DAY_MS, meta.generated_at]);
    expect(Date.parse(end)).toBe(time.nowMs());
  });

  it.each(OPERATIONS.filter(({ tag }) => tag === 'service'))(
    '$method $path answers as it declares, without a payment',
    async (route) => {
      const answer = await jobs.send(route.path, { method: route.method });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('payment-required')).toBeNull();
      const isJson = /[/+]json$/.test(route.answerType ?? 'application/json');
      if (isJson && route.method === 'GET') parsedBody(answer, route.answer);
      expectPublished(contract, route.method, route.path, answer);
    },
  );

  it.each(['/health', '/ready', '/openapi.json', '/metrics', '/llms.txt', '/.well-known/x402'])(
    'POST %s is 405 with Allow: GET',
    async (path) => {
      const answer = await jobs.send(path, { method: 'POST' });
      expectError(answer, 405, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.get('allow')).toBe('GET');
    },
  );
});
