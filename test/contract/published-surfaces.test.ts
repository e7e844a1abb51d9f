/**
 * The contracts of the surfaces beside the base against what they serve: what is listed, what is asked for, and the answers to
 * the examples.
 */
import { validate } from '@readme/openapi-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKey } from '../../src/access/api-key.ts';
import { creditsOf } from '../../src/access/credits.ts';
import { SURFACE_NAMES } from '../../src/config/surfaces.ts';
import { waysIn } from '../../src/http/access.ts';
import type { Operation } from '../../src/http/operation.ts';
import { type DeclaredSurface, OTHER_SURFACES } from '../support/declared.ts';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';
import { type Contract, publishedAt } from '../support/published.ts';

/** One for all: each compiles the schema of schemas anew. */
const checker = new Ajv2020({ strict: false });

const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

const KEY_SCHEME = apiKey('jobs:read').documentation.security?.name ?? '';

const scopesOf = ({ access }: Operation): readonly string[] =>
  waysIn(access).flatMap(({ documentation }) => documentation.security?.scopes ?? []);

const PRIVATE = { required: true, schema: { const: 'private, no-store' } };

/** Whether it asks for a key or for nothing: what asks for a payment or a token of its own has tests of its own. */
const isOfKeys = ({ access, method }: Operation): boolean =>
  method === 'GET' &&
  waysIn(access).every(({ documentation: { security } }) => security === undefined || security.name === KEY_SCHEME);

/** The address of an operation with its example. */
function exampleOf({ path, examples }: Operation): string {
  const { params = {}, query = {} } = examples ?? {};
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const pairs = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return pairs.length === 0 ? filled : `${filled}?${new URLSearchParams(pairs)}`;
}

const addressOf = (length: number): string => 'https://api.example.com/'.padEnd(length, 'a');
const retryOf = (request: object, more: object = {}) => ({
  path: '/v1/retries',
  body: { request: { method: 'POST', url: addressOf(2048), ...request }, ...more },
});
const resolveOf = (members: object) => ({ path: '/v1/resolve', body: { url: addressOf(2048), ...members } });
const headersOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, '']));

/** Bodies with a member at its bound, and just beyond it (siblings §5 to §7). */
const BOUNDS = [
  { status: 402, because: 'an address of 2048 characters', ...retryOf({}) },
  { status: 400, because: 'an address of 2049 characters', ...retryOf({ url: addressOf(2049) }) },
  { status: 402, because: 'a callback address of 2048', ...retryOf({}, { callback_url: addressOf(2048) }) },
  { status: 400, because: 'a callback address of 2049', ...retryOf({}, { callback_url: addressOf(2049) }) },
  { status: 402, because: '50 headers', ...retryOf({ headers: headersOf(50) }) },
  { status: 400, because: '51 headers', ...retryOf({ headers: headersOf(51) }) },
  { status: 402, because: 'an address of 2048 characters', ...resolveOf({}) },
  { status: 400, because: 'an address of 2049 characters', ...resolveOf({ url: addressOf(2049) }) },
  { status: 402, because: 'each part once', ...resolveOf({ include: ['metadata', 'text', 'links'] }) },
  { status: 400, because: 'one part twice', ...resolveOf({ include: ['text', 'text'] }) },
];

describe.each(OTHER_SURFACES)(`the contract of $title, under ${RUNTIME}`, (surface: DeclaredSurface) => {
  const { path: mount, title, operations, tags } = surface;
  let opened: OpenedApp;
  let contract: Contract;
  const listed = ({ path, method }: Operation) => contract.paths[templateOf(path)]?.[method.toLowerCase()];
  const get = (path: string, key?: string): Promise<Response> =>
    opened.fetch(mount + path, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } });
  beforeAll(async () => {
    opened = await openedApp({ BASE_URL: 'https://shop.example/api', SURFACES: SURFACE_NAMES.join(',') });
    contract = (await (await get('/openapi.json')).json()) as Contract;
  });
  afterAll(() => opened.close());

  it('is the one that the suite holds every response against', () => {
    const { info: _, ...served } = contract;
    const { info: __, ...ours } = publishedAt(surface).contract;
    expect(served).toEqual(ours);
  });

  it('lists every operation once, under the address of the surface', () => {
    expect([contract.info.title, contract.servers]).toEqual([title, [{ url: `https://shop.example/api${mount}` }]]);
    expect(contract.tags.map(({ name }) => name)).toEqual(Object.keys(tags));
    for (const operation of operations) {
      const found = listed(operation);
      expect(found?.operationId, operation.path).toBe(operation.operation);
      const inQuery = (found?.parameters ?? []).filter((parameter) => parameter.in === 'query');
      expect(inQuery.map(({ name }) => name)).toEqual(Object.keys(operation.query?.entries ?? {}));
    }
    expect(Object.values(contract.paths).flatMap((item) => Object.keys(item))).toHaveLength(operations.length);
    expect(new Set(operations.map(({ operation }) => operation)).size).toBe(operations.length);
  });

  it('passes a validator of OpenAPI, and each of its schemas is JSON Schema 2020-12 that its example satisfies', async () => {
    expect(await validate(structuredClone(contract) as never)).toMatchObject({ valid: true, warnings: [] });
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const [path, item] of Object.entries(contract.paths)) {
      for (const { parameters = [], responses } of Object.values(item)) {
        for (const { name, in: place, description, schema, example } of parameters) {
          expect(ajv.validateSchema(schema), `${path} ${name}`).toBe(true);
          if (place === 'query') expect(description, `${path} ${name}`).toMatch(/\S.*\.$/);
          if (place === 'path') expect(example, `${path} ${name}`).toBeDefined();
          if (example !== undefined) expect(ajv.validate(schema, example), `${path} ${name}`).toBe(true);
        }
        for (const [status, { content = {} }] of Object.entries(responses)) {
          for (const { schema = {}, example } of Object.values(content)) {
            expect(ajv.validateSchema(schema), `${path} ${status}`).toBe(true);
            if (example !== undefined) expect(ajv.validate(schema, example), `${path} ${status}`).toBe(true);
          }
        }
      }
    }
  });

  it('has an example of every answer that is no document', () => {
    for (const operation of operations) {
      const { answer, relation, examples, path } = operation;
      if (relation === 'service-desc') continue;
      expect(v.safeParse(answer, examples?.answer).issues, path).toBeUndefined();
      const success = listed(operation)?.responses[String(operation.status ?? 200)];
      expect(success?.content?.['application/json']?.example, path).toEqual(examples?.answer);
      for (const [status, schema] of Object.entries(operation.otherAnswers ?? {})) {
        const example = listed(operation)?.responses[status]?.content?.['application/json']?.example;
        expect(v.safeParse(schema, example).issues, `${path} ${status}`).toBeUndefined();
      }
    }
  });

  it('requires a body where a request without one is refused', async () => {
    for (const operation of operations.filter(({ bodies }) => bodies !== undefined)) {
      const { status } = await opened.fetch(mount + operation.path, { method: operation.method });
      expect(listed(operation)?.requestBody?.required, operation.path).toBe(status === 400);
    }
  });

  it.each(BOUNDS.filter(({ path }) => operations.some((one) => one.path === path)))(
    'says by schema as by status $status what $because in the body of $path are',
    async ({ path, body, status }) => {
      const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      expect((await opened.fetch(mount + path, sent)).status).toBe(status);
      const schema = contract.paths[path]?.post?.requestBody?.content['application/json']?.schema;
      expect(checker.validate(schema ?? {}, body)).toBe(status === 402);
    },
  );

  it('says of every operation which scope and credits it asks for, and how much it cost', () => {
    for (const operation of operations.filter(isOfKeys)) {
      const { path } = operation;
      const published = listed(operation);
      const scopes = scopesOf(operation);
      expect(published?.security, path).toEqual(scopes.length === 0 ? undefined : [{ [KEY_SCHEME]: scopes }]);
      const cost = creditsOf(operation.access);
      const credits = cost === 'record' ? { per_record: 1 } : cost && { per_answer: cost };
      expect(published?.['x-credits'], path).toEqual(credits);
      const statuses = Object.keys(published?.responses ?? {});
      const keyed = ['401', '402', '403'].filter((status) => statuses.includes(status));
      expect(keyed, path).toEqual(scopes.length === 0 ? [] : ['401', ...(cost === undefined ? [] : ['402']), '403']);
      const headers = published?.responses[String(operation.status ?? 200)]?.headers ?? {};
      const always = ['X-Credits-Charged', 'X-Credits-Remaining'].filter((name) => headers[name]?.required);
      expect(always, path).toHaveLength(cost === undefined ? 0 : 2);
    }
  });

  it.each(operations.filter(({ path }) => path === '/v1/metrics/hiring'))(
    'lists eight days of a period in $path',
    (one) => {
      const answer = listed(one)?.responses['200']?.content?.['application/json'];
      expect(answer).toMatchObject({
        schema: { properties: { data: { properties: { by_day: { minItems: 8, maxItems: 8 } } } } },
      });
    },
  );

  it('asks no credits of a request without a key, where that may pay otherwise', () => {
    const mixed = operations.filter((one) => !isOfKeys(one) && creditsOf(one.access) !== undefined);
    expect(mixed.map(({ path }) => path)).toEqual(mount === '/retry' ? ['/v1/retries'] : []);
    for (const operation of mixed) {
      const { headers } = listed(operation)?.responses[String(operation.status)] ?? {};
      expect(headers?.['X-Credits-Charged']).toMatchObject({ required: false });
    }
  });

  it('names a repeated parameter as a fault only where there are parameters', () => {
    for (const operation of operations.filter(({ query }) => query !== undefined)) {
      const schema = JSON.stringify(listed(operation)?.responses['400']);
      const takesSome = Object.keys(operation.query?.entries ?? {}).length > 0;
      expect(schema.includes('"DUPLICATE_PARAMETER"'), operation.path).toBe(takesSome);
    }
  });

  it('lists a path that cannot be decoded as unknown', async () => {
    for (const { path } of operations.filter(({ decodesParams }) => decodesParams === true)) {
      // The transport judges the answer by the document.
      const answer = await get(path.replace(/:\w+/, '%ff'));
      expect([answer.status, await answer.json()], path).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
    }
  });

  it('refuses an empty parameter, in its schema as in the answer', async () => {
    for (const operation of operations) {
      for (const { name, in: place, schema } of listed(operation)?.parameters ?? []) {
        if (place !== 'query') continue;
        const [target] = exampleOf(operation).split('?');
        expect((await get(`${target}?${name}=`, opened.app.demoKey)).status, `${target} ${name}`).toBe(400);
        expect(checker.validate(schema, ''), `${target} ${name}`).toBe(false);
      }
    }
  });

  it('says that no cache may store an answer for one requester', () => {
    for (const operation of operations) {
      const isPrivate = waysIn(operation.access).some((way) => way.isPrivate);
      const headers = listed(operation)?.responses[String(operation.status ?? 200)]?.headers ?? {};
      if (isPrivate) expect(headers, operation.path).toMatchObject({ 'Cache-Control': PRIVATE });
    }
  });

  it('explains cursors with a chain, where there are any', () => {
    const hasCursors = operations.some(({ query }) => query !== undefined && 'cursor' in query.entries);
    const { description } = contract.info as unknown as { description: string };
    expect(/&cursor=\S+.*"next_cursor": null/.test(description)).toBe(hasCursors);
  });

  it.each(operations.filter(isOfKeys).map((operation) => ({ operation, path: operation.path })))(
    '$path answers its example, with a key and without one, as published',
    async ({ operation }) => {
      // The transport judges each answer by the document that the first test compares.
      const target = exampleOf(operation);
      const isKeyed = scopesOf(operation).length > 0;
      expect((await get(target)).status).toBe(isKeyed ? 401 : 200);
      if (!isKeyed) return;
      const answer = await get(target, opened.app.demoKey);
      // The example's company and job are not in the sample.
      expect(answer.status).toBe(/:(?:id|domain)/.test(operation.path) ? 404 : 200);
      expect((await get(`${target.split('?')[0]}?page=2`, opened.app.demoKey)).status).toBe(400);
    },
  );
});
