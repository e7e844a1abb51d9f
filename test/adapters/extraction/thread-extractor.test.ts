/** Extraction in threads: off the loop, ended in time, and never the end of a resolve. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, platform } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { ExtractionThreadOptions } from '../../../src/adapters/extraction/extraction-thread.ts';
import { ThreadExtractor, TOO_LATE } from '../../../src/adapters/extraction/thread-extractor.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { Exposition } from '../../../src/base/prometheus.ts';
import { THREAD_START_MS } from '../../../src/base/start-thread.ts';
import type { Timers } from '../../../src/base/timers.ts';
import type { Coding } from '../../../src/outbound/codings.ts';
import { UNPACKED_BYTES_MAX } from '../../../src/outbound/limits.ts';
import { extract } from '../../../src/resolve/extraction/extract.ts';
import { EXTRACTION_MS } from '../../../src/resolve/limits.ts';
import { INCLUDES } from '../../../src/resolve/result.ts';
import type { Document, Extracted } from '../../../src/resolve/work.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { threadsStarted } from '../../support/started-threads.ts';
import { partOf } from '../../support/whole.ts';

const HANGING = new URL('./hanging-thread.mjs', import.meta.url);
const SANDBOXED = new URL('./sandboxed-thread.mjs', import.meta.url);

const opened: ThreadExtractor[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** It is the caller's to close. */
function made(options?: ExtractionThreadOptions, timers: Timers = systemTimers) {
  const failures: string[] = [];
  const ports = { clock: systemClock, timers, onFailure: (why: string) => void failures.push(why) };
  const extractor = new ThreadExtractor(ports, options);
  const outcomes = (): string => {
    const page = new Exposition();
    extractor.writeMetrics(page);
    return page.text;
  };
  return { extractor, failures, outcomes };
}

/** Closed after the test. */
function open(...options: Parameters<typeof made>): ReturnType<typeof made> {
  const one = made(...options);
  opened.push(one.extractor);
  return one;
}

/** Timers that fire when the test says so. */
function ownTimers() {
  const set = new Map<number, () => void>();
  const timers: Timers = {
    after(delayMs, run) {
      set.set(delayMs, run);
      return () => void (set.get(delayMs) === run && set.delete(delayMs));
    },
  };
  /** Fires the timer of `delayMs` as soon as it is set. */
  const fire = async (delayMs: number): Promise<void> => {
    const run = await vi.waitUntil(() => set.get(delayMs), { timeout: 30_000 });
    set.delete(delayMs);
    run();
  };
  return { timers, fire, set };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Reads a document that is given up while its thread is in native code, which holds up the thread's end until `letEnd`. */
async function lateInNativeCode(extractor: ThreadExtractor, fire: (delayMs: number) => Promise<void>) {
  const file = join(testFolder(), 'begun');
  const late = extractor.extract(documentOf('<p>x', `native?${file}`), 30_000);
  await vi.waitUntil(() => existsSync(file), { timeout: 30_000, interval: 5 });
  await fire(EXTRACTION_MS);
  expect(contentOf(await late).warnings).toEqual([TOO_LATE]);
  await nextTurn();
  return { letEnd: () => rmSync(file) };
}

const documentOf = (html: string, path = ''): Document => ({
  body: new TextEncoder().encode(html),
  codings: [],
  isUnreadable: false,
  contentType: 'text/html',
  url: `https://t.example/${path}`,
  include: INCLUDES,
  isTruncated: false,
});
/** What is known of a body, packed or not, whatever becomes of the rest. */
const measuredOf = (body: Uint8Array) => ({ kind: 'read', sha256: hash('sha256', body), sizeBytes: body.length });
const contentOf = (extracted: Extracted) =>
  extracted.kind === 'read' ? extracted.content : expect.fail(extracted.kind);
const NOTHING = { metadata: null, text: null, links: null };

describe('documents in threads', () => {
  it('come back as they are read in this one, with their digest', async () => {
    const { extractor, outcomes } = open();
    const documents = Array.from({ length: 5 }, (_, i) => documentOf(`<title>${i}</title><p>text ${i}`));
    const expected = documents.map((one) => ({ ...measuredOf(one.body), content: extract(one) }));
    const found = await Promise.all(documents.map((one) => extractor.extract(one, 30_000)));
    expect(found).toEqual(expected);
    expect(outcomes()).toContain('paygrade_resolve_extractions_total{outcome="done"} 5');
  });

  it('that take more than two seconds of the thread’s own time are given up, and the next is read by another', async () => {
    const { timers, fire, set } = ownTimers();
    let workedMs = 0;
    const { extractor, outcomes } = open({ entry: HANGING, timeOf: () => workedMs }, timers);
    for (const one of [documentOf('<p>slow'), documentOf('<p>slow again')]) {
      const startMs = workedMs;
      const expected = { content: { ...NOTHING, warnings: [TOO_LATE] }, ...measuredOf(one.body) };
      const late = extractor.extract(one, 30_000);
      // Two seconds on the wall, of which the thread had less: it goes on for the rest of them, and looks are 20 ms apart.
      await fire(2000);
      workedMs = startMs + 300;
      await fire(2000);
      workedMs = startMs + 1990;
      await fire(1700);
      workedMs = startMs + 2000;
      await fire(20);
      expect(await late).toEqual(expected);
    }
    expect(outcomes()).toContain('paygrade_resolve_extractions_total{outcome="late"} 2');
    expect([...set]).toEqual([]);
  });

  it.each([
    ['whose thread gets no processor', '', 30_000, 20_000, 'read'],
    ['that are never begun', 'before', 30_000, 20_000, 'unread'],
    ['whose resolve has a second left', '', 1000, 1000, 'read'],
  ])('%s are given up in the end', async (_, path, timeoutMs, atMs, kind) => {
    const { timers, fire, set } = ownTimers();
    const clock = { ...systemClock, monotonicMs: () => 0 };
    const extractor = new ThreadExtractor({ clock, timers, onFailure: () => {} }, { entry: HANGING, timeOf: () => 0 });
    opened.push(extractor);
    const one = documentOf('<p>x', path);
    const read = { content: { ...NOTHING, warnings: [TOO_LATE] }, ...measuredOf(one.body) };
    const late = extractor.extract(one, timeoutMs);
    // From then on it is known what the body is.
    if (kind === 'read') await vi.waitUntil(() => set.has(2000), { timeout: 30_000 });
    await fire(atMs);
    expect(await late).toEqual(kind === 'read' ? read : { kind });
  });

  it('whose resolve ends before it is known what they are give nulls and a warning', async () => {
    const { timers, fire, set } = ownTimers();
    const clock = { ...systemClock, monotonicMs: () => 0 };
    const extractor = new ThreadExtractor({ clock, timers, onFailure: () => {} }, { entry: HANGING, timeOf: () => 0 });
    opened.push(extractor);
    const one = documentOf('<p>x');
    const expected = { content: { ...NOTHING, warnings: [TOO_LATE] }, ...measuredOf(one.body) };
    const late = extractor.extract(one, 1000);
    await fire(1000);
    expect(await late).toEqual(expected);
    expect([...set]).toEqual([]);
  });

  it('have two seconds on the wall from their beginning where the time of threads is not known', async () => {
    const { timers, fire } = ownTimers();
    const { extractor } = open({ entry: HANGING, timeOf: () => undefined }, timers);
    const late = extractor.extract(documentOf('<p>x'), 30_000);
    await fire(2000);
    expect(contentOf(await late).warnings).toEqual([TOO_LATE]);
  });

  it('are read by the other thread while one that was given up does not end', async () => {
    const started = threadsStarted();
    const { timers, fire } = ownTimers();
    const { extractor, failures } = open({ entry: HANGING, timeOf: () => undefined }, timers);
    const { letEnd } = await lateInNativeCode(extractor, fire);
    await fire(THREAD_START_MS);
    expect(failures).toEqual(['the extraction thread does not end']);
    const others = Array.from({ length: 3 }, (_, i) => extractor.extract(documentOf(`<p>${i}`, 'end'), 30_000));
    for (const { kind } of await Promise.all(others)) expect(kind).toBe('read');
    expect(started.map(({ threadId }) => threadId > 0)).toEqual([true, false, false, false]);
    letEnd();
  });

  it('fail while both threads were given up and do not end, and are read when one has ended', async () => {
    const started = threadsStarted();
    const { timers, fire, set } = ownTimers();
    const { extractor, failures, outcomes } = open({ entry: HANGING, timeOf: () => undefined }, timers);
    const first = await lateInNativeCode(extractor, fire);
    await fire(THREAD_START_MS);
    const second = await lateInNativeCode(extractor, fire);
    const waiting = extractor.extract(documentOf('<p>x', 'end'), 30_000);
    await fire(THREAD_START_MS);
    expect(await waiting).toEqual({ kind: 'unread' });
    expect(await extractor.extract(documentOf('<p>x', 'end'), 30_000)).toEqual({ kind: 'unread' });
    expect(failures).toEqual(Array(2).fill('the extraction thread does not end'));
    expect(outcomes()).toContain('paygrade_resolve_extractions_total{outcome="failed"} 2');
    first.letEnd();
    await new Promise((resolve) => started[0]?.once('exit', resolve));
    await nextTurn();
    expect(await extractor.extract(documentOf('<p>x', 'end'), 30_000)).toMatchObject({ kind: 'read' });
    expect(started).toHaveLength(3);
    second.letEnd();
    await new Promise((resolve) => started[1]?.once('exit', resolve));
    await expect.poll(() => set.size).toBe(0);
  });

  it('that wait for threads that are still ending when the server stops end at once', async () => {
    const started = threadsStarted();
    const { timers, fire, set } = ownTimers();
    const { extractor, failures } = open({ entry: HANGING, timeOf: () => undefined }, timers);
    const first = await lateInNativeCode(extractor, fire);
    await fire(THREAD_START_MS);
    const second = await lateInNativeCode(extractor, fire);
    const waiting = extractor.extract(documentOf('<p>x'), 30_000);
    await extractor.close();
    expect(await waiting).toEqual({ kind: 'unread' });
    expect(started.every(({ threadId }) => threadId > 0)).toBe(true); // still ending
    for (const { letEnd } of [first, second]) letEnd();
    await Promise.all(started.map((thread) => new Promise((resolve) => thread.once('exit', resolve))));
    await nextTurn();
    expect([started.length, failures.length, set.size]).toEqual([2, 1, 0]);
  });

  it('whose thread dies give nulls and a warning, and the failure is reported', async () => {
    const { extractor, failures } = open({ entry: HANGING });
    const one = documentOf('<p>x', 'end');
    const measured = measuredOf(one.body);
    const extracted = await extractor.extract(one, 30_000);
    expect(extracted).toMatchObject({ ...measured, content: NOTHING });
    expect(contentOf(extracted).warnings).toHaveLength(1);
    expect(failures).toEqual(['the extraction thread ended']);
  });

  it('whose thread dies before it has unpacked them are unread, and the failure is reported', async () => {
    const { extractor, failures } = open({ entry: HANGING });
    expect(await extractor.extract(documentOf('<p>x', 'end-at-once'), 30_000)).toEqual({ kind: 'unread' });
    expect(failures).toEqual(['the extraction thread ended']);
  });

  it('in a coding that was not asked for are measured as they came, and not read', async () => {
    const one = documentOf('<title>Packed in some other way</title>');
    const measured = measuredOf(one.body);
    const found = await open().extractor.extract({ ...one, isUnreadable: true }, 30_000);
    expect(found).toMatchObject({ ...measured, content: NOTHING });
    expect(contentOf(found).warnings).toEqual([expect.stringContaining('a coding that was not asked for')]);
  });

  const html = `<title>Packed</title>${'<p>words'.repeat(20_000)}`;
  const packed = (body: Uint8Array, ...codings: Coding[]): Document => ({
    ...documentOf(''),
    body: new Uint8Array(body),
    codings,
  });
  /** 512 MiB in `npm run test:slow`, which take seconds to pack; in `npm test` eight times what may be. */
  const bomb = gzipSync(gzipSync(Buffer.alloc(partOf(64, 8) * UNPACKED_BYTES_MAX)));

  describe.each([
    ['read in a thread', 30_000],
    ['that have no time left', 0],
  ])('packed ones %s', (_, timeoutMs) => {
    /** Starting threads takes longer than a document: one extractor has them all. */
    const shared = made();
    afterAll(() => shared.extractor.close());

    it.each<[string, Document, number]>([
      ['gzip', packed(gzipSync(html), 'gzip'), html.length],
      ['deflate', packed(deflateSync(html), 'deflate'), html.length],
      ['deflate without a frame', packed(deflateRawSync(html), 'deflate'), html.length],
      ['br', packed(brotliCompressSync(html), 'br'), html.length],
      ['two codings', packed(brotliCompressSync(gzipSync(html)), 'br', 'gzip'), html.length],
      ['nothing', packed(Buffer.alloc(0), 'gzip'), 0],
      ['as much as may be', packed(gzipSync(Buffer.alloc(UNPACKED_BYTES_MAX)), 'gzip'), UNPACKED_BYTES_MAX],
    ])('are measured as what they unpack to: %s', async (_, document, sizeBytes) => {
      const found = await shared.extractor.extract(document, timeoutMs);
      expect(found).toMatchObject({ kind: 'read', sizeBytes });
      if (sizeBytes !== html.length) return;
      const body = new TextEncoder().encode(html);
      expect(found).toMatchObject(measuredOf(body));
      if (timeoutMs > 0) expect(contentOf(found)).toEqual(extract({ ...document, body }));
      else expect(contentOf(found).warnings).toEqual([TOO_LATE]);
    });

    it('that were cut give what comes before the cut', async () => {
      const noise = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5003).join(' ');
      const whole = gzipSync(noise);
      const document = { ...packed(whole.subarray(0, whole.length / 2), 'gzip'), isTruncated: true };
      const found = await shared.extractor.extract(document, timeoutMs);
      if (found.kind !== 'read') return expect.fail(found.kind);
      expect(found.sizeBytes).toBeGreaterThan(noise.length / 4);
      expect(found.sha256).toBe(hash('sha256', noise.slice(0, found.sizeBytes)));
    });

    it.each<[Extracted['kind'], string, Document]>([
      ['too-large', 'more than may be', packed(gzipSync(Buffer.alloc(UNPACKED_BYTES_MAX + 1)), 'gzip')],
      ['too-large', 'a bomb in a bomb', packed(bomb, 'gzip', 'gzip')],
      ['broken', 'what ends early by itself', packed(gzipSync('whole').subarray(0, -1), 'gzip')],
      ['broken', 'what is not packed', packed(Buffer.from('plain'), 'gzip')],
    ])('are %s: %s', async (kind, _, document) => {
      const { extractor, outcomes, failures } = open();
      expect(await extractor.extract(document, timeoutMs)).toEqual({ kind });
      expect(outcomes()).toContain('paygrade_resolve_extractions_total{outcome="refused"} 1');
      expect(failures).toEqual([]);
    });
  });

  it('that have no time left are not read', async () => {
    const { extractor } = open();
    const one = documentOf('<p>x');
    const measured = measuredOf(one.body);
    expect(await extractor.extract(one, 0)).toEqual({ ...measured, content: { ...NOTHING, warnings: [TOO_LATE] } });
  });

  it('whose thread starts too late for them are not read', async () => {
    let nowMs = 0;
    process.once('worker', () => {
      nowMs = 1000;
    });
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const extractor = new ThreadExtractor({ clock, timers: systemTimers, onFailure: () => {} });
    opened.push(extractor);
    const one = documentOf('<title>x</title>');
    const expected = { ...measuredOf(one.body), content: { ...NOTHING, warnings: [TOO_LATE] } };
    expect(await extractor.extract(one, 1000)).toEqual(expected);
  });

  it('that wait when the server stops end, and so does a close without any', async () => {
    const { extractor } = open({ entry: HANGING });
    const waiting = Array.from({ length: 4 }, (_, i) => extractor.extract(documentOf(`<p>${i}`), 30_000));
    await extractor.close();
    const kinds = (await Promise.all(waiting)).map(({ kind }) => kind);
    expect(kinds.slice(2)).toEqual(['unread', 'unread']);
    await open().extractor.close();
  });

  it('that wait for a thread that is ready just when the server stops end too', { timeout: 10_000 }, async () => {
    const { extractor, failures } = open();
    process.once('worker', (worker) => worker.prependOnceListener('message', () => void extractor.close()));
    expect(await extractor.extract(documentOf('<p>x'), 30_000)).toEqual({ kind: 'unread' });
    expect(failures).toEqual([]);
  });

  it('do not hold up the loop that answers', async () => {
    const html = `<main>${'<p>some words <a href="/x">and a link</a></p>'.repeat(8000)}</main>`;
    const big = documentOf(html);
    extract(big);
    const startMs = performance.now();
    extract(big);
    const directMs = performance.now() - startMs;
    const { extractor } = open();
    await extractor.extract(documentOf(html), 30_000);
    const latenesses: number[] = [];
    let lastMs = performance.now();
    const ticking = setInterval(() => {
      const nowMs = performance.now();
      latenesses.push(nowMs - lastMs);
      lastMs = nowMs;
    }, 1);
    await Promise.all(Array.from({ length: 6 }, () => extractor.extract(documentOf(html), 30_000)));
    clearInterval(ticking);
    latenesses.sort((a, b) => a - b);
    expect(latenesses.length).toBeGreaterThan(10);
    // On the loop, each of the six would hold it up for as long as it takes.
    expect(latenesses[Math.floor(0.9 * latenesses.length)]).toBeLessThan(Math.max(20, directMs / 2));
  });
});

it.runIf(platform() === 'linux')('the threads of documents yield to the loop: they are nicer than it is', async () => {
  const { extractor } = open();
  await Promise.all([1, 2].map((number) => extractor.extract(documentOf(`<p>${number}`), 30_000)));
  // proc_pid_stat(5): the 19th field, the 17th after the name in brackets.
  const nicenesses = readdirSync('/proc/self/task').flatMap((thread) => {
    const path = `/proc/self/task/${thread}/stat`;
    return existsSync(path)
      ? Number(
          readFileSync(path, 'utf8')
            .replace(/^.*\) /, '')
            .split(' ')[16],
        )
      : [];
  });
  const expected = Math.min(19, getPriority() + 10);
  expect(nicenesses.filter((niceness) => niceness === expected).length).toBeGreaterThanOrEqual(2);
});

it('reads documents where a sandbox forbids a lower priority', async () => {
  const { extractor, failures } = open({ entry: SANDBOXED });
  expect(contentOf(await extractor.extract(documentOf('<title>read</title>'), 30_000)).metadata?.title).toBe('read');
  expect(failures).toEqual([]);
});
