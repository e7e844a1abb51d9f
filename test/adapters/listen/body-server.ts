/**
 * A program for tests: a listener whose handler reads the body within `?max` bytes (256 KiB) and `?ms` milliseconds, and
 * answers with its length and digest, or with why it was not read. `/unread` answers and reads nothing; `/claimed` says how many bytes of
 * the budget are taken.
 */
import { createHash } from 'node:crypto';
import type { ClientConnection, ServedRequest } from '../../../src/adapters/listen/listen.ts';
import { openListener } from '../../../src/adapters/listen/open-listener.ts';
import { LISTENER_BODIES } from '../../../src/adapters/process/runtime-bodies.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { Deadlines } from '../../../src/base/deadlines.ts';
import { type BodyRead, BodyReader, type BodyRequest } from '../../../src/http/body.ts';
import { BodyBudget } from '../../../src/http/body-budget.ts';
import { WAITING_BODY_BYTES } from '../../../src/http/limits.ts';
import type { MadeResponse } from '../../../src/http/response-form.ts';

const { buffersBodies, responses } = LISTENER_BODIES;
const made = (body: string | null, status = 200, headers = {}): MadeResponse => responses.make(body, status, headers);

const budget = new BodyBudget(Number(process.env.BODY_BYTES ?? 64 * 1_048_576));
const reader = new BodyReader(
  budget,
  new Deadlines(systemClock, systemTimers, true),
  WAITING_BODY_BYTES[buffersBodies ? 'bun' : 'node'],
);

const nameOf = (read: BodyRead): string =>
  read.ok ? `${read.bytes.length} ${createHash('sha256').update(read.bytes).digest('hex')}` : read.kind;

const later = (response: MadeResponse, ms: number): Promise<MadeResponse> =>
  new Promise((resolve) => setTimeout(() => resolve(response), ms));

function answerOf(request: ServedRequest, client: ClientConnection): MadeResponse | Promise<MadeResponse> {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  const number = (name: string, usual: number): number => Number(searchParams.get(name) ?? usual);
  switch (pathname) {
    case '/claimed':
      return made(String(budget.claimedBytes));
    case '/memory':
      return made(String(process.memoryUsage().rss));
    case '/unread':
      return made('unread');
    case '/unread-later':
      return later(made('unread'), number('pause', 0));
    case '/empty':
      return made(null, number('status', 204), { etag: '"1"' });
    case '/unsendable':
      return made('x', 200, { 'x-name': '\u{1F600}' });
  }
  const sent: BodyRequest = {
    body: request,
    clientNetwork: () => 'all',
    onDisconnect: (listener) => client.onDisconnect?.(listener),
  };
  const pauseMs = number('pause', 0);
  const bounds = { bytesMax: number('max', 262_144), deadlineMs: number('ms', 20_000) };
  return reader.use(sent, bounds, (read) => {
    const response = made(nameOf(read));
    return pauseMs === 0 ? response : later(response, pauseMs);
  });
}

const listener = await openListener({
  host: '127.0.0.1',
  port: 0,
  handle: answerOf,
  unreadable: () => made('unreadable', 404),
  report: (failure) => process.stdout.write(`reported: ${(failure as Error).message}\n`),
  bounds: { connectionsMax: 0, connectionsPerAddress: 0 },
  crowded: (bound) => made(bound, 503),
});
process.stdout.write(`listening on http://127.0.0.1:${listener.port}\n`);
process.on('SIGTERM', () => void listener.close(1000).then(() => process.exit(0)));
