/** The pages in a real browser, served by real processes under both runtimes. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AXE_TIMEOUT_MS,
  axeViolations,
  CHROMIUM,
  isWiderThanWindow,
  LOOKS,
  openPage,
  type WatchedPage,
} from '../support/browser.ts';
import { binaryOf, oneRuntime, PROJECT, type RunningServer, startServer } from '../support/server.ts';
import { IS_WHOLE } from '../support/whole.ts';

describe.skipIf(CHROMIUM === undefined).each(oneRuntime('node'))('the pages of a server under %s', (runtime) => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer(runtime);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  /** A page that has loaded: no word on the console, everything from its own origin, which is told no page. */
  async function expectOwnAndQuiet({ page, faults, requests }: WatchedPage): Promise<void> {
    await page.waitForLoadState('networkidle');
    expect(faults).toEqual([]);
    expect(requests.filter(({ url }) => !url.startsWith(`${server.url}/`))).toEqual([]);
    expect(requests.filter(({ headers }) => (headers.referer ?? '') !== '')).toEqual([]);
    expect(await page.locator('h1').count()).toBe(1);
  }

  it.each(['/', '/inbox'])('%s loads without a word on the console and from its own origin alone', async (path) => {
    const watched = await openPage();
    await watched.page.goto(server.url + path);
    await expectOwnAndQuiet(watched);
    await watched.close();
  });

  it('a visitor who comes again fetches the pages and nothing that they are made of', async () => {
    const { page, close } = await openPage({}, true);
    await page.goto(`${server.url}/`);
    await page.goto(`${server.url}/inbox`);
    const sizes = await page.evaluate(async () => {
      const files = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      return files.filter(({ name }) => name.includes('style.css')).map(({ transferSize }) => transferSize);
    });
    expect(sizes).toEqual([0]);
    await close();
  });

  it('the current page and the time left stay visible in the contrast mode of the system', async () => {
    const { page, close } = await openPage({ forcedColors: 'active' });
    await page.goto(`${server.url}/inbox`);
    const links = page.locator('.site-header nav a');
    const lines = await links.evaluateAll((all) => all.map((link) => getComputedStyle(link).borderBottomStyle));
    expect(lines).toEqual(['none', 'none', 'solid']);
    const [bar, paper] = await page.evaluate(() =>
      ['#time-bar', 'body'].map((name) => getComputedStyle(document.querySelector(name)!).backgroundColor),
    );
    expect(bar).not.toBe(paper);
    await close();
  });

  it('the reference does not blame the installation for a library that was lost on the way', async () => {
    const { page, close } = await openPage();
    await page.route('**/reference.js', (route) => route.abort());
    await page.goto(`${server.url}/docs`);
    await page.locator('#reference-state', { hasText: 'did not load, or is not installed' }).waitFor();
    await close();
  });

  it.each(['/docs', '/inbox'])('%s without scripts waits for nothing and offers nothing to fill in', async (path) => {
    const { page, close } = await openPage({ javaScriptEnabled: false }, true);
    await page.goto(server.url + path);
    expect(await page.locator('.note').isVisible()).toBe(true);
    expect(await page.locator('form, #reference-state').isVisible()).toBe(false);
    await close();
  });

  it('the overview links to what is there', async () => {
    const { page, close } = await openPage();
    await page.goto(`${server.url}/`);
    const links = await page.$$eval('a[href]', (found) => found.map((link) => (link as HTMLAnchorElement).href));
    const own = [...new Set(links)].filter((link) => link.startsWith(server.url) && !link.includes('#'));
    expect(own.length).toBeGreaterThan(4);
    for (const link of own) {
      const { status } = await fetch(link, { headers: { accept: 'text/html,*/*;q=0.8' } });
      expect([link, status]).toEqual([link, 200]);
    }
    await close();
  });

  it('the script that the overview shows buys an answer', async () => {
    const { page, close } = await openPage();
    await page.goto(`${server.url}/`);
    const script = await page.locator('#client').innerText();
    await close();
    const { stdout } = await promisify(execFile)(binaryOf('node'), ['--input-type=module', '-e', script], {
      cwd: PROJECT,
      env: { PATH: process.env.PATH },
    });
    const [first = '', ...rest] = stdout.split('\n');
    expect(first).toMatch(/^200 [A-Za-z0-9+/=]{100,}$/);
    const answer = JSON.parse(rest.join('\n')) as {
      meta: { product: string; coverage: object; limitations: string[] };
    };
    expect(answer.meta.product).toBe('SERVICE JOBS INTELLIGENCE');
    expect(answer.meta.limitations.length).toBeGreaterThan(0);
  });

  it.each([
    ['/docs#findSignals', '/openapi.json', ['0.09 USDC', 'PAYMENT_ALREADY_USED']],
    [
      '/docs?surface=data#listHistory',
      '/data/openapi.json',
      ['jobs:read', '1 credit a record', 'INSUFFICIENT_CREDITS'],
    ],
  ])('the reference %s loads as quietly and shows every operation of %s, with its terms', async (...row) => {
    const [path, contractPath, texts] = row;
    const watched = await openPage();
    const { page, faults, close } = watched;
    await page.goto(server.url + path);
    await page.waitForSelector('.opblock.is-open');
    await expectOwnAndQuiet(watched);
    expect(await page.locator('#contract').evaluate((link) => (link as HTMLAnchorElement).href)).toBe(
      server.url + contractPath,
    );
    const contract = (await (await fetch(server.url + contractPath)).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const operations = Object.values(contract.paths).flatMap((methods) =>
      Object.keys(methods).filter((name) => ['get', 'head', 'post', 'put', 'patch', 'delete'].includes(name)),
    );
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    const opened = page.locator('.opblock.is-open');
    expect(await opened.count()).toBe(1);
    for (const text of texts) expect(await opened.innerText()).toContain(text);
    const base = server.url + contractPath.slice(0, -'/openapi.json'.length);
    expect(await page.locator('#reference').innerText()).toContain(`Its paths are below ${base}.`);
    const isChosen = path.includes('surface=data');
    expect((await page.locator('.choice [aria-current]').innerText()).includes('Jobs Data API')).toBe(isChosen);
    expect((await page.locator('#reference').innerText()).includes('"next_cursor": null')).toBe(isChosen);
    // A fragment need not be text.
    await page.evaluate(async () => {
      const changed = new Promise((resolve) => addEventListener('hashchange', () => setTimeout(resolve)));
      location.hash = '%E0%A4%A';
      await changed;
    });
    expect(faults).toEqual([]);
    await close();
  });
});

describe.skipIf(CHROMIUM === undefined)('for everybody', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer('node');
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  it.each(LOOKS)('axe finds nothing on the overview, $name', { timeout: AXE_TIMEOUT_MS }, async (look) => {
    const { page, close } = await openPage(look);
    await page.goto(`${server.url}/`);
    await page.locator('summary').click();
    expect(await axeViolations(page)).toEqual([]);
    expect(await isWiderThanWindow(page)).toBe(false);
    await close();
  });

  it.runIf(IS_WHOLE).each(LOOKS)(
    'axe finds nothing on the reference with operations open, $name',
    { timeout: AXE_TIMEOUT_MS },
    async (look) => {
      const { page, close } = await openPage(look);
      await page.goto(`${server.url}/docs`);
      await page.waitForSelector('.opblock');
      for (const operation of ['searchJobs', 'createCallback']) {
        await page.click(`.opblock[id$="-${operation}"] .opblock-summary-control`);
      }
      const schema = page.locator('.opblock[id$="-searchJobs"] [data-name="model"]').first();
      await schema.click();
      await page.locator('.opblock[id$="-searchJobs"] .json-schema-2020-12-expand-deep-button').first().click();
      expect(await axeViolations(page)).toEqual([]);
      expect(await isWiderThanWindow(page)).toBe(false);
      await close();
    },
  );

  it('the reference breaks no name of a column, and no line of a listing is out of place', async () => {
    const { page, close } = await openPage({ viewport: { width: 360, height: 740 } });
    await page.goto(`${server.url}/docs?surface=data#listJobs`);
    const name = page.locator('.opblock.is-open thead .response-col_status');
    expect((await name.boundingBox())?.height).toBeLessThan(35);
    const listing = page.locator('.renderedMarkdown pre code').first();
    expect(await listing.evaluate((code) => getComputedStyle(code).paddingLeft)).toBe('0px');
    await close();
  });

  it('a long word of an example makes the reference no wider than a narrow window', async () => {
    const { page, close } = await openPage({ viewport: { width: 660, height: 740 } });
    await page.goto(`${server.url}/docs#paymentStatus`);
    await page.waitForSelector('.opblock.is-open .parameters');
    expect(await isWiderThanWindow(page)).toBe(false);
    await close();
  });

  it('the pages can be reached and left by keyboard', async () => {
    const { page, close } = await openPage();
    await page.goto(`${server.url}/`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    for (const name of ['paygrade', 'Overview', 'API reference', 'Inbox']) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(name);
    }
    await page.keyboard.press('Enter');
    await page.waitForURL('**/inbox');
    await close();
  });
});
