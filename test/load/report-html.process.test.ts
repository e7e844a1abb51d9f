/** The HTML report in a browser: it fits the window. */
import { describe, expect, it } from 'vitest';
import { reportHtml } from '../../src/load/report-html.ts';
import { CHROMIUM, openPage } from '../support/browser.ts';
import { FULL } from './load-result.ts';

/** Values as long as they get. */
const WIDE = {
  ...FULL,
  url: `http://${'long.'.repeat(60)}example:8402`,
  operations: FULL.operations.map((operation) => ({
    ...operation,
    outcomes: operation.outcomes.map((outcome) => ({
      ...outcome,
      outcome: '503 SETTLEMENT_UNAVAILABLE',
      count: 12_345_678,
    })),
  })),
};

describe.skipIf(CHROMIUM === undefined)('the report', () => {
  it.each([1280, 800])('fits a window of %i pixels, its table too', async (width) => {
    const { page, close } = await openPage({ viewport: { width, height: 900 } }, true);
    await page.setContent(reportHtml(WIDE));
    const [document, table] = await page.evaluate(() => {
      const scroll = globalThis.document.querySelector('.scroll') as Element;
      return [globalThis.document.documentElement.scrollWidth, scroll.scrollWidth - scroll.clientWidth];
    });
    await close();
    expect([document, table]).toEqual([width, 0]);
  });

  it('scrolls only its table in a window of 390 pixels', async () => {
    const { page, close } = await openPage({ viewport: { width: 390, height: 800 } }, true);
    await page.setContent(reportHtml(WIDE));
    expect(await page.evaluate(() => globalThis.document.documentElement.scrollWidth)).toBe(390);
    await close();
  });
});
