/**
 * The inbox in a real browser: a callback is bought through the API, its token typed in, webhooks sent. Expiry is that of the
 * real inbox under a clock which the test owns, behind the real listener.
 */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Listener } from '../../src/adapters/listen/listen.ts';
import { listen } from '../../src/adapters/listen/listen-node.ts';
import { type App, openApp } from '../../src/app/app.ts';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { PlainResponse } from '../../src/http/plain-response.ts';
import { PLAIN_RESPONSES } from '../../src/http/response-form.ts';
import { appPorts } from '../support/app-ports.ts';
import {
  AXE_TIMEOUT_MS,
  axeViolations,
  CHROMIUM,
  isWiderThanWindow,
  LOOKS,
  openPage,
  type WatchedPage,
} from '../support/browser.ts';
import { oneRuntime, type RunningServer, startServer } from '../support/server.ts';
import { ShiftedClock } from '../support/shifted-clock.ts';
import { buy } from '../support/wallet.ts';
import { IS_WHOLE } from '../support/whole.ts';

interface Callback {
  readonly id: string;
  readonly callback_url: string;
  readonly read_token: string;
}

async function boughtCallback(url: string): Promise<{ callback: Callback; answer: string }> {
  const response = await buy(`${url}/v1/callbacks`, undefined, { method: 'POST' });
  expect(response.status).toBe(201);
  const answer = await response.text();
  return { callback: JSON.parse(answer) as Callback, answer };
}

async function send(callback: Callback, body: string | Uint8Array, type = 'application/json'): Promise<void> {
  const headers = { 'content-type': type, 'user-agent': '<script>window.hacked = 1</script>' };
  const response = await fetch(callback.callback_url, { method: 'POST', headers, body: body as BodyInit });
  expect(response.status).toBe(200);
}

async function watch(page: Page, callback: Callback): Promise<void> {
  await page.fill('#address', callback.callback_url);
  await page.fill('#token', callback.read_token);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#state[data-kind="watching"]');
}

const eventTexts = (page: Page): Promise<string[]> => page.locator('[data-part="body"]').allInnerTexts();

describe.skipIf(CHROMIUM === undefined).each(oneRuntime('node'))('the inbox of a server under %s', (runtime) => {
  let server: RunningServer;
  let watched: WatchedPage;
  let page: Page;
  beforeAll(async () => {
    server = await startServer(runtime, { SNAPSHOT: 'none' });
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });
  beforeEach(async () => {
    watched = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] });
    page = watched.page;
    await page.goto(`${server.url}/inbox`);
  });
  afterEach(() => watched.close());

  it('shows an event within a second of its arrival, and what was there before', async () => {
    const { callback } = await boughtCallback(server.url);
    await send(callback, '{"number":1}');
    await watch(page, callback);
    await page.getByText('"number": 1').waitFor();
    expect(await page.innerText('#send-command')).toMatch(new RegExp(`^curl .* '${callback.callback_url}'$`));
    await send(callback, '{"number":2}');
    await page.getByText('"number": 2').waitFor({ timeout: 1_000 });
    expect(await eventTexts(page)).toEqual(['{\n  "number": 2\n}', '{\n  "number": 1\n}']);
    expect(await page.getByRole('status').allInnerTexts()).toEqual(['Watching', '2 of 10 events']);
    expect(await page.title()).toMatch(/^\(2\) /);
    expect(await page.locator('#time-left').innerText()).toMatch(/^(10:00|9:\d\d) left$/);
    expect(watched.faults).toEqual([]);
  });

  it('shows JSON as it was sent, bytes as they came, and copies both', async () => {
    const { callback } = await boughtCallback(server.url);
    await watch(page, callback);
    const sent = '{"big":12345678901234567890,"one":1.0,"again":1,"again":2,"text":"\\u00e9 \\n","none":{},"list":[ ]}';
    await send(callback, sent, 'application/json; charset=utf-8');
    const shown = page.locator('[data-part="body"]');
    await page.getByText('12345678901234567890').waitFor();
    expect((await shown.innerText()).replace(/\n\s*|: /g, (found) => (found === ': ' ? ':' : ''))).toBe(
      sent.replace('[ ]', '[]'),
    );
    const copy = page.locator('[data-part="copy-body"]');
    await copy.click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await shown.innerText());
    expect(await copy.innerText()).toBe('Copied');
    expect(await copy.evaluate((button) => button === document.activeElement)).toBe(true);

    await page.locator('[data-part="raw-title"]').click();
    expect(await page.locator('[data-part="hex"]').innerText()).toMatch(/^00000 {2}7b 22 62 69 67 22 3a 31 {2}/);
    await page.locator('[data-part="copy-hex"]').click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(Buffer.from(copied, 'hex').toString('utf8')).toBe(sent);
    const downloading = page.waitForEvent('download');
    await page.locator('[data-part="download"]').click();
    const saved = await downloading;
    expect(saved.suggestedFilename()).toMatch(/^evt_[0-9a-f]{32}\.bin$/);
    expect(readFileSync(await saved.path(), 'utf8')).toBe(sent);
    expect(watched.faults).toEqual([]);
  });

  it('a name or a text that turns the direction of writing leaves the marks around it in their places', async () => {
    const { callback } = await boughtCallback(server.url);
    await watch(page, callback);
    await send(callback, '{"n\u202eame":"t\u202eext","\u05d0":1}');
    await page.locator('.json-other').waitFor();
    const places = await page.locator('[data-part="body"]').evaluate((body) => {
      const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
      const found: [string, number][] = [];
      while (walker.nextNode()) {
        const text = walker.currentNode.textContent ?? '';
        const range = document.createRange();
        range.selectNodeContents(walker.currentNode);
        if (text.trim() !== '') found.push([text, range.getBoundingClientRect().x]);
      }
      return found;
    });
    expect(places.map(([text]) => text).join('')).toBe('{"n\u202eame": "t\u202eext","\u05d0": 1}');
    const line = places.slice(1, 9).map(([, x]) => x);
    expect(line).toEqual(line.toSorted((a, b) => a - b));
    expect(watched.faults).toEqual([]);
  });

  it('a long media type makes the page no wider than its window', async () => {
    const { callback } = await boughtCallback(server.url);
    await send(callback, 'x', `text/plain; note=${'y'.repeat(200)}`);
    await watch(page, callback);
    await page.getByText('note=yyy').first().waitFor();
    expect(await isWiderThanWindow(page)).toBe(false);
  });

  it('shows the largest event whole', async () => {
    const { callback } = await boughtCallback(server.url);
    await watch(page, callback);
    await send(callback, 'x'.repeat(262_144), 'text/plain');
    await page.getByText('256 KiB (262,144 bytes)').waitFor();
    await page.locator('[data-part="raw-title"]').click();
    await page.locator('[data-part="all-hex"]').click();
    const lines = (await page.locator('[data-part="hex"]').textContent())?.split('\n') ?? [];
    expect(lines).toHaveLength(262_144 / 16);
    expect(lines.at(-1)).toMatch(/^3fff0 {2}(78 ){7}78 {2}(78 ){7}78 {2}x{16}$/);
  });

  const ATTACK =
    '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"><a href="javascript:window.hacked=1">';
  const ATTACKING = [
    ['text/html', ATTACK],
    ['application/json', JSON.stringify({ [ATTACK]: ATTACK, __proto__: ATTACK })],
    ['application/x-www-form-urlencoded', ATTACK],
    [`text/plain; note="${ATTACK.replaceAll('"', '\\"')}"`, ATTACK],
  ] as const;
  it('a script in an event does nothing, whatever the event is said to be', async () => {
    const { callback } = await boughtCallback(server.url);
    await watch(page, callback);
    for (const [index, [type, body]] of ATTACKING.entries()) {
      await send(callback, body, type);
      // The latest event is the first.
      const event = page.locator('#events > li').nth(0);
      await page.locator('#events > li').nth(index).waitFor();
      await event.locator('[data-part="body"]', { hasText: 'onerror' }).waitFor();
      await event.locator('[data-part="headers-title"]').click();
      const headers = await event.locator('[data-part="headers"]').innerText();
      expect(headers, type).toContain('<script>window.hacked = 1</script>');
      expect(headers, type).toContain(type);
    }
    expect(await page.locator('#events').locator('script, img, iframe, a[href^="javascript"]').count()).toBe(0);
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(watched.faults).toEqual([]);
  });

  it('keeps the token in no address, no storage, no element and no request but its own header', async () => {
    const { callback, answer } = await boughtCallback(server.url);
    // The whole answer of the creation may be pasted.
    await page.evaluate((text) => navigator.clipboard.writeText(text), answer);
    await page.focus('#address');
    await page.keyboard.press('ControlOrMeta+V');
    await page.waitForFunction(
      (id) => (document.getElementById('address') as HTMLInputElement).value === id,
      callback.id,
    );
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await page.keyboard.press('Enter');
    await page.waitForSelector('#state[data-kind="watching"]');
    await send(callback, '{"seen":true}');
    await page.getByText('"seen": true').waitFor();

    const secret = callback.read_token;
    expect(await page.evaluate(() => location.href)).toBe(`${server.url}/inbox`);
    const kept = await page.evaluate(() => {
      const fields = [...document.querySelectorAll('input')].map(({ value }) => value);
      const stores = [localStorage, sessionStorage].map((store) => JSON.stringify(store));
      return [document.documentElement.outerHTML, document.cookie, JSON.stringify(history.state), ...stores, ...fields];
    });
    expect(kept.filter((text) => text?.includes(secret))).toEqual([]);
    expect(await page.evaluate(async () => (await indexedDB.databases()).length + (await caches.keys()).length)).toBe(
      0,
    );

    const carriers = watched.requests.flatMap(({ url, headers }) => [
      ...(url.includes(secret) ? ['an address'] : []),
      ...Object.entries(headers).flatMap(([name, value]) => (value.includes(secret) ? [name] : [])),
    ]);
    expect(new Set(carriers)).toEqual(new Set(['authorization']));
    expect(watched.requests.filter(({ headers }) => (headers.referer ?? '') !== '')).toEqual([]);
    expect(server.stdout() + server.stderr()).not.toContain(secret);
  });

  it('says when the callback was deleted elsewhere, and keeps what it showed', async () => {
    const { callback } = await boughtCallback(server.url);
    await send(callback, '{"kept":1}');
    await watch(page, callback);
    await page.getByText('"kept": 1').waitFor();
    await fetch(`${server.url}/v1/callbacks/${callback.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${callback.read_token}` },
    });
    await page.locator('#state', { hasText: 'Deleted' }).waitFor({ timeout: 2_000 });
    expect(await eventTexts(page)).toEqual(['{\n  "kept": 1\n}']);
    expect(await page.locator('#delete').isDisabled()).toBe(true);
  });

  it('deletes on request, after asking, by keyboard alone', async () => {
    const { callback } = await boughtCallback(server.url);
    await watch(page, callback);
    await page.focus('#delete');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#delete-dialog[open]');
    await page.keyboard.press('Escape');
    expect(await page.locator('#delete-dialog').isVisible()).toBe(false);
    expect((await fetch(callback.callback_url, { method: 'POST', body: 'still there' })).status).toBe(200);
    await page.keyboard.press('Enter');
    await page.focus('#delete-confirm');
    await page.keyboard.press('Enter');
    await page.locator('#state', { hasText: 'Deleted' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('address');
    expect((await fetch(callback.callback_url, { method: 'POST', body: 'gone' })).status).toBe(404);
  });

  it('pauses as after any failure when Retry-After is a date', async () => {
    const { callback } = await boughtCallback(server.url);
    const json = { error: { code: 'OVERLOADED', message: 'later', request_id: 'r' } };
    const headers = { 'retry-after': new Date(Date.now() + 60_000).toUTCString() };
    await page.route('**/events', (route) => route.fulfill({ status: 503, headers, json }), { times: 1 });
    await page.fill('#address', callback.id);
    await page.fill('#token', callback.read_token);
    await page.keyboard.press('Enter');
    await page.locator('#state', { hasText: 'later; trying again in 1 s' }).waitFor();
    await page.waitForSelector('#state[data-kind="watching"]');
  });

  it('says what a proxy answered in the server’s place, and waits as long as it asks for', async () => {
    const { callback } = await boughtCallback(server.url);
    const answer = { status: 429, contentType: 'text/html', headers: { 'retry-after': '2' }, body: '<h1>Slow</h1>' };
    await page.route('**/events', (route) => route.fulfill(answer), { times: 1 });
    await page.fill('#address', callback.id);
    await page.fill('#token', callback.read_token);
    await page.keyboard.press('Enter');
    await page
      .locator('#state', { hasText: 'The server answered 429 without a reason; trying again in 2 s' })
      .waitFor();
    await page.waitForSelector('#state[data-kind="watching"]');
  });

  it('does not ask at once when it is told to wait for longer than a timer can', async () => {
    const { callback } = await boughtCallback(server.url);
    const json = { error: { code: 'OVERLOADED', message: 'later', request_id: 'r' } };
    await page.route('**/events', (route) =>
      route.fulfill({ status: 503, headers: { 'retry-after': '2592000' }, json }),
    );
    await page.fill('#address', callback.id);
    await page.fill('#token', callback.read_token);
    await page.keyboard.press('Enter');
    await page.locator('#state', { hasText: 'later; trying again in' }).waitFor();
    await expect(page.waitForRequest('**/events', { timeout: 300 })).rejects.toThrow('Timeout');
    expect(await page.innerText('#state')).toBe('later; trying again in 600 s');
  });

  it('does not go on watching over a connection that has died silently', async () => {
    const { callback } = await boughtCallback(server.url);
    await page.evaluate(() => {
      const real = AbortSignal.timeout;
      AbortSignal.timeout = (ms) => real.call(AbortSignal, ms / 100);
    });
    await page.route('**/wait?*', () => {}, { times: 1 });
    await watch(page, callback);
    await page.locator('#state', { hasText: 'No answer from the server; trying again' }).waitFor();
    await page.waitForSelector('#state[data-kind="watching"]');
  });

  it('says that numbers may be rounded until the exact bytes are read, and tries again to read them', async () => {
    const { callback } = await boughtCallback(server.url);
    await send(callback, '{"big":12345678901234567890}');
    await page.route('**/raw', (route) => route.abort(), { times: 1 });
    await watch(page, callback);
    await page.getByText('long numbers may be rounded here').waitFor();
    await page.getByText('12345678901234567890').waitFor();
    expect(await page.locator('[data-part="inexact"]').isVisible()).toBe(false);
    expect(await page.locator('[data-part="raw-title"]').isVisible()).toBe(true);
  });

  it('shows the time of an event in UTC, as the answers do', async () => {
    const { callback } = await boughtCallback(server.url);
    await send(callback, '{}');
    await watch(page, callback);
    const time = page.locator('[data-part="time"]');
    await time.waitFor();
    const received = (await time.getAttribute('datetime')) ?? '';
    expect(await time.innerText()).toBe(`${received.slice(11, 19)} UTC`);
  });

  it('does not tell the next callback that the one before could not be deleted', async () => {
    const [one, next] = [await boughtCallback(server.url), await boughtCallback(server.url)];
    let refuse = (): void => {};
    await page.route(`**/v1/callbacks/${one.callback.id}`, async (route) => {
      await new Promise<void>((resolve) => {
        refuse = resolve;
      });
      await route.abort();
    });
    await watch(page, one.callback);
    await page.click('#delete');
    await page.click('#delete-confirm');
    await page.click('#stop');
    await watch(page, next.callback);
    const failed = page.waitForEvent('requestfailed', (request) => request.method() === 'DELETE');
    refuse();
    await failed;
    await send(next.callback, 'next', 'text/plain');
    await page.locator('[data-part="body"]', { hasText: 'next' }).waitFor();
    expect(await page.innerText('#state')).toBe('Watching');
  });

  it('keeps no token that was typed and not sent when the page is left', async () => {
    await page.fill('#token', `svc_cb_sk_${'A'.repeat(43)}`);
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })));
    expect(await page.inputValue('#token')).toBe('');
  });

  it('stops on request and forgets the token', async () => {
    const { callback } = await boughtCallback(server.url);
    await watch(page, callback);
    await page.locator('#stop').click();
    await page.locator('#state', { hasText: 'Stopped' }).waitFor();
    expect(await page.locator('#sending').isVisible()).toBe(false);
    const before = watched.requests.length;
    await send(callback, '{"unseen":1}');
    await page.waitForTimeout(1_000);
    expect(watched.requests.length).toBe(before);
    expect(await eventTexts(page)).toEqual([]);
  });

  it('forgets the token when the page is left', async () => {
    const { callback } = await boughtCallback(server.url);
    await watch(page, callback);
    await page.goto(`${server.url}/`);
    await page.goBack();
    const before = watched.requests.length;
    await page.waitForTimeout(1_000);
    expect(watched.requests.slice(before).filter(({ url }) => url.includes('/v1/'))).toEqual([]);
    expect(await page.locator('#watch-form').isVisible()).toBe(true);
    expect(await page.inputValue('#token')).toBe('');
  });

  it('names what is wrong with what was typed, and with a token that the server refuses', async () => {
    await page.fill('#address', 'https://example.com/hooks/nothing');
    await page.keyboard.press('Enter');
    expect(await page.locator('#address-error').innerText()).toContain('no callback id');
    expect(await page.locator('#token-error').innerText()).toContain('svc_cb_sk_');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('address');
    const { callback } = await boughtCallback(server.url);
    await page.fill('#address', callback.id);
    await page.fill('#token', `svc_cb_sk_${'A'.repeat(43)}`);
    await page.keyboard.press('Enter');
    await page.locator('#token-error', { hasText: 'not the read token' }).waitFor();
    expect(await page.locator('#watch-form').isVisible()).toBe(true);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('token');
    await page.fill('#token', callback.read_token);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#state[data-kind="watching"]');
    expect(await page.locator('#token-error').innerText()).toBe('');
  });

  it('says that there is no such callback, and asks no more', async () => {
    const { callback } = await boughtCallback(server.url);
    await page.fill('#address', `cb_${'A'.repeat(24)}`);
    await page.fill('#token', callback.read_token);
    await page.keyboard.press('Enter');
    await page.locator('#state', { hasText: 'There is no such callback' }).waitFor();
    expect(await page.locator('#watch-form').isVisible()).toBe(true);
    expect(watched.requests.filter(({ url }) => url.includes('/v1/'))).toHaveLength(1);
  });

  it('asks no more for the bytes of an event that the server no longer has', async () => {
    const { callback } = await boughtCallback(server.url);
    await send(callback, '{"gone":1}');
    const answer = { status: 404, json: { error: { code: 'EVENT_NOT_FOUND', message: 'no', request_id: 'r' } } };
    await page.route('**/raw', (route) => route.fulfill(answer));
    await watch(page, callback);
    await page.getByText('"gone": 1').waitFor();
    // After other failures it tries again in half a second.
    await expect(page.waitForRequest('**/raw', { timeout: 700 })).rejects.toThrow('Timeout');
    expect(await page.locator('[data-part="inexact"]').isVisible()).toBe(true);
  });
});

describe.skipIf(CHROMIUM === undefined)('an inbox that is interrupted', () => {
  it('goes on by itself when the server comes back, with the events of the meantime', async () => {
    const first = await startServer('node', { SNAPSHOT: 'none' });
    const { port, stateDir } = first;
    const { page, close } = await openPage();
    await page.goto(`${first.url}/inbox`);
    const { callback } = await boughtCallback(first.url);
    await watch(page, callback);
    await send(callback, '{"before":1}');
    await first.kill();
    await page.locator('#state', { hasText: 'trying again' }).waitFor();
    const second = await startServer('node', { SNAPSHOT: 'none', STATE_DIR: stateDir, PORT: String(port) });
    await send(callback, '{"after":1}');
    await page.getByText('"after": 1').waitFor();
    await page.getByText('"before": 1').waitFor();
    expect(await page.locator('#events > li').count()).toBe(2);
    await close();
    await second.stop();
    await first.stop();
  });
});

describe.skipIf(CHROMIUM === undefined)('an inbox whose callback expires', () => {
  let clock: ShiftedClock;
  let app: App<PlainResponse>;
  let listener: Listener;
  let url: string;
  beforeEach(async () => {
    clock = new ShiftedClock();
    const onFailure = (failure: unknown): void => {
      throw failure;
    };
    listener = await listen({
      host: '127.0.0.1',
      port: 0,
      // The page sets its clock by the date, which the listener would take from the machine's.
      handle: async (request, client) => {
        const { body, status, headers } = await app.handle(request, client);
        return new PlainResponse(body, status, { ...headers, date: new Date(clock.nowMs()).toUTCString() });
      },
      unreadable: () => new PlainResponse(null, 400, {}),
      crowded: () => new PlainResponse(null, 503, {}),
      report: onFailure,
      bounds: { connectionsMax: 0, connectionsPerAddress: 0 },
    });
    url = `http://127.0.0.1:${listener.port}`;
    app = await openApp(
      { ...CONFIGURATION.read({ STATE_DIR: ':memory:', SNAPSHOT: 'none' }), baseUrl: url, hookBaseUrl: url },
      { ...appPorts({ clock, onFailure }), responses: PLAIN_RESPONSES },
    );
  });
  afterEach(async () => {
    app.drain();
    await listener.close(1_000);
    await app.close();
  });

  const TEN_MINUTES_MS = 600_000;

  it('counts the time down, says that it is over, and keeps what it showed', async () => {
    const { page, close } = await openPage({}, true);
    await page.clock.install();
    await page.goto(`${url}/inbox`);
    const { callback } = await boughtCallback(url);
    await send(callback, '{"shown":1}');
    await watch(page, callback);
    await page.getByText('"shown": 1').waitFor();

    clock.aheadMs += TEN_MINUTES_MS - 60_000;
    await page.clock.fastForward(TEN_MINUTES_MS - 60_000);
    await page.locator('#time-left', { hasText: /^(1:00|0:[45]\d) left$/ }).waitFor();
    const bar = page.locator('#time-bar');
    expect(await bar.evaluate((one: HTMLProgressElement) => one.value)).toBeCloseTo(0.1, 1);
    // No wait lasts nine minutes, so the page has given up the one in flight and asks again.
    await page.locator('#state', { hasText: /^Watching$/ }).waitFor();

    clock.aheadMs += 60_000;
    await page.clock.fastForward(60_000);
    await page.locator('#state', { hasText: 'Expired' }).waitFor();
    expect(await page.locator('#time-left').innerText()).toBe('no time left');
    expect(await bar.evaluate((one: HTMLProgressElement) => one.value)).toBe(0);
    expect(await eventTexts(page)).toEqual(['{\n  "shown": 1\n}']);
    expect(await page.locator('#watch-form').isVisible()).toBe(true);
    await close();
  });

  it('asks no more whether to delete a callback that has expired meanwhile', async () => {
    const { page, close } = await openPage({}, true);
    await page.clock.install();
    await page.goto(`${url}/inbox`);
    const { callback } = await boughtCallback(url);
    await watch(page, callback);
    await page.click('#delete');
    clock.aheadMs += TEN_MINUTES_MS;
    await page.clock.fastForward(TEN_MINUTES_MS);
    await page.locator('#state', { hasText: 'Expired' }).waitFor();
    expect(await page.locator('#delete-dialog').isVisible()).toBe(false);
    await close();
  });

  it('believes the server when the clock of the visitor is wrong', async () => {
    const { page, close } = await openPage({}, true);
    await page.clock.install({ time: Date.now() + 24 * 3_600_000 });
    await page.goto(`${url}/inbox`);
    const { callback } = await boughtCallback(url);
    await watch(page, callback);
    expect(await page.locator('#time-left').innerText()).toMatch(/^(10:00|9:\d\d) left$/);
    expect(await page.locator('#state').innerText()).toBe('Watching');
    await page.waitForTimeout(1_500);
    expect(await page.locator('#state').innerText()).toBe('Watching');
    await close();
  });

  it.runIf(IS_WHOLE).each(LOOKS)(
    'axe finds nothing on it, empty, full and over, $name',
    { timeout: AXE_TIMEOUT_MS },
    async (look) => {
      const { page, close } = await openPage({ ...look, reducedMotion: 'no-preference' });
      await page.goto(`${url}/inbox`);
      expect(await axeViolations(page)).toEqual([]);
      const { callback } = await boughtCallback(url);
      await watch(page, callback);
      await send(callback, `{"long":"${'word'.repeat(200)}","list":[1,true,null,{"deep":"text"}]}`);
      await send(callback, 'a=1&b=two', 'application/x-www-form-urlencoded');
      await page.locator('#events > li').nth(1).waitFor();
      for (const summary of await page.locator('#events summary').all()) await summary.click();
      // The colour of arrival fades; what remains is judged.
      await page.waitForTimeout(2_500);
      expect(await axeViolations(page)).toEqual([]);
      expect(await isWiderThanWindow(page)).toBe(false);
      await page.locator('#delete').click();
      expect(await axeViolations(page)).toEqual([]);
      await page.locator('#delete-confirm').click();
      await page.locator('#state', { hasText: 'Deleted' }).waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await close();
    },
  );
});
