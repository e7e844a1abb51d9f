/** Requests for the pages of boards: the redirects that they follow. */
import { expect, it } from 'vitest';
import { HostPace } from '../../../src/adapters/boards/host-pace.ts';
import { RobotsFiles } from '../../../src/adapters/boards/robots-files.ts';
import { openWayOut, type WayOutSettings } from '../../../src/cli/watch/way-out.ts';
import { ROBOTS_BYTES_MAX, ROBOTS_KEPT_MS } from '../../../src/ingest/watch/robots.ts';
import type { OutboundRequest, OutboundResult } from '../../../src/outbound/outbound.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { NOTHING_ALLOWED } from '../../support/nothing-allowed.ts';
import { type TargetAnswer, TargetsByAddress } from '../../support/targets-by-address.ts';
import { answer } from '../../support/targets-by-host.ts';
import { SlowOutbound } from '../../support/virtual-rounds.ts';

const PAGE = 'https://site.example/jobs';
const HTML = '<html><p>jobs</p></html>';

/** Targets whose bodies are packed: they are short on the wire, and unpack to no more than a request takes. */
class PackedTargets extends TargetsByAddress {
  override async send(request: OutboundRequest): Promise<OutboundResult> {
    const result = await super.send(request);
    if (result.kind !== 'answer' || result.body.length <= (request.unpackedBytesMax ?? 0)) return result;
    return { kind: 'too-large', detail: 'unpacked', durationMs: 1 };
  }
}

const settingsAt = (time: ManualTime): WayOutSettings => ({
  contact: null,
  targetAllow: NOTHING_ALLOWED,
  pauseMs: 0,
  draw: () => 0,
  clock: time,
  timers: time,
});

function asked(targets: Readonly<Record<string, TargetAnswer>>, accept: 'application/json' | 'text/html') {
  const time = new ManualTime();
  const outbound = new PackedTargets();
  for (const [address, target] of Object.entries(targets)) outbound.targets.set(address, target);
  const { client } = openWayOut(settingsAt(time), outbound);
  const { signal } = new AbortController();
  return client.ask({ method: 'GET', url: PAGE, body: null, accept }, { validators: null, bytesMax: 1000, signal });
}

/** Its body never comes. */
const movedTo = (location: string): TargetAnswer => ({ status: 302, headers: { location }, isStuck: true });

it.each([
  ['relative', './stellen', 'https://site.example/stellen'],
  // Some servers write UTF-8, which arrives as one character a byte.
  ['UTF-8', '/karri\u00c3\u00a8re', 'https://site.example/karri%C3%A8re'],
])('a redirect is followed to an address that is %s', async (_, location, url) => {
  const answer = await asked({ [PAGE]: movedTo(location), [url]: { body: HTML } }, 'application/json');
  expect(answer).toMatchObject({ kind: 'page', status: 200, url });
});

it('so is that of a robots.txt', async () => {
  const targets = {
    'https://site.example/robots.txt': movedTo('/r\u00c3\u00a9gles.txt'),
    'https://site.example/r%C3%A9gles.txt': { body: 'User-agent: *\nDisallow: /jobs' },
    [PAGE]: { body: HTML },
  };
  const answer = await asked(targets, 'text/html');
  expect(answer).toMatchObject({ kind: 'failed', reason: 'the robots rules of site.example do not allow it' });
});

it('a robots.txt that is packed and longer than what counts of it is read all the same (RFC 9309 §2.5)', async () => {
  const targets = {
    'https://site.example/robots.txt': { body: `User-agent: *\nDisallow: /jobs\n${'#'.repeat(ROBOTS_BYTES_MAX)}` },
    [PAGE]: { body: HTML },
  };
  const answer = await asked(targets, 'text/html');
  expect(answer).toMatchObject({ kind: 'failed', reason: 'the robots rules of site.example do not allow it' });
});

it('a robots.txt whose first asker gives up is asked for again by one that waits for it', async () => {
  const time = new ManualTime();
  const first = new AbortController();
  const asked: string[] = [];
  const outbound = new SlowOutbound(
    time,
    ({ pathname }) => {
      asked.push(pathname);
      if (asked.length === 1) first.abort();
      return pathname === '/robots.txt' ? answer(404) : answer(200, HTML);
    },
    0,
  );
  const { client } = openWayOut(settingsAt(time), outbound);
  const answers = [first, new AbortController()].map(({ signal }) =>
    client.ask(
      { method: 'GET', url: PAGE, body: null, accept: 'text/html' },
      { validators: null, bytesMax: 1000, signal },
    ),
  );
  const settled = Promise.all(answers);
  for (let turn = 0; turn < 40; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    time.pass(500);
  }
  expect(await settled).toMatchObject([
    { kind: 'failed', status: null },
    { kind: 'page', status: 200 },
  ]);
  expect(asked).toEqual(['/robots.txt', '/robots.txt', '/jobs']);
});

it.each([
  ['has none', {}],
  ['is no address', { location: 'https://' }],
])('a redirect whose location %s is a failure', async (_, headers) => {
  const answer = await asked({ [PAGE]: { status: 302, headers } }, 'application/json');
  expect(answer).toMatchObject({ kind: 'failed', status: 302, reason: 'status 302 without a usable Location' });
});

it.each([
  ['without end', '/jobs', 'more than 5 redirects'],
  ['to an address that must not be asked', 'http://127.0.0.1/', 'a redirect leads where it must not: '],
  ['to a page that the robots rules exclude', '/own', 'the robots rules of site.example do not allow it'],
])('a redirect %s is a failure with the status of the redirect', async (_, location, reason) => {
  const robots = { body: 'User-agent: *\nDisallow: /own' };
  const answer = await asked({ 'https://site.example/robots.txt': robots, [PAGE]: movedTo(location) }, 'text/html');
  expect(answer).toMatchObject({ kind: 'failed', status: 302, reason: expect.stringContaining(reason) });
});

it('the rules of the hosts that were asked first are dropped once all rules exceed their memory bound, and fetched again', async () => {
  const time = new ManualTime();
  const outbound = new TargetsByAddress();
  const robots = new RobotsFiles(outbound, new HostPace(0, time, time), time);
  const { signal } = new AbortController();
  const body = `User-agent: *\nAllow: /${'a'.repeat(ROBOTS_BYTES_MAX - 64)}`;
  const hosts = Array.from({ length: 130 }, (_, i) => new URL(`https://site${i}.example/`));
  for (const { origin } of hosts) outbound.targets.set(`${origin}/robots.txt`, { body });
  for (const host of hosts) await robots.rulesOf(host, signal);
  await robots.rulesOf(hosts.at(-1)!, signal);
  expect(outbound.sent.length).toBe(hosts.length);
  await robots.rulesOf(hosts[0]!, signal);
  expect(outbound.sent.length).toBe(hosts.length + 1);
});

it('the rules of a host are fetched once a day, and again after the clock is set back', async () => {
  const time = new ManualTime();
  const outbound = new TargetsByAddress();
  const robots = new RobotsFiles(outbound, new HostPace(0, time, time), time);
  const host = new URL('https://site.example/');
  outbound.targets.set(`${host.origin}/robots.txt`, { body: 'User-agent: *\nDisallow: /jobs' });
  const sentAfter = async (stepMs: number): Promise<number> => {
    time.stepWall(stepMs);
    await robots.rulesOf(host, new AbortController().signal);
    return outbound.sent.length;
  };
  expect(await sentAfter(0)).toBe(1);
  expect(await sentAfter(ROBOTS_KEPT_MS - 1)).toBe(1);
  expect(await sentAfter(1)).toBe(2);
  expect(await sentAfter(-30 * ROBOTS_KEPT_MS)).toBe(3);
  expect(await sentAfter(ROBOTS_KEPT_MS - 1)).toBe(3);
});
