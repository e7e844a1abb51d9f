/** Extraction in threads: off the loop, ended in time, and never the end of a resolve. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority, platform } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ExtractionThreadOptions } from '../../../src/adapters/extraction/extraction-thread.ts';
import { ThreadExtractor, TOO_LATE } from '../../../src/adapters/extraction/thread-extractor.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { Exposition } from '../../../src/base/prometheus.ts';
import type { Timers } from '../../../src/base/timers.ts';
import { extract } from '../../../src/resolve/extraction/extract.ts';
import { INCLUDES } from '../../../src/resolve/result.ts';
import type { Document } from '../../../src/resolve/work.ts';

const HANGING = new URL('./hanging-thread.mjs', import.meta.url);

const opened: ThreadExtractor[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function open(options?: ExtractionThreadOptions, timers: Timers = systemTimers) {
  const failures: string[] = [];
  const ports = { clock: systemClock, timers, onFailure: (why: string) => void failures.push(why) };
  const extractor = new ThreadExtractor(ports, options);
  opened.push(extractor);
  const outcomes = (): string => {
    const page = new Exposition();
    extractor.writeMetrics(page);
    return page.text;
  };
  return { extractor, failures, outcomes };
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

const documentOf = (html: string, path = ''): Document => ({
  body: Buffer.from(html),
  contentType: 'text/html',
  url: `https://t.example/${path}`,
  include: INCLUDES,
  isTruncated: false,
});
const sha256 = ({ body }: Document): string => createHash('sha256').update(body).digest('hex');
const NOTHING = { metadata: null, text: null, links: null };

describe('documents in threads', () => {
  it('come back as they are read in this one, with their digest', async () => {
    const { extractor, outcomes } = open();
    const documents = Array.from({ length: 5 }, (_, i) => documentOf(`<title>${i}</title><p>text ${i}`));
    const found = await Promise.all(documents.map((one) => extractor.extract(one, 30_000)));
    expect(found).toEqual(documents.map((one) => ({ content: extract(one), sha256: sha256(one) })));
    expect(outcomes()).toContain('paygrade_resolve_extractions_total{outcome="done"} 5');
  });

  it('that take more than two seconds of the thread’s own time are given up, and the next is read by another', async () => {
    const { timers, fire, set } = ownTimers();
    let workedMs = 0;
    const { extractor, outcomes } = open({ entry: HANGING, timeOf: () => workedMs }, timers);
    for (const one of [documentOf('<p>slow'), documentOf('<p>slow again')]) {
      const startMs = workedMs;
      const late = extractor.extract(one, 30_000);
      // Two seconds on the wall, of which the thread had less: it goes on for the rest of them, and looks are 20 ms apart.
      await fire(2000);
      workedMs = startMs + 300;
      await fire(2000);
      workedMs = startMs + 1990;
      await fire(1700);
      workedMs = startMs + 2000;
      await fire(20);
      expect(await late).toEqual({ content: { ...NOTHING, warnings: [TOO_LATE] }, sha256: sha256(one) });
    }
    expect(outcomes()).toContain('paygrade_resolve_extractions_total{outcome="late"} 2');
    expect([...set]).toEqual([]);
  });

  it.each([
    ['whose thread gets no processor', '', 30_000, 20_000],
    ['that are never begun', 'before', 30_000, 20_000],
    ['whose resolve has a second left', '', 1000, 1000],
  ])('%s are given up in the end', async (_, path, timeoutMs, atMs) => {
    const { timers, fire } = ownTimers();
    const clock = { ...systemClock, monotonicMs: () => 0 };
    const extractor = new ThreadExtractor({ clock, timers, onFailure: () => {} }, { entry: HANGING, timeOf: () => 0 });
    opened.push(extractor);
    const one = documentOf('<p>x', path);
    const late = extractor.extract(one, timeoutMs);
    await fire(atMs);
    expect(await late).toEqual({ content: { ...NOTHING, warnings: [TOO_LATE] }, sha256: sha256(one) });
  });

  it('have two seconds on the wall from their beginning where the time of threads is not known', async () => {
    const { timers, fire } = ownTimers();
    const { extractor } = open({ entry: HANGING, timeOf: () => undefined }, timers);
    const late = extractor.extract(documentOf('<p>x'), 30_000);
    await fire(2000);
    expect((await late).content.warnings).toEqual([TOO_LATE]);
  });

  it('whose thread dies give nulls and a warning, and the failure is reported', async () => {
    const { extractor, failures } = open({ entry: HANGING });
    const one = documentOf('<p>x', 'end');
    const { content, sha256: digest } = await extractor.extract(one, 30_000);
    expect(content).toMatchObject(NOTHING);
    expect(content.warnings).toHaveLength(1);
    expect(digest).toBe(sha256(one));
    expect(failures).toEqual(['the extraction thread ended']);
  });

  it('that have no time left are not begun', async () => {
    const { extractor } = open();
    const one = documentOf('<p>x');
    expect(await extractor.extract(one, 0)).toEqual({
      content: { ...NOTHING, warnings: [TOO_LATE] },
      sha256: sha256(one),
    });
  });

  it('that wait when the server stops end, and so does a close without any', async () => {
    const { extractor } = open({ entry: HANGING });
    const waiting = Array.from({ length: 4 }, (_, i) => extractor.extract(documentOf(`<p>${i}`), 30_000));
    await extractor.close();
    for (const { content } of await Promise.all(waiting)) expect(content).toMatchObject(NOTHING);
    await open().extractor.close();
  });

  it('do not hold up the loop that answers', async () => {
    const big = documentOf(`<main>${'<p>some words <a href="/x">and a link</a></p>'.repeat(8000)}</main>`);
    extract(big);
    const startMs = performance.now();
    extract(big);
    const directMs = performance.now() - startMs;
    const { extractor } = open();
    await extractor.extract(big, 30_000);
    const latenesses: number[] = [];
    let lastMs = performance.now();
    const ticking = setInterval(() => {
      const nowMs = performance.now();
      latenesses.push(nowMs - lastMs);
      lastMs = nowMs;
    }, 1);
    await Promise.all(Array.from({ length: 6 }, () => extractor.extract(big, 30_000)));
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
