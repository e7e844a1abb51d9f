/** Chains of redirects: their time, their judgement and their fragments. */
import { expect, it } from 'vitest';
import { OutboundPolicy } from '../../src/outbound/policy.ts';
import { fetchPage } from '../../src/resolve/fetch-page.ts';
import { OWN } from '../outbound/verdicts.ts';
import { ManualTime } from '../support/manual-time.ts';
import { NOTHING_ALLOWED } from '../support/nothing-allowed.ts';
import { type FakeAnswer, TargetsByAddress } from '../support/targets-by-address.ts';

const FIRST = 'https://first.example.com/';
const SECOND = 'https://second.example.com/';

const to = (location: string): FakeAnswer => ({ status: 302, headers: { location } });

const TIMED_OUT = { kind: 'failed', code: 'TARGET_TIMEOUT' };

function opened(targets: Readonly<Record<string, FakeAnswer | 'held'>>, hash = '') {
  const time = new ManualTime();
  const policy = new OutboundPolicy({ own: OWN, allow: NOTHING_ALLOWED });
  const outbound = Object.assign(new TargetsByAddress(), { policy });
  for (const [href, target] of Object.entries(targets)) outbound.targets.set(href, target);
  const judged = policy.judge(FIRST, 'resolve');
  if (!judged.ok) throw new Error(judged.reason);
  const deadlineMs = time.monotonicMs() + 1000;
  const { signal } = new AbortController();
  const page = fetchPage(judged.target, { outbound, clock: time }, { hash, customer: 'payer', deadlineMs, signal });
  return { outbound, page, time };
}

it.each([
  ['leaves its next request the rest of its time', 999, { kind: 'page' }, [1000, 1]],
  ['that has used its time up is a timeout, without another request', 1000, TIMED_OUT, [1000]],
  ['that has taken longer is a timeout, without another request', 1001, TIMED_OUT, [1000]],
])('a chain of redirects %s', async (_, passedMs, expected, timeoutsMs) => {
  const { outbound, page, time } = opened({ [FIRST]: 'held', [SECOND]: { body: 'x' } });
  time.pass(passedMs);
  await outbound.answer(FIRST, to(SECOND));
  expect(await page).toMatchObject(expected);
  expect(outbound.sent.map(({ method, timeoutMs }) => [method, timeoutMs])).toEqual(
    timeoutsMs.map((timeoutMs) => ['GET', timeoutMs]),
  );
});

it('a redirect may lead to plain http, as an address that is asked for may be', async () => {
  const { page } = opened({ [FIRST]: to('http://plain.example.com/'), 'http://plain.example.com/': { body: 'x' } });
  expect(await page).toMatchObject({ kind: 'page', finalUrl: 'http://plain.example.com/' });
});

it('a redirect to what may not be asked for ends the chain, with the reason', async () => {
  const { outbound, page } = opened({ [FIRST]: to('https://10.0.0.1/') });
  expect(await page).toMatchObject({
    code: 'TARGET_NOT_ALLOWED',
    reason: expect.stringMatching(/^a redirect: .*RFC 1918/),
  });
  expect(outbound.sent).toHaveLength(1);
});

it.each([
  ['without a location', { status: 302, headers: {} }, []],
  ['to no address', to('https://'), ['The redirect names no address that can be followed.']],
  [
    'to an address that is too long',
    to(`/${'x'.repeat(2048)}`),
    ['The redirect names no address that can be followed.'],
  ],
])('a redirect %s is the page itself', async (_, answer: FakeAnswer, warnings) => {
  const { page } = opened({ [FIRST]: answer });
  expect(await page).toMatchObject({ kind: 'page', answer: { status: 302 }, finalUrl: FIRST, redirects: [], warnings });
});

it.each([
  ['keeps the fragment that its predecessor had', SECOND, '#part'],
  ['has its own fragment in its place', `${SECOND}#other`, '#other'],
])('a location %s', async (_, location, hash) => {
  const { page } = opened({ [FIRST]: to(location), [SECOND]: to('/end'), [`${SECOND}end`]: { body: 'x' } }, '#part');
  expect(await page).toMatchObject({
    finalUrl: `${SECOND}end${hash}`,
    redirects: [
      { url: `${FIRST}#part`, status_code: 302 },
      { url: `${SECOND}${hash}`, status_code: 302 },
    ],
  });
});
