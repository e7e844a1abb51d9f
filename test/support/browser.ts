/**
 * A real browser for the pages: Debian's chromium, or the one that CHROMIUM names. Without one, tests that need it are
 * skipped with a message. The shell without windows takes two thirds of the processor time, so it is preferred.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
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

/** Opens a page with new cookies, storage and cache. Nothing moves on it: what fades is drawn sixty times a second. */
export async function openPage(options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await (await theBrowser()).newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  const requests: { url: string; headers: Record<string, string> }[] = [];
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`);
  });
  page.on('request', (request) => requests.push({ url: request.url(), headers: request.headers() }));
  return { page, faults, requests, close: () => context.close() };
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
