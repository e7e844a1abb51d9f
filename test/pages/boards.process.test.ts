/** The operator's page about watched boards, in a real browser. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedWords } from '../../src/storage/history/company-tables.ts';
import { HistoryDatabase } from '../../src/storage/history/database.ts';
import { AXE_TIMEOUT_MS, axeViolations, CHROMIUM, isWiderThanWindow, LOOKS, openPage } from '../support/browser.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { WATCHED, watchedFolder } from '../support/watched-boards.ts';

const ADMIN_TOKEN = 'operator-0123456789-0123456789-0123';

async function open(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/boards`);
  await page.fill('#token', ADMIN_TOKEN);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#state[data-kind="watching"]');
}

describe.skipIf(CHROMIUM === undefined)('the page of the watched boards', () => {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-boards-'));
  let server: RunningServer;
  beforeAll(async () => {
    watchedFolder(folder);
    server = await startServer('node', { ADMIN_TOKEN, CATALOGUE: folder });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    rmSync(folder, { recursive: true });
  });

  it('shows health, days and boards, those that need the operator first', async () => {
    const { page, faults, requests, close } = await openPage();
    await open(page, server.url);
    expect(await page.locator('#figures dt').allInnerTexts()).toEqual([
      'Boards',
      'new',
      'ok',
      'unhealthy',
      'failed',
      'gone',
      'overdue',
    ]);
    expect(await page.locator('#figures dd').allInnerTexts()).toEqual(['5', '1', '1', '1', '1', '1', '1']);
    expect(await page.locator('#legend li').allInnerTexts()).toEqual([
      'opened: 1,207',
      'changed: 3',
      'closed: 12',
      'reopened: 1',
    ]);
    expect(await page.locator('#plot rect').count()).toBe(5);
    expect(await page.locator('#days tr').count()).toBe(2);
    expect(await page.locator('.board h3').allInnerTexts()).toEqual([
      'gone lever:away',
      'unhealthy greenhouse:shrunk',
      'failed ashby:<img src=x onerror=alert(1)>',
      'new workable:fresh',
      'ok greenhouse:acme',
    ]);
    const shrunk = page.locator('.board').nth(1);
    expect(await shrunk.locator('[data-part="jobs"]').innerText()).toBe('100; the last fetch listed 3');
    expect(await shrunk.locator('[data-part="reason"]').innerText()).toBe('3 jobs, where 100 are usual');
    const partTexts = (part: string) => page.locator(`.board [data-part="${part}"]`).allInnerTexts();
    expect((await partTexts('last')).map((text) => text.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC/, 'then'))).toEqual([
      'then, status 404',
      'then, status 200',
      'then, status 503',
      'never',
      'then, status 200',
    ]);
    expect((await partTexts('next')).map((text) => text.replace(/^[-\d]+ [\d:]+ UTC/, 'then'))).toEqual([
      'then',
      'then',
      'then, overdue',
      'at once',
      'then',
    ]);
    expect(await partTexts('jobs')).toEqual(['100', '100; the last fetch listed 3', '100', 'unknown', '100']);
    expect(await page.locator('.board [data-part="reason-row"]').count()).toBe(5);
    expect(await page.locator('.board [data-part="reason-row"]:visible').count()).toBe(3);
    await page.selectOption('#health', 'ok');
    await page.waitForFunction(() => document.querySelectorAll('.board').length === 1);
    const asked = requests.filter(({ url }) => url.includes('/admin/'));
    for (const { headers } of asked) expect(headers.authorization).toBe(`Bearer ${ADMIN_TOKEN}`);
    expect(await page.content()).not.toContain(ADMIN_TOKEN);
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    expect(faults).toEqual([]);
    await page.click('#forget');
    expect(await page.locator('#opened').isVisible()).toBe(false);
    expect(await page.locator('#boards').innerHTML()).toBe('');
    await close();
  });

  it('keeps the domain of a company as the operator’s word, and says what is wrong with another', async () => {
    const { page, faults, close } = await openPage();
    await open(page, server.url);
    const first = page.locator('.missing-company').first();
    const company = await first.locator('[data-part="company"]').innerText();
    await first.locator('input').fill('not a domain');
    await first.locator('button').click();
    await first.getByText('must be a domain name').waitFor();
    expect(await first.locator('input').getAttribute('aria-invalid')).toBe('true');
    await first.locator('input').fill(' Acme-Example.com ');
    await first.locator('button').focus();
    await page.keyboard.press('Enter');
    await first.getByText('acme-example.com is stored; the next build applies it.').waitFor();
    expect(await first.locator('button').evaluate((button) => button === document.activeElement)).toBe(true);
    const history = HistoryDatabase.openForReading(folder);
    const words = storedWords(history);
    history.close();
    expect(words).toMatchObject([{ kind: 'name', key: company.toLowerCase(), domain: 'acme-example.com' }]);
    await page.click('#refresh');
    await page.waitForFunction(
      (name) => document.querySelector('.missing-company [data-part="company"]')?.textContent !== name,
      company,
    );
    expect(await page.innerText('#missing-count')).toMatch(
      / with active jobs\. Below .*, except those with a stated domain/,
    );
    await page.route('**/admin/v1/boards?*', async (route) => {
      const answer = (await (await route.fetch()).json()) as { data: object };
      return route.fulfill({ json: { ...answer, data: { ...answer.data, companies_without_domain: [] } } });
    });
    await page.click('#refresh');
    await page.locator('#missing-count', { hasText: 'Each has a stated domain' }).waitFor();
    // A 400 is the browser's to report too.
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
    await close();
  });

  it('says beside the field when it is unknown whether a domain is stored, and keeps what was typed', async () => {
    const { page, close } = await openPage();
    await open(page, server.url);
    await page.route('**/admin/v1/companies', (route) => route.abort());
    const first = page.locator('.missing-company').first();
    await first.locator('input').fill('other.example');
    await page.keyboard.press('Enter');
    await first.getByText('No connection to the server: it is unknown whether the domain is stored.').waitFor();
    expect(await first.locator('input').inputValue()).toBe('other.example');
    expect(await first.locator('input').getAttribute('aria-invalid')).toBeNull();
    expect(await page.innerText('#state')).toMatch(/^As of /);
    await close();
  });

  it('shows long names and names from right to left, and counts one company as one', async () => {
    const { page, close } = await openPage();
    await page.route('**/admin/v1/boards?*', async (route) => {
      const answer = (await (await route.fetch()).json()) as { data: { boards: object[] } };
      const { data } = answer;
      const boards = data.boards.map((board, i) =>
        i === 0 ? { ...board, company: 'x\u202ecba', domain: 'acme.example' } : { ...board, company: 'A'.repeat(300) },
      );
      const missing = [{ company: 'חברה', active_jobs: 12 }];
      const companies = { companies_without_domain: missing, total_companies_without_domain: 1 };
      return route.fulfill({ json: { ...answer, data: { ...data, boards, ...companies } } });
    });
    await open(page, server.url);
    expect(await isWiderThanWindow(page)).toBe(false);
    expect(await page.innerText('#missing-count')).toBe('1 company with active jobs.');
    for (const [first, second] of [
      ['.missing-company [data-part="company"]', '.missing-company [data-part="jobs"]'],
      ['.board [data-part="company"]', '.board [data-part="domain"]'],
    ]) {
      const [one, next] = await Promise.all([first!, second!].map((part) => page.locator(part).first().boundingBox()));
      expect(next!.x).toBeGreaterThanOrEqual(one!.x + one!.width);
    }
    expect(await page.locator('.board > p').first().innerText()).toBe('x\u202ecba, acme.example');
    await close();
  });

  it('goes on with the boards that it shows after others could not be read, and shows each once', async () => {
    const { page, requests, close } = await openPage();
    await page.route('**/admin/v1/boards?*', async (route) => {
      const url = new URL(route.request().url());
      if (url.searchParams.get('health') === 'gone') return route.abort();
      // A board of the first part has moved to the second.
      const isSecond = url.searchParams.get('cursor') === '20ashby:a b';
      url.searchParams.delete('cursor');
      const answer = (await (await route.fetch({ url: url.href })).json()) as { data: { boards: object[] } };
      const boards = isSecond ? answer.data.boards.slice(1) : answer.data.boards.slice(0, 3);
      const data = { ...answer.data, boards, next_cursor: isSecond ? null : '20ashby:a b' };
      return route.fulfill({ json: { ...answer, data } });
    });
    await open(page, server.url);
    await page.selectOption('#health', 'gone');
    await page.getByText('Not read: no connection to the server').waitFor();
    await page.focus('#more');
    await page.keyboard.press('Enter');
    await page.getByText('5 of 5').waitFor();
    const names = await page.locator('.board [data-part="name"]').allInnerTexts();
    expect(new Set(names).size).toBe(WATCHED.length);
    expect(names).toHaveLength(WATCHED.length);
    expect(await page.locator('#more').isVisible()).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain(names[3]);
    expect(requests.at(-1)?.url).not.toContain('health=');
    await close();
  });

  it('keeps the domains that were typed and not sent when it reads again', async () => {
    const { page, close } = await openPage();
    await open(page, server.url);
    const field = page.locator('.missing-company input').first();
    await field.fill('typed.example');
    for (const again of [() => page.selectOption('#period', '90'), () => page.click('#refresh')]) {
      await Promise.all([page.waitForResponse('**/admin/v1/boards?*'), again()]);
      await page.waitForSelector('#state[data-kind="watching"]');
      expect(await field.inputValue()).toBe('typed.example');
    }
    await page.click('#forget');
    await open(page, server.url);
    expect(await field.inputValue()).toBe('');
    await close();
  });

  it.each(LOOKS)('axe finds nothing, $name', { timeout: AXE_TIMEOUT_MS }, async (look) => {
    const { page, close } = await openPage(look);
    await page.goto(`${server.url}/boards`);
    expect(await axeViolations(page)).toEqual([]);
    await open(page, server.url);
    expect(await page.locator('.board').count()).toBe(WATCHED.length);
    expect(await axeViolations(page)).toEqual([]);
    expect(await isWiderThanWindow(page)).toBe(false);
    if (process.env.SCREENSHOTS !== undefined) {
      await page.screenshot({ path: join(process.env.SCREENSHOTS, `boards-${look.colorScheme}.png`), fullPage: true });
    }
    await close();
  });
});
