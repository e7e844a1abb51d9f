/**
 * Reading a full callback, ten events of 262,144 bytes each, through the application without sockets: the time of one
 * answer, and the longest turn of the loop meanwhile. The bodies are the worst of their kind: control characters that
 * become six bytes each, and invalid bytes that are replaced one by one.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { systemTimers } from '../src/adapters/process/system-timers.ts';
import { systemClock } from '../src/base/clock.ts';
import { bodyFormOf } from '../src/base/media-type.ts';
import { systemRandom } from '../src/base/random.ts';
import { retainedHeaders } from '../src/callback/event.ts';
import { Inbox } from '../src/callback/inbox/inbox.ts';
import { CLAIM_BYTES, EVENT_COUNT_MAX, PAYLOAD_BYTES_MAX } from '../src/callback/limits.ts';
import type { Reply } from '../src/http/answers.ts';
import { BodyPieces } from '../src/http/answers.ts';
import { BodyStreams } from '../src/http/body-stream.ts';
import { eventsReply } from '../src/modules/callbacks/replies.ts';
import { MemoryEventStore } from '../src/storage/memory/event-store.ts';
import { type Context, type Figure, figureOf, sized } from './harness.ts';

const BODIES = [
  ['control characters', 'text/plain', 1],
  ['malformed UTF-8', 'text/plain', 0xff],
  ['malformed gb18030', 'text/plain; charset=gb18030', 0xff],
  ['letters', 'text/plain', 0x61],
] as const;

interface Read {
  readonly tookMs: number;
  /** Processor time of the longest turn where that is less than its wall time: the rest was another process's. */
  readonly longestTurnMs: number;
  readonly byteCount: number;
}

async function readAll(reply: Reply): Promise<Read> {
  ok(reply.body instanceof BodyPieces);
  const streams = new BodyStreams({
    report: (failure) => {
      throw failure;
    },
  });
  let isOver = false;
  let longestTurnMs = 0;
  const watch = (async () => {
    while (!isOver) {
      const startMs = performance.now();
      const cpu = process.cpuUsage();
      await new Promise((resolve) => setImmediate(resolve));
      const { user, system } = process.cpuUsage(cpu);
      longestTurnMs = Math.max(longestTurnMs, Math.min(performance.now() - startMs, (user + system) / 1000));
    }
  })();
  const startMs = performance.now();
  let byteCount = 0;
  const reader = streams.open(reply.body, { requestId: 'req_1', cut: () => false }, () => {}).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) byteCount += read.value.length;
  const tookMs = performance.now() - startMs;
  isOver = true;
  await watch;
  return { tookMs, longestTurnMs, byteCount };
}

export async function measure({ size }: Context): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, contentType, byte] of BODIES) {
    const inbox = new Inbox(CLAIM_BYTES, {
      clock: systemClock,
      random: systemRandom,
      timers: systemTimers,
      store: new MemoryEventStore(),
      onFailure: () => {},
    });
    ok(inbox.capacity.tryClaim());
    const { id } = await inbox.create(inbox.draft());
    const form = bodyFormOf(contentType);
    ok(form);
    const admission = inbox.admit(id);
    if (admission.kind !== 'admitted') throw new Error(admission.kind);
    const retained = retainedHeaders((header) => (header === 'content-type' ? contentType : null));
    const bytes = new Uint8Array(PAYLOAD_BYTES_MAX).fill(byte);
    for (let e = 0; e < EVENT_COUNT_MAX; e++) {
      const received = await inbox.receive(admission.callback, { method: 'POST', form, retained, bytes });
      deepStrictEqual(received.kind, 'stored');
    }
    const reads: Read[] = [];
    for (let round = 0; round < sized(size, 2, 20); round++) {
      const listing = await inbox.events(admission.callback);
      if (listing.kind !== 'events') throw new Error(listing.kind);
      const read = await readAll(eventsReply('[', listing.events, ']', id));
      ok(read.byteCount > EVENT_COUNT_MAX * PAYLOAD_BYTES_MAX);
      reads.push(read);
    }
    inbox.close();
    figures.push(
      figureOf(
        `ten events of ${name}`,
        'ms',
        reads.map(({ tookMs }) => tookMs),
      ),
      figureOf(
        'longest turn meanwhile',
        'ms',
        reads.map(({ longestTurnMs }) => longestTurnMs),
        'at most 5 beyond an idle loop',
      ),
    );
  }
  return figures;
}
