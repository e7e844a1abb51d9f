/**
 * The memory of a parked request and the time to wake it: the whole application as `serve` runs it, and a bare server of the
 * same runtime that holds responses, answers all of them at a post, and does nothing else: no token, timeout, log or disk. Both
 * receive the same bytes and send about the same answer.
 */
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { median } from '../harness.ts';
import { GROUP, groupCountFor, groupsOf, measureParked, type Parked } from '../parked.ts';
import { buyCallbacks, type Served, serveApplication, startMeasured } from '../served.ts';
import { listenBare } from './bare-server.ts';

const WAIT_COUNT = 10_000;
/** "As fast as the box allows", 6. */
const MEMORY_RATIO_MAX = 1.3;
const WAKE_RATIO_MAX = 2;

const CALLBACK = 'cb_0123456789abcdefghijklmn';
const EVENT = 'evt_0123456789abcdefghijklmn';
/** What the application answers, in length. */
const BODY = JSON.stringify({
  received: true,
  timeout: false,
  event: {
    id: EVENT,
    received_at: '2026-07-15T00:00:00Z',
    method: 'POST',
    content_type: 'text/plain',
    headers: { 'content-type': 'text/plain', 'user-agent': 'node' },
    body: 'x',
    size_bytes: 1,
  },
  next_wait_url: `/v1/callbacks/${CALLBACK}/wait?after=${EVENT}&timeout=30`,
});

export interface WaitOptions {
  readonly program: string;
  readonly runtime: string;
  readonly rounds: number;
}

const KINDS = ['bare', 'application', 'application on disk'] as const;
type Kind = (typeof KINDS)[number];

async function start(kind: Kind, program: string, isBunProgram: boolean): Promise<Served> {
  if (kind === 'bare') return startMeasured(program, isBunProgram, [fileURLToPath(import.meta.url), '--serve']);
  const state = kind === 'application' ? ':memory:' : 'folder';
  return serveApplication({ program, isBun: isBunProgram, state });
}

async function measured(kind: Kind, served: Served): Promise<Parked> {
  const count = groupCountFor(WAIT_COUNT);
  const callbacks =
    kind === 'bare'
      ? Array.from({ length: count }, (_, i) => ({
          id: `cb_${String(i).padStart(24, '0')}`,
          token: `svc_cb_sk_${'x'.repeat(43)}`,
        }))
      : await buyCallbacks(served.port, count);
  return measureParked(served, groupsOf(callbacks), WAIT_COUNT);
}

export async function measureWaits({ program, runtime, rounds }: WaitOptions): Promise<unknown> {
  const isBunProgram = runtime.startsWith('Bun');
  const results: Record<Kind, Parked[]> = { bare: [], application: [], 'application on disk': [] };
  for (let round = 0; round < rounds; round++) {
    for (const kind of KINDS) {
      const served = await start(kind, program, isBunProgram);
      try {
        results[kind].push(await measured(kind, served));
      } finally {
        served.stop();
      }
    }
  }
  const figures: Record<string, unknown> = {};
  console.log(
    `${runtime}: ${WAIT_COUNT} parked requests, ${GROUP} woken by each post; medians of ${rounds} rounds in turn`,
  );
  console.log('  application: `serve`, state in memory (on disk: synced before it wakes); bare: holds responses only');
  const rows = [
    ['kib', 'resident, collected, KiB each', 'application', MEMORY_RATIO_MAX],
    ['uncollectedKib', 'resident as it stood, KiB each', 'application', undefined],
    ['heapKib', 'heap, KiB each', 'application', undefined],
    ['p50Ms', 'woken, p50, ms', 'application', undefined],
    ['p99Ms', 'woken, p99, ms', 'application', WAKE_RATIO_MAX],
    ['p50Ms', 'woken, p50, ms', 'application on disk', undefined],
    ['p99Ms', 'woken, p99, ms', 'application on disk', undefined],
  ] as const;
  for (const [name, title, kind, ratioMax] of rows) {
    const ours = results[kind].map((each) => each[name]);
    const bare = results.bare.map((each) => each[name]);
    const ratio = median(ours.map((value, round) => value / bare[round]!));
    figures[`${kind}: ${name}`] = { ours, bare, ratio, ratioMax };
    const bound = ratioMax === undefined ? '' : ` (at most ${ratioMax})`;
    const values = `${median(ours).toFixed(2)}, bare ${median(bare).toFixed(2)}`;
    console.log(`  ${kind.padEnd(19)} ${title.padEnd(31)} ${values.padEnd(18)} x ${ratio.toFixed(2)}${bound}`);
  }
  return figures;
}

type Answer = () => void;

/** Holds a GET until a POST with the same id comes. */
function serveBare(): Promise<number> {
  const parked = new Map<string, Answer[]>();
  const wake = (id: string): void => {
    for (const answer of parked.get(id) ?? []) answer();
    parked.delete(id);
  };
  const park = (id: string, answer: Answer): void => {
    const those = parked.get(id);
    if (those === undefined) parked.set(id, [answer]);
    else those.push(answer);
  };
  const idIn = (url: string): string => /cb_\d+/.exec(url)![0];
  const headers = { 'content-type': 'application/json' };
  const end = (outgoing: ServerResponse): void => {
    outgoing.writeHead(200, headers).end(BODY);
  };
  return listenBare(
    (incoming, outgoing) => {
      const id = idIn(incoming.url!);
      if (incoming.method === 'GET') {
        park(id, () => end(outgoing));
        return;
      }
      wake(id);
      end(outgoing);
    },
    (request) => {
      const id = idIn(request.url);
      if (request.method === 'GET') {
        return new Promise((resolve) => park(id, () => resolve(new Response(BODY, { headers }))));
      }
      wake(id);
      return new Response(BODY, { headers });
    },
  );
}

if (process.argv[2] === '--serve') console.log(`listening on http://127.0.0.1:${await serveBare()}`);
