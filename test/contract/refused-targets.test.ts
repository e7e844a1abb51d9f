/**
 * The table of targets through both APIs, on both runtimes: a retry's address and its callback's, a resolve's, and what a page
 * redirects a paid resolve to. Whatever leaves the server is counted by a canary, which must see nothing but the redirecting pages.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/adapters/outbound/exchange.ts';
import { parseUrl } from '../../src/base/parsed-url.ts';
import { ROWS, type Row } from '../outbound/targets.ts';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';
import { bodyFor, payWith, RESOLVE_PATH, resolvePayment } from '../support/resolve-client.ts';
import { offerFrom } from '../support/wallet.ts';
import { IS_WHOLE } from '../support/whole.ts';

const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';
const RETRIES = '/retry/v1/retries';
const GOOD = 'https://good.example/';
const HOP = 'https://hop.example/';
/** Uncharged resolves that one payer may make in a minute. */
const UNCHARGED_MAX = 30;

/** A resolve may go to http. */
const forResolve = ([, purpose, expected]: Row): boolean => purpose === 'resolve' || expected !== 'https-only';

// Addresses of this server are others in the table than here.
const refused = ROWS.filter(([, , expected]) => expected !== 'allowed' && expected !== 'own-address');
const some = (rows: readonly Row[], step: number): readonly Row[] => rows.filter((_, i) => IS_WHOLE || i % step === 0);

describe(`targets that may not be asked on ${RUNTIME}`, () => {
  let app: OpenedApp;
  let key: string;
  /** What went out, but to the pages that redirect. */
  const canary: string[] = [];
  let hopCount = 0;
  let location = '';
  const exchange: Exchange = async ({ target: { url } }) => {
    if (url.href !== HOP) canary.push(url.href);
    else hopCount++;
    // On the wire it is UTF-8, of which each byte arrives as one character.
    const headers = [['location', Buffer.from(location).toString('latin1')]] as const;
    return { kind: 'answer', status: 302, headers, body: new Uint8Array(0), isTruncated: false };
  };
  const codeOf = async (answer: Response): Promise<string> => {
    const { error } = (await answer.json()) as { error?: { code: string } };
    return `${answer.status} ${error?.code}`;
  };
  const admin = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    return (await (await app.fetch(path, { ...bodyFor(body), headers })).json()) as Record<string, unknown>;
  };

  beforeAll(async () => {
    app = await openedApp(
      {
        SNAPSHOT: 'none',
        ADMIN_TOKEN,
        KEY_RATE_LIMIT_PER_MINUTE: '0',
      },
      { exchange, resolver: { resolve: async () => ({ kind: 'addresses', addresses: ['93.184.216.34'] }) } },
    );
    await admin('/admin/v1/grants', { organization: 'acme', kind: 'onboarding', amount: 10 });
    key = String((await admin('/admin/v1/keys', { organization: 'acme', scopes: ['retries:write'] })).key);
  });
  afterAll(() => app.close());

  const create = async (request: object): Promise<string> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return codeOf(await app.fetch(RETRIES, { ...bodyFor(request), headers }));
  };
  const wrong = async (rows: readonly Row[], ask: (text: string) => Promise<string>, expected: RegExp) => {
    const found: string[] = [];
    for (const [text] of rows) {
      const answer = await ask(text);
      if (!expected.test(answer)) found.push(`${JSON.stringify(text)}: ${answer}`);
    }
    return found;
  };

  it('are a table of some size', () => {
    expect(refused.length).toBeGreaterThan(1500);
  });

  it('are refused as the address of a retry', async () => {
    const ask = (url: string) => create({ request: { method: 'POST', url } });
    expect(await wrong(some(refused, 5), ask, /^400 TARGET_NOT_ALLOWED$/)).toEqual([]);
  });

  it('are refused as the address of its completion event', async () => {
    const ask = (url: string) => create({ request: { method: 'POST', url: GOOD }, callback_url: url });
    expect(await wrong(some(refused, 5), ask, /^400 TARGET_NOT_ALLOWED$/)).toEqual([]);
  });

  it('are refused as the address of a resolve, before a payment', async () => {
    const ask = async (url: string) => codeOf(await app.fetch(RESOLVE_PATH, bodyFor({ url })));
    const rows = some(refused.filter(forResolve), 5);
    expect(await wrong(rows, ask, /^400 (?:TARGET_NOT_ALLOWED|INVALID_URL)$/)).toEqual([]);
  });

  it('are refused where a page redirects to them, and nothing is charged', { timeout: 300_000 }, async () => {
    await offerFrom(app.fetch(RESOLVE_PATH, bodyFor({ url: HOP })));
    // What does not parse is no redirect, and https:////host is one to a name.
    const rows = some(refused.filter(forResolve), 25).filter(([text]) => {
      const url = parseUrl(text, new URL(HOP));
      return url !== null && !(url.hostname in { 'hop.example': 1, 'example.com': 1 });
    });
    let payment = await resolvePayment(app);
    let count = 0;
    const ask = async (text: string): Promise<string> => {
      if (++count % UNCHARGED_MAX === 0) payment = await resolvePayment(app);
      location = text;
      return codeOf(await payWith(app, payment, { url: HOP }));
    };
    expect(await wrong(rows, ask, /^400 TARGET_NOT_ALLOWED$/)).toEqual([]);
    expect(hopCount).toBe(rows.length);
  });

  it('were not asked', () => {
    expect(canary).toEqual([]);
  });
});
