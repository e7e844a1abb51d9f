/** The documents by which programs find what is sold: each names every route that it is about, as the server serves it. */
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BazaarBlock, exampleSearchOf } from '../../src/access/x402-discovery.ts';
import { SURFACE_NAMES } from '../../src/config/surfaces.ts';
import { x402Listing } from '../../src/modules/service/x402-listing.ts';
import { type DeclaredSurface, HOOK_URL, isPaid, OPERATIONS, OTHER_SURFACES, TAGS } from '../support/declared.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { publishedContract } from '../support/published.ts';
import { decodeHeader, type PaymentRequired } from '../support/wallet.ts';

const BASE_URL = 'https://shop.example/api';
const PAID_ROUTES = OPERATIONS.filter(isPaid);
const SECTIONS = [...Object.keys(TAGS), ...OTHER_SURFACES.map(({ title }) => title)];
/** Of another surface the base's documents have what it sells, not what it says of itself. */
const productsOf = ({ operations }: DeclaredSurface) => operations.filter(({ tag }) => tag !== 'service');
const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

interface Linkset {
  readonly linkset: readonly (Readonly<Record<string, readonly { readonly href: string; readonly type?: string }[]>> & {
    readonly anchor: string;
  })[];
}

describe(`discovery, under ${RUNTIME}`, () => {
  let jobs: JobsApp;
  beforeAll(async () => {
    jobs = await openJobsApp({ BASE_URL, HOOK_BASE_URL: HOOK_URL, SURFACES: SURFACE_NAMES.join(',') });
  });
  afterAll(async () => {
    await jobs.close();
  });

  it('the contract, the paid listing and the text for language models name the same routes, and no other', async () => {
    const routes = OPERATIONS.map(({ method, path }) => `${method} ${templateOf(path)}`);
    const { paths } = publishedContract().contract;
    const inContract = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(inContract.sort()).toEqual([...routes].sort());
    const { text } = await jobs.get('/llms.txt');
    const inText = [...text.matchAll(/^- \[([A-Z]+ [^\]]+)\]\(([^)]+)\)/gm)].map(([, name, url]) => `${name} ${url}`);
    const ofBase = OPERATIONS.map(({ method, path }) => {
      const template = templateOf(path);
      return `${method} ${template} ${path.startsWith('/hooks/') ? HOOK_URL : BASE_URL}${template}`;
    });
    const ofOthers = OTHER_SURFACES.flatMap((surface) =>
      productsOf(surface).map(({ method, path }) => {
        const template = templateOf(path);
        return `${method} ${template} ${BASE_URL}${surface.path}${template}`;
      }),
    );
    expect(ofOthers.length).toBeGreaterThan(10);
    expect(inText.sort()).toEqual([...ofBase, ...ofOthers].sort());
  });

  it('every route that is named answers as itself', async () => {
    for (const { method, path, operation } of OPERATIONS) {
      const target = path.replace(/:(\w+)/g, 'x');
      const response = await jobs.transport.fetch(target, { method });
      expect([404, 405].includes(response.status) && operation !== 'paymentStatus', `${method} ${path}`).toBe(false);
    }
  });

  it('/.well-known/x402 lists every paid route with the very offer that it makes', async () => {
    const answer = await jobs.get('/.well-known/x402');
    const listing = v.parse(x402Listing.answer, JSON.parse(answer.text)) as {
      version: number;
      resources: string[];
      items: { resource: string; method: string; accepts: unknown[]; extensions: unknown; description: string }[];
    };
    const paid = [
      ...PAID_ROUTES.map((route) => ({ route, target: route.path })),
      ...OTHER_SURFACES.flatMap(({ path, operations }) =>
        operations.filter(isPaid).map((route) => ({ route, target: path + route.path })),
      ),
    ];
    expect(paid.map(({ target }) => target)).toEqual(
      expect.arrayContaining(['/retry/v1/retries', '/resolve/v1/resolve']),
    );
    expect(listing.resources).toEqual(paid.map(({ target }) => BASE_URL + target));
    expect(listing.items.map(({ resource, method }) => [method, resource])).toEqual(
      paid.map(({ route, target }) => [route.method, BASE_URL + target]),
    );
    for (const [index, { route, target }] of paid.entries()) {
      const { bazaar } = listing.items[index]!.extensions as { bazaar: BazaarBlock };
      expect(validateDiscoveryExtension(bazaar as never)).toEqual({ valid: true });
      expect(validateDiscoveryExtensionSpec(bazaar as never)).toMatchObject({ valid: true });
      const { body } = bazaar.info.input as { body?: unknown };
      const response = await jobs.transport.fetch(target + exampleSearchOf(route), {
        method: route.method,
        ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      expect(response.status).toBe(402);
      const offer = decodeHeader<PaymentRequired>(response.headers.get('payment-required'));
      const { accepts, extensions, description } = listing.items[index]!;
      expect({ accepts, extensions, description }).toEqual({
        accepts: offer.accepts,
        extensions: offer.extensions,
        description: offer.resource.description,
      });
    }
  });

  it('/.well-known/api-catalog is a link set that leads to documents which are there', async () => {
    const answer = await jobs.get('/.well-known/api-catalog');
    expect(answer.headers.get('content-type')).toBe(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    );
    const { linkset } = JSON.parse(answer.text) as Linkset;
    expect(linkset.map(({ anchor }) => anchor)).toEqual([
      `${BASE_URL}/.well-known/api-catalog`,
      `${BASE_URL}/`,
      ...OTHER_SURFACES.map(({ path }) => `${BASE_URL}${path}/`),
    ]);
    const [catalogue, api, ...others] = linkset;
    const items = (catalogue?.item ?? []).map(({ href }) => href);
    expect(items[0]).toBe(`${BASE_URL}/`);
    for (const { path } of PAID_ROUTES) expect(items).toContain(BASE_URL + path);
    for (const surface of OTHER_SURFACES) {
      const fixed = productsOf(surface).filter(({ path }) => !path.includes(':'));
      for (const { path } of fixed) expect(items).toContain(BASE_URL + surface.path + path);
    }
    expect(Object.keys(api ?? {}).sort()).toEqual(['anchor', 'service-desc', 'service-doc', 'service-meta', 'status']);
    for (const relation of ['service-desc', 'service-doc', 'service-meta', 'status']) {
      for (const { href, type } of [api, ...others].flatMap((one) => one?.[relation] ?? [])) {
        const document = await jobs.get(href.slice(BASE_URL.length));
        expect([href, document.status]).toEqual([href, 200]);
        expect(document.headers.get('content-type')?.split(';')[0]).toBe(type);
      }
    }
  });

  it('/llms.txt says what each route costs and takes, in sections by tag', async () => {
    const answer = await jobs.get('/llms.txt');
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.text).toMatch(/^# paygrade\n\n> \S/);
    expect([...answer.text.matchAll(/^## (.+)$/gm)].map(([, section]) => section)).toEqual(SECTIONS);
    const line = (name: string): string => answer.text.split('\n').find((one) => one.startsWith(`- [${name}]`)) ?? '';
    expect(line('GET /v1/jobs/signals')).toMatch(/Costs 0\.09 USDC\..*`role`: 2 to 80 characters/);
    expect(line('GET /v1/jobs/company')).toContain('`company` (required)');
    expect(line('GET /v1/callbacks/{id}/events')).toContain('Authorization: Bearer');
    expect(line('POST /hooks/{callback_id}')).toContain('Free.');
    expect(line('GET /v1/history')).toMatch(/scope `jobs:read`\. Costs 1 credit for each record.*`since`: /);
    expect(line('GET /v1/companies/{domain}')).toMatch(/scope `companies:read`\. Costs 2 credits\./);
    expect(line('POST /v1/retries')).toMatch(/ With an API key: costs 1 credit\./);
    expect(line('GET /v1/public/search')).toContain('Free.');
    expect(answer.text).toContain('GET /v1/jobs?limit=100&cursor=');
  });

  it('the contract of the base links those of the other surfaces, and those link nothing', async () => {
    const descriptionAt = async (path: string): Promise<string> =>
      (JSON.parse((await jobs.get(path)).text) as { info: { description: string } }).info.description;
    for (const { path, title } of OTHER_SURFACES) {
      expect(await descriptionAt('/openapi.json')).toContain(`[${title}](${BASE_URL}${path}/openapi.json)`);
      expect(await descriptionAt(`${path}/openapi.json`)).not.toContain('openapi.json');
    }
  });
});
