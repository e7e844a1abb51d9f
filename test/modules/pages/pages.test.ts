/** The pages as answers: who gets them, what they carry, and that nothing else has changed by their being there. */
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { observationDays } from '../../../src/catalogue/questions/observation-days.ts';
import { openSnapshot } from '../../../src/catalogue/snapshot/snapshot.ts';
import { createPaygrade, type Paygrade } from '../../../src/index.ts';
import { buildSample, sampleSource } from '../../../src/ingest/synth/sample.ts';
import { acceptsHtml } from '../../../src/modules/pages/accepts-html.ts';
import { ageOf } from '../../../src/modules/pages/home.ts';
import { html } from '../../../src/modules/pages/html.ts';
import { PAGE_PATHS, PAGE_ROUTES } from '../../support/declared.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const PAGES = [...PAGE_PATHS];

describe('a request for a page', () => {
  it.each([
    [BROWSER, true, 'a browser'],
    ['text/html', true, 'it is named'],
    ['TEXT/HTML ; Level=1', true, 'types have no case'],
    ['application/json;q=0.5, text/html', true, 'it weighs more than JSON'],
    ['application/json, text/html', true, 'it weighs as much as JSON'],
    ['application/json, text/html;q=0.5', false, 'it weighs less than JSON'],
    ['text/html;q=0', false, 'a weight of nothing is a refusal'],
    ['text/html;q=0.000', false, 'a weight of nothing is a refusal'],
    ['*/*', true, 'curl takes anything'],
    ['text/*', true, 'it is a text'],
    ['*/*;q=0', false, 'a weight of nothing is a refusal'],
    ['text/*;q=0, */*', false, 'no text, whatever else'],
    ['text/html;q=0, */*', false, 'anything but a page'],
    ['application/json', false, 'a program'],
    ['application/json, text/plain, */*', false, 'a program that names JSON alone'],
    ['text/htmlx', false, 'another type'],
    ['', false, 'nothing is asked for'],
    [null, false, 'there is no header'],
  ])('Accept %j: %s, because %s', (accept, isPage, _because) => {
    expect(acceptsHtml(accept)).toBe(isPage);
  });
});

describe('pages', () => {
  let app: Paygrade;
  beforeAll(async () => {
    app = await createPaygrade({
      stateDir: ':memory:',
      baseUrl: 'https://api.example.com/pay',
      adminToken: 'a'.repeat(32),
      catalogue: 'a-folder-that-may-come',
    });
  });
  afterAll(() => app.close());
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    app.fetch(new Request(`http://h${path}`, { method, headers }));

  it.each(PAGES)('%s is a page for a browser, under a strict policy', async (path) => {
    const response = await get(path, { accept: BROWSER });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('vary')).toBe('Accept');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).toContain("form-action 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(policy.includes('require-trusted-types-for')).toBe(path !== '/docs');
    const text = await response.text();
    expect(text).not.toMatch(/<script(?![^>]* src=")[^>]*>|<style|\son[a-z]+=|\sstyle=|javascript:/i);
  });

  it.each(PAGES)('%s is unknown to a program', async (path) => {
    const unknown = (await (await get('/nothing')).json()) as { error: { code: string; message: string } };
    for (const [method, accept] of [
      ['GET', 'application/json'],
      ['GET', 'application/json, text/plain, */*'],
      ['POST', 'application/json'],
      ['HEAD', 'application/json'],
      ['OPTIONS', 'application/json'],
    ] as const) {
      const response = await get(path, { accept }, method);
      expect([method, response.status]).toEqual([method, 404]);
      expect(response.headers.get('vary')).toBe('Accept');
      expect(response.headers.get('cache-control')).toBe('no-store');
      if (method === 'HEAD') continue;
      const { error } = (await response.json()) as { error: Record<string, string> };
      expect({ ...error, request_id: '' }).toEqual({ ...unknown.error, request_id: '' });
    }
    expect((await get(path)).status).toBe(404);
    expect((await get(path, { accept: '*/*' })).headers.get('content-type')).toBe('text/html; charset=utf-8');
    const posted = await get(path, { accept: BROWSER }, 'POST');
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  });

  it('are in no document for programs', async () => {
    const contract = (await (await get('/openapi.json')).json()) as { paths: Record<string, unknown> };
    expect(Object.keys(contract.paths).filter((path) => PAGE_PATHS.has(path) || path.startsWith('/pages/'))).toEqual(
      [],
    );
    expect(PAGE_ROUTES.every(({ access }) => access.length === 0)).toBe(true);
  });

  it.each(PAGES)('%s refers to existing files by relative addresses', async (path) => {
    const text = await (await get(path, { accept: BROWSER })).text();
    const files = [...text.matchAll(/(?:href|src)="(pages\/[^"]+)"/g)].map(([, file]) => file as string);
    expect(files.length).toBeGreaterThan(2);
    expect(text).not.toMatch(/(?:href|src)="\//);
    for (const file of files) {
      const response = await get(`/${file}`);
      expect([file, response.status]).toEqual([file, 200]);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      // A module's own imports are relative to it, and so under the same digest.
      const imports = [...(await response.text()).matchAll(/^import .* from '\.\/([^']+)';$/gm)];
      for (const [, name] of imports) {
        expect((await get(`/${file.slice(0, file.lastIndexOf('/'))}/${name}`)).status).toBe(200);
      }
    }
  });

  it('files are sent whole, compressed or as 304, by their tags', async () => {
    const home = await (await get('/', { accept: BROWSER })).text();
    const path = `/${/pages\/[^"]+style\.css/.exec(home)?.[0]}`;
    const plain = await get(path);
    const packed = await get(path, { 'accept-encoding': 'br, gzip' });
    const bytes = new Uint8Array(await plain.arrayBuffer());
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('vary')).toBe('Accept-Encoding');
    expect(Uint8Array.from(gunzipSync(new Uint8Array(await packed.arrayBuffer())))).toEqual(bytes);
    expect(packed.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    expect((await get(path, { 'accept-encoding': 'gzip;q=0' })).headers.get('content-encoding')).toBeNull();
    for (const tag of [plain, packed].map((response) => response.headers.get('etag') ?? '')) {
      const again = await get(path, { 'if-none-match': `W/${tag}` });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    expect((await get(path, { 'if-none-match': '"another"' })).status).toBe(200);
  });

  it('a page from before an upgrade gets the current files, without permission to cache them', async () => {
    const response = await get('/pages/0123456789/style.css');
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache']);
  });

  it.each(['nothing.js', '..%2f..%2fpackage.json', 'tsconfig.json', '__proto__', 'constructor'])(
    'the file %s is not there',
    async (name) => {
      const response = await get(`/pages/0123456789/${name}`);
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('application/json');
    },
  );

  it('show the operations with the prices of the declarations, and the facts of the catalogue', async () => {
    const text = await (await get('/', { accept: BROWSER })).text();
    for (const [path, price] of [
      ['/v1/jobs/search', '0.02'],
      ['/v1/jobs/company', '0.05'],
      ['/v1/jobs/signals', '0.09'],
      ['/v1/jobs/detail', '0.02'],
      ['/v1/jobs/changes', '0.05'],
      ['/v1/jobs/skills', '0.05'],
      ['/v1/jobs/market', '0.09'],
      ['/v1/callbacks', '0.01'],
    ]) {
      expect(text).toMatch(new RegExp(`${path}[^]{0,400}>${price} `));
    }
    const sample = openSnapshot(sampleSource(buildSample(Date.now())));
    expect(text).toContain(`<dd>${sample.activeCount.toLocaleString('en-US')}<`);
    expect(text).toContain(`<dd>${sample.companyCount}<`);
    expect(text).toContain('made up');
    expect(text).toContain('https://api.example.com/pay/v1/jobs/search?keyword=data+engineer');
    expect(text.match(/<rect /g)).toHaveLength(30);
  });

  it('show what each further surface sells and for what, and keys only where there are any', async () => {
    const every = await createPaygrade({ stateDir: ':memory:', snapshot: 'none', baseUrl: 'http://127.0.0.1:8402' });
    const text = await (await every.fetch(new Request('http://h/', { headers: { accept: BROWSER } }))).text();
    await every.close();
    const sectionOf = (name: string): string =>
      new RegExp(`<section aria-labelledby="surface-${name}">[^]*?</section>`).exec(text)?.[0] ?? '';
    const [data, retry, resolve] = ['data', 'retry', 'resolve'].map(sectionOf) as [string, string, string];
    expect(data).toContain('Bearer $KEY" \'http://127.0.0.1:8402/data/v1/jobs/search?');
    expect(data).toContain('next_cursor');
    expect(retry).toMatch(/POST \/v1\/retries<[\s\S]{0,60}>0\.02 <span class="unit">USDC<\/span> or 1 <span/);
    expect(retry).toContain('Keys and credits come from the operator');
    expect(resolve).toMatch(/POST \/v1\/resolve<[\s\S]{0,60}>0\.03 <span/);
    expect(resolve).not.toContain('Keys and credits');
    for (const section of [retry, resolve]) expect(section).not.toMatch(/next_cursor|curl/);
  });

  it.each([
    [['resolve'], 'Answers over HTTP', 'receive the answer', true, false],
    [['retry'], 'Answers over HTTP', 'receive the answer', true, true],
    [['callbacks'], 'Webhook addresses', 'receive an address for webhooks', true, false],
    [['data'], 'Jobs, companies and history', 'the Jobs Data API', false, true],
  ] as const)('name no product that a server of %j lacks, and how those it has are bought', async (...row) => {
    const [surfaces, heading, lead, isPaid, hasKeys] = row;
    const other = await createPaygrade({ stateDir: ':memory:', snapshot: 'none', surfaces });
    const [home = '', reference = ''] = await Promise.all(
      ['/', '/docs'].map(async (path) =>
        (await other.fetch(new Request(`http://h${path}`, { headers: { accept: BROWSER } }))).text(),
      ),
    );
    await other.close();
    expect(home).toContain(`<h1>${heading}`);
    expect(/<p class="lead">([\s\S]*?)<\/p>/.exec(home)?.[1]).toContain(lead);
    expect(home.includes('<strong>Play money.</strong>')).toBe(isPaid);
    expect(reference.includes('<code>PAYMENT-SIGNATURE</code>')).toBe(isPaid);
    expect(reference.includes('Bearer svc_key_')).toBe(hasKeys);
  });

  it('keep the Vary of the whole server', async () => {
    const other = await createPaygrade({
      stateDir: ':memory:',
      snapshot: 'none',
      corsOrigin: 'https://app.example.com',
    });
    const page = await other.fetch(new Request('http://h/inbox', { headers: { accept: BROWSER } }));
    expect(page.headers.get('vary')).toBe('Origin, Accept');
    expect((await other.fetch(new Request('http://h/inbox'))).headers.get('vary')).toBe('Origin, Accept');
    const home = await other.fetch(new Request('http://h/', { headers: { accept: BROWSER } }));
    const text = await home.text();
    expect(text).toContain('This server has no catalogue');
    expect(text).toContain("curl -i -X POST 'http://127.0.0.1:8402/v1/callbacks'");
    await other.close();
  });
});

describe('the parts of pages', () => {
  it('escape everything except the result of a template', () => {
    const hostile = `<script>"&'</script>`;
    const escaped = '&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;';
    expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(`<p title="${escaped}">${escaped}</p>`);
    expect(html`${[html`<b>${hostile}</b>`, hostile, 1, undefined]}`.text).toBe(`<b>${escaped}</b>${escaped}1`);
  });

  it.each([
    [0, 'less than a minute ago'],
    [59_999, 'less than a minute ago'],
    [60_000, '1 minute ago'],
    [7_199_999, '1 hour ago'],
    [172_800_000, '2 days ago'],
    [-1, 'in the future'],
  ])('tells an age of %i ms as %s', (ageMs, text) => {
    expect(ageOf(1_000_000_000_000, 1_000_000_000_000 + ageMs)).toBe(text);
  });

  it('counts observations by day as a count over all rows does', () => {
    const snapshot = openSnapshot(sampleSource(buildSample(Date.UTC(2026, 7, 21, 15, 30))));
    const days = observationDays(snapshot, 30);
    const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
    const expected = new Map<string, number>();
    for (const ms of snapshot.lastObserved) expected.set(dayOf(ms), (expected.get(dayOf(ms)) ?? 0) + 1);
    const found = Array.from(days?.counts ?? [], (count, i) => [
      dayOf((days?.firstDayMs ?? 0) + i * 86_400_000),
      count,
    ]);
    expect(found).toHaveLength(30);
    expect(found.at(-1)?.[0]).toBe(dayOf(snapshot.newestObservedMs ?? 0));
    for (const [day, count] of found) expect([day, count]).toEqual([day, expected.get(day as string) ?? 0]);
  });
});
