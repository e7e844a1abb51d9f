/** The operator's page in a real browser: what it asks, shows, keeps and forgets. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AXE_TIMEOUT_MS, axeViolations, CHROMIUM, isWiderThanWindow, LOOKS, openPage } from '../support/browser.ts';
import { oneRuntime, type RunningServer, startServer } from '../support/server.ts';
import { buy, wallet } from '../support/wallet.ts';

const ADMIN_TOKEN = 'operator-0123456789-0123456789-0123';
async function open(page: Page, token: string): Promise<void> {
  await page.fill('#token', token);
  await page.keyboard.press('Enter');
}

const opened = (page: Page) => page.waitForSelector('#state[data-kind="watching"]');

describe.skipIf(CHROMIUM === undefined).each(oneRuntime('bun'))('the sales page of a server under %s', (runtime) => {
  let server: RunningServer;
  const account = wallet();
  beforeAll(async () => {
    server = await startServer(runtime, { SNAPSHOT: 'none', ADMIN_TOKEN });
    for (let count = 0; count < 3; count++) {
      expect((await buy(`${server.url}/v1/callbacks`, account, { method: 'POST' })).status).toBe(201);
    }
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  it('shows the days as a chart and a table, with the token in one header alone', async () => {
    const { page, faults, requests, close } = await openPage();
    await page.goto(`${server.url}/sales`);
    await open(page, ADMIN_TOKEN);
    await opened(page);
    expect(await page.locator('#settlements h2').allInnerTexts()).toEqual(['Play money']);
    expect(await page.locator('.figures dd').allInnerTexts()).toEqual(['3', '0.03', expect.stringMatching(/^[0-3]$/)]);
    expect(await page.locator('.plot rect').count()).toBe(1);
    const today = new Date().toISOString().slice(0, 10);
    const cells = await page.locator('.days tbody tr').first().locator('th, td').allInnerTexts();
    expect(cells.slice(1, 4)).toEqual(['createCallback', '3', '0.03']);
    expect([today, await page.locator('[data-part="last-day"]').innerText()]).toContain(cells[0]);
    await page.selectOption('#measure', 'amount');
    expect(await page.locator('[data-part="max"]').innerText()).toBe('0.03 USDC');
    await page.selectOption('#period', '400');
    await page.waitForFunction(() => !document.querySelector('#state')?.textContent?.startsWith('Reading'));

    const asked = requests.filter(({ url }) => url.includes('/admin/'));
    expect(asked.length).toBeGreaterThanOrEqual(2);
    for (const { headers } of asked) expect(headers.authorization).toBe(`Bearer ${ADMIN_TOKEN}`);
    const others = requests.filter((one) => !asked.includes(one));
    expect(others.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    expect(requests.filter(({ url }) => url.includes('operator-') || !url.startsWith(server.url))).toEqual([]);
    const stored = await page.evaluate(() => [
      document.cookie,
      localStorage.length,
      sessionStorage.length,
      location.href,
    ]);
    expect(stored).toEqual(['', 0, 0, `${server.url}/sales`]);
    expect(await page.content()).not.toContain(ADMIN_TOKEN);
    expect(await page.inputValue('#token')).toBe('');
    expect(faults).toEqual([]);
    await close();
  });

  it('says what is wrong with a token, and forgets one when it is told to', async () => {
    const { page, requests, close } = await openPage();
    await page.goto(`${server.url}/sales`);
    await open(page, '');
    await page.getByText('Enter the admin token.').waitFor();
    await open(page, 'wrong');
    await page.getByText('this is not the admin token of this server').waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('token');
    expect(await page.locator('#books').isVisible()).toBe(false);
    await open(page, ADMIN_TOKEN);
    await opened(page);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H2');
    await page.click('#forget');
    expect(await page.locator('#books').isVisible()).toBe(false);
    expect(await page.locator('#settlements').innerHTML()).toBe('');
    const count = requests.length;
    await page.keyboard.press('Enter');
    await page.getByText('Enter the admin token.').waitFor();
    expect(requests).toHaveLength(count);
    await close();
  });
});

describe.skipIf(CHROMIUM === undefined)('the sales page', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer('node', { SNAPSHOT: 'none', ADMIN_TOKEN });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  /** Days and undelivered sales of both settlements, as text of others may be. @returns their day */
  async function showBooks(page: Page): Promise<string> {
    const today = new Date().toISOString().slice(0, 10);
    const operations = ['searchJobs', 'findSignals', '<img src=x onerror=alert(1)>', 'd', 'e', 'f', 'g', 'h', 'i'];
    const days = (['facilitator', 'local'] as const).flatMap((settlement) =>
      operations.map((operation, i) => ({
        day: today,
        settlement,
        network: 'eip155:8453',
        operation,
        sales: 1000 * (i + 1),
        amount_atomic: String(12_345_678_901n * BigInt(i + 1)),
        undelivered: i,
      })),
    );
    const sale = (settlement: string, i: number) => ({
      time: `${today}T00:00:00.00${i}Z`,
      operation: operations[i],
      amount_atomic: '20000',
      network: 'eip155:8453',
      payer: `0x${'5a'.repeat(20)}`,
      nonce: `0x${'3c'.repeat(32)}`,
      transaction: `0x${'9e'.repeat(32)}`,
      request_id: `req_7c9e6679-7425-40de-944b-e07fc1f90ae${i}`,
      delivered: false,
      settlement,
      question: '5f'.repeat(16),
      parameters: null,
    });
    const json = (data: unknown) => ({ json: { data, meta: { generated_at: `${today}T00:00:00.000Z` } } });
    await page.route('**/admin/v1/sales/days?*', (route) => route.fulfill(json({ days })));
    await page.route('**/admin/v1/sales?*', (route) => {
      const isSecond = route.request().url().includes('cursor=next-1');
      const sales = isSecond ? [sale('local', 2)] : [sale('facilitator', 0), sale('local', 1)];
      return route.fulfill(json({ sales, next_cursor: isSecond ? null : 'next-1' }));
    });
    await page.goto(`${server.url}/sales`);
    await open(page, ADMIN_TOKEN);
    await opened(page);
    return today;
  }

  it('keeps play money apart from real settlement, and shows more undelivered sales', async () => {
    const { page, faults, close } = await openPage();
    await showBooks(page);
    expect(await page.locator('#settlements h2').allInnerTexts()).toEqual(['Real settlement', 'Play money']);
    const figures = await page.locator('.figures dd').allInnerTexts();
    expect(figures).toEqual(['45,000', '555,555.550545', '36', '45,000', '555,555.550545', '36']);
    expect(await page.locator('.sale h3').allInnerTexts()).toEqual([
      '0.02 USDC searchJobs',
      '0.02 USDC, play money findSignals',
    ]);
    await page.click('#more');
    await page.getByText('req_7c9e6679-7425-40de-944b-e07fc1f90ae2').waitFor();
    expect(await page.locator('.sale').count()).toBe(3);
    expect(await page.locator('#more').isVisible()).toBe(false);
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });

  it('shows the days of the server’s calendar where the clock of the browser is wrong', async () => {
    const { page, requests, close } = await openPage({}, true);
    await page.clock.setFixedTime(new Date('2031-05-05T12:00:00Z'));
    const today = await showBooks(page);
    expect(await page.innerText('#state')).toBe(`As of ${today} 00:00:00 UTC`);
    expect(await page.locator('[data-part="last-day"]').first().innerText()).toBe(today);
    const since = new Date(Date.parse(today) - 29 * 86_400_000).toISOString().slice(0, 10);
    expect(requests.at(-1)?.url).toContain(`since=${since}`);
    expect(requests.filter(({ url }) => url.includes('/sales/days?')).at(-1)?.url).toContain(`since=${since}`);
    await close();
  });

  it('keeps the token of a reading that a second Enter meets', async () => {
    const { page, requests, close } = await openPage();
    const held: (() => void)[] = [];
    await page.route('**/admin/v1/sales/days?*', async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    await page.goto(`${server.url}/sales`);
    await open(page, ADMIN_TOKEN);
    await expect.poll(() => held.length).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByText('Enter the admin token.').waitFor();
    for (const release of held) release();
    await opened(page);
    const asked = requests.filter(({ url }) => url.includes('/admin/'));
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${ADMIN_TOKEN}`,
      `Bearer ${ADMIN_TOKEN}`,
    ]);
    await close();
  });

  it('says what is wrong with a token that no header can carry', async () => {
    const { page, close } = await openPage();
    await page.goto(`${server.url}/sales`);
    await open(page, `“${ADMIN_TOKEN}”`);
    await page.getByText('An admin token is visible ASCII without blanks.').waitFor();
    await close();
  });

  it('goes on with the list and the days that it shows after a period that could not be read', async () => {
    const { page, requests, close } = await openPage();
    await showBooks(page);
    const days = await page.locator('.plot-days').first().innerText();
    await page.route('**/admin/v1/sales/days?*', (route) => route.abort());
    await page.selectOption('#period', '90');
    await page.getByText('Not read: no connection to the server').waitFor();
    await page.selectOption('#measure', 'amount');
    expect(await page.locator('.plot-days').first().innerText()).toBe(days);
    await page.click('#more');
    await page.getByText('req_7c9e6679-7425-40de-944b-e07fc1f90ae2').waitFor();
    const sinceOf = ({ url }: { url: string }) => new URL(url).searchParams.get('since');
    const lists = requests.filter(({ url }) => url.includes('/sales?'));
    expect(lists.map(sinceOf)).toEqual([sinceOf(lists[0]!), sinceOf(lists[0]!)]);
    await close();
  });

  const HTML = { contentType: 'text/html', body: '<h1>Sorry</h1>' };
  const refusal = (status: number) => ({ status, json: { error: { code: 'X', message: 'later', request_id: 'r' } } });
  it.each([
    ['no connection', undefined, 'no connection to the server'],
    ['a refusal for the moment', refusal(503), 'later'],
    ['the page of a proxy', { status: 502, ...HTML }, 'the server answered 502 without a reason'],
    ['the page of a network’s gate', { status: 200, ...HTML }, 'the server answered 200 without data'],
    ['JSON of another server', { status: 200, json: {} }, 'the server answered 200 without data'],
  ])('says so and does without typing the token again after %s', async (_, answer, text) => {
    const { page, close } = await openPage();
    await page.route('**/admin/v1/sales/days?*', (route) =>
      answer === undefined ? route.abort() : route.fulfill(answer),
    );
    await page.goto(`${server.url}/sales`);
    await open(page, ADMIN_TOKEN);
    await page.locator('#token-error', { hasText: text }).waitFor();
    expect(await page.locator('#token-error').innerText()).toBe(text);
    expect(await page.getAttribute('#token', 'aria-invalid')).toBeNull();
    await page.unroute('**/admin/v1/sales/days?*');
    await page.keyboard.press('Enter');
    await opened(page);
    const asOf = (await page.innerText('#state')).slice('As of '.length);
    expect(await page.inputValue('#token')).toBe('');
    await page.route('**/admin/v1/sales/days?*', (route) =>
      answer === undefined ? route.abort() : route.fulfill(answer),
    );
    await page.click('#refresh');
    await page.waitForSelector('#state[data-kind="trouble"]');
    expect(await page.innerText('#state')).toBe(`Not read: ${text}. Shown as of ${asOf}`);
    await close();
  });

  it('does not go on reading from a connection that has died silently', async () => {
    const { page, close } = await openPage();
    await showBooks(page);
    await page.evaluate(() => {
      const real = AbortSignal.timeout;
      AbortSignal.timeout = (ms) => real.call(AbortSignal, ms / 100);
    });
    await page.route('**/admin/v1/sales/days?*', () => {});
    await page.click('#refresh');
    await page.getByText('Not read: no connection to the server').waitFor({ timeout: 5000 });
    await close();
  });

  it('says that it reads the books for the first time, and clears the previous error', async () => {
    const { page, close } = await openPage();
    // The page says what it does before the test hears of its request.
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.goto(`${server.url}/sales`);
    await open(page, '');
    await page.getByText('Enter the admin token.').waitFor();
    await page.route('**/admin/v1/sales/days?*', async (route) => {
      await released;
      await route.continue();
    });
    await open(page, ADMIN_TOKEN);
    await page.locator('#token-state', { hasText: 'Reading the books…' }).waitFor();
    expect(await page.innerText('#token-error')).toBe('');
    release();
    await opened(page);
    expect(await page.locator('#token-state').textContent()).toBe('');
    await close();
  });

  it('keeps no token that was typed and not sent when the page is left', async () => {
    const { page, close } = await openPage();
    await page.goto(`${server.url}/sales`);
    await page.fill('#token', ADMIN_TOKEN);
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })));
    expect(await page.inputValue('#token')).toBe('');
    await close();
  });

  it('drops the message that more could not be read once it can be', async () => {
    const { page, close } = await openPage();
    await showBooks(page);
    await page.route('**/admin/v1/sales?*', (route) => route.abort(), { times: 1 });
    await page.click('#more');
    await page.getByText('Not read: no connection to the server').waitFor();
    await page.click('#more');
    await page.getByText('req_7c9e6679-7425-40de-944b-e07fc1f90ae2').waitFor();
    expect(await page.innerText('#state')).toMatch(/^As of /);
    await close();
  });

  it('prints every day', async () => {
    const { page, close } = await openPage();
    await showBooks(page);
    const box = page.locator('.days-box').first();
    const hidden = () => box.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
    await box.locator('tbody').evaluate((rows) => {
      for (let i = 0; i < 4; i++) rows.append(...[...rows.children].map((row) => row.cloneNode(true)));
    });
    expect(await hidden()).toBeGreaterThan(0);
    await page.emulateMedia({ media: 'print' });
    expect(await hidden()).toBe(0);
    await close();
  });

  it('gives each operation a different colour', async () => {
    const { page, close } = await openPage();
    await showBooks(page);
    const fills = await page
      .locator('.legend')
      .first()
      .locator('rect')
      .evaluateAll((shapes) => shapes.map((shape) => getComputedStyle(shape).fill));
    expect(new Set(fills).size).toBe(9);
    await close();
  });

  it.each(LOOKS)('axe finds nothing, $name', { timeout: AXE_TIMEOUT_MS }, async (look) => {
    const { page, close } = await openPage(look);
    await page.goto(`${server.url}/sales`);
    expect(await axeViolations(page)).toEqual([]);
    await showBooks(page);
    expect(await axeViolations(page)).toEqual([]);
    expect(await isWiderThanWindow(page)).toBe(false);
    await close();
  });
});
