/**
 * A real browser for the pages: Debian's chromium, or the one that CHROMIUM names. Without one, tests that need it are
 * skipped with a message. The shell without windows takes two thirds of the processor time, so it is preferred.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import {
  type Browser,
  type BrowserContextOptions,
  type ConsoleMessage,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
import { IS_WHOLE } from './whole.ts';

const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

export const CHROMIUM: string | undefined = [process.env.CHROMIUM ?? '', ...PLACES].find(
  (place) => place !== '' && existsSync(place),
);
if (CHROMIUM === undefined) {
  console.log(
    'skipping the browser tests: no chromium (apt-get install chromium-headless-shell, or CHROMIUM=/path/to/it)',
  );
}

/** For containers: no user namespaces for a sandbox, a small /dev/shm, no GPU. Only our own pages are opened. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-software-rasterizer',
  '--in-process-gpu',
];

let launched: Promise<Browser> | undefined;

/** One browser for all files of a worker, ended with it: a start takes as long as ten pages. */
function theBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('there is no chromium');
  launched ??= chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
  return launched;
}

const EVERY_LOOK = [
  { name: 'light, desktop', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'dark, phone', colorScheme: 'dark', viewport: { width: 360, height: 740 } },
] as const;

/** Colours depend on the scheme and positions on the width, so two looks cover both values of each. */
export const LOOKS = IS_WHOLE ? EVERY_LOOK : EVERY_LOOK.slice(1);

/** axe checks some thousand elements, which takes a while on a busy machine. */
export const AXE_TIMEOUT_MS = 120_000;

export interface WatchedPage {
  readonly page: Page;
  /** Faults so far: exceptions, and console errors and warnings, including violations of the content policy. */
  readonly faults: readonly string[];
  /** Every request of the page, in order. */
  readonly requests: readonly { readonly url: string; readonly headers: Readonly<Record<string, string>> }[];
  close(): Promise<void>;
}

/** Closed pages by their options: for a new one the browser starts a process, which takes as long as half a test. */
const spare = new Map<string, Page[]>();

/**
 * Leaves nothing for the next test: its document goes, and routes, cookies, storage and cache with it. The document itself goes on to
 * an empty one, because the browser would start another process for an address that is typed in.
 */
async function emptied(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.evaluate(() => {
    sessionStorage.clear();
    location.replace('about:blank');
  });
  await page.waitForURL('about:blank', { timeout: 5_000 });
  await page.emulateMedia({ media: null });
  const context = page.context();
  await context.clearCookies();
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' });
  await session.send('Network.clearBrowserCache');
  await session.detach();
}

/**
 * Opens a page with no cookies, storage or cache. Nothing moves on it: what fades is drawn sixty times a second.
 * @param isNew for a test after which the page cannot be used again, as with a clock of its own, or of what a first visit loads
 */
export async function openPage(options: BrowserContextOptions = {}, isNew = false): Promise<WatchedPage> {
  const form = JSON.stringify(options);
  const free = spare.get(form) ?? [];
  spare.set(form, free);
  const taken = isNew ? undefined : free.pop();
  const page =
    taken ?? (await (await (await theBrowser()).newContext({ reducedMotion: 'reduce', ...options })).newPage());
  const faults: string[] = [];
  const requests: { url: string; headers: Record<string, string> }[] = [];
  const onPageError = (error: Error): unknown => faults.push(`exception: ${error.message}`);
  const onConsole = (message: ConsoleMessage): void => {
    if (['error', 'warning'].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`);
  };
  const onRequest = (request: Request): unknown => requests.push({ url: request.url(), headers: request.headers() });
  page.on('pageerror', onPageError).on('console', onConsole).on('request', onRequest);
  const close = async (): Promise<void> => {
    page.off('pageerror', onPageError).off('console', onConsole).off('request', onRequest);
    // One that is on its way to another document, or has no storage of its own, cannot be emptied.
    const isEmpty =
      !isNew &&
      (await emptied(page).then(
        () => true,
        () => false,
      ));
    if (isEmpty) free.push(page);
    else await page.context().close();
  };
  return { page, faults, requests, close };
}

const axeScript = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The findings of axe-core, one line each. It is injected from outside, which the page's policy does not prevent. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(axeScript);
  const results = (await page.evaluate('axe.run()')) as AxeResults;
  return results.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

export const isWiderThanWindow = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
