import { declarePaymentIdentifierExtension } from '@x402/extensions/payment-identifier';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uint256Of, usdcAtomicOf, usdcTextOf } from '../../../src/payment/protocol/amount.ts';
import { IDENTIFIER_DECLARATION } from '../../../src/payment/protocol/identifier.ts';
import { BASE } from '../../../src/payment/protocol/network.ts';
import { HEADER_REQUIRED } from '../../../src/payment/protocol/reasons.ts';
import { type OfferTerms, prepareOffer } from '../../../src/payment/protocol/requirements.ts';
import { anyQuery } from '../../support/characters.ts';
import { PAYEE } from '../fixture.ts';

const TERMS: OfferTerms = {
  baseUrl: 'https://api.example.com',
  path: '/v1/jobs/search',
  description: 'Jobs, größer und “kleiner” 職',
  priceUsdc: '0.02',
  network: BASE,
  payTo: PAYEE,
  bazaar: { info: { input: { type: 'http', method: 'GET', queryParams: { keyword: 'Zürich' } } }, schema: {} },
  serviceName: 'paygrade',
};

/** Decoded by the runtime, not by our own code. */
const decoded = (header: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as Record<string, unknown>;

const expectedFor = (url: string, error: string): unknown => ({
  x402Version: 2,
  error,
  resource: {
    url,
    description: TERMS.description,
    mimeType: 'application/json',
    serviceName: 'paygrade',
  },
  accepts: [
    {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: '20000',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: PAYEE,
      maxTimeoutSeconds: 120,
      extra: { name: 'USD Coin', version: '2' },
    },
  ],
  extensions: { bazaar: TERMS.bazaar, 'payment-identifier': IDENTIFIER_DECLARATION },
});

describe('an offer', () => {
  const offer = prepareOffer(TERMS);
  const URL_TEXT = 'https://api.example.com/v1/jobs/search';

  it('is the PaymentRequired object of x402 v2 in padded standard base64', () => {
    const { header } = offer.challenge('');
    expect(header).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
    expect(header.length % 4).toBe(0);
    expect(decoded(header)).toEqual(expectedFor(URL_TEXT, HEADER_REQUIRED));
  });

  it('carries the query in its URL and mirrors itself in the body, for every query a client can send', () => {
    fc.assert(
      fc.property(anyQuery, fc.boolean(), (query, isAgain) => {
        const search = query === '' ? '' : `?${query}`;
        const error = isAgain ? 'invalid_payload' : undefined;
        const { header, members } = offer.challenge(search, error);
        const object = decoded(header) as { resource: { url: string } };
        expect(object).toEqual(expectedFor(object.resource.url, error ?? HEADER_REQUIRED));
        expect(new URL(object.resource.url).href).toBe(new URL(URL_TEXT + search).href);
        const { error: _, ...mirrored } = object as Record<string, unknown>;
        expect(JSON.parse(`{"error":{}${members.join('')}}`)).toEqual({ error: {}, ...mirrored });
      }),
    );
  });

  it.each([
    ['a quote and a backslash', '?a="\\', '?a=%22%5C'],
    ['letters beyond ASCII', '?a=\u00fc\u{1f600}', '?a=%C3%BC%F0%9F%98%80'],
    ['control characters', '?a=\n\u0000', '?a=%0A%00'],
    ['half a surrogate pair', '?a=\ud800', '?a=%EF%BF%BD'],
    ['what is encoded already', '?a=%22%C3', '?a=%22%C3'],
  ])('percent-encodes %s that a lenient runtime let through', (_, search, inUrl) => {
    const { header, members } = offer.challenge(search);
    expect(decoded(header)).toEqual(expectedFor(URL_TEXT + inUrl, HEADER_REQUIRED));
    expect(JSON.parse(`{"error":{}${members.join('')}}`)).toMatchObject({ resource: { url: URL_TEXT + inUrl } });
  });

  it.each([
    ['1,024 bytes', `?${'a'.repeat(1023)}`, true],
    ['1,025 bytes', `?${'a'.repeat(1024)}`, false],
    ['1,024 bytes once it is encoded', `?${'"'.repeat(341)}`, true],
    ['1,025 bytes once it is encoded', `?${'"'.repeat(341)}a`, false],
  ])('with a query of %s keeps it or leaves it out', (_, search, isKept) => {
    const { resource } = decoded(offer.challenge(search).header) as { resource: { url: string } };
    expect(resource.url).toBe(isKept ? URL_TEXT + search.replaceAll('"', '%22') : URL_TEXT);
  });

  it('takes a Bazaar block up to the header budget and refuses a larger one at start', () => {
    const withFill = (fillBytes: number) => prepareOffer({ ...TERMS, bazaar: { info: 'x'.repeat(fillBytes) } });
    let low = 0;
    let high = 6000;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      try {
        withFill(middle);
        low = middle;
      } catch {
        high = middle;
      }
    }
    expect(low).toBeGreaterThan(2000);
    const worst = withFill(low).challenge(
      `?${'a'.repeat(1023)}`,
      'invalid_exact_evm_payload_authorization_value_mismatch',
    ).header;
    expect(worst.length).toBeLessThanOrEqual(6144);
    expect(worst.length).toBeGreaterThan(6144 - 16);
    expect(() => withFill(high)).toThrow('PAYMENT-REQUIRED would take up to 6148 bytes, at most 6144 are allowed');
  });

  it.each<[string, Partial<OfferTerms>, RegExp]>([
    ['a price of zero', { priceUsdc: '0' }, /price is zero/],
    ['a negative price', { priceUsdc: '-1' }, /price/],
    ['a price of seven places', { priceUsdc: '0.0000001' }, /price/],
    ['a description of 501', { description: 'x'.repeat(501) }, /description/],
    ['a relative base', { baseUrl: '' }, /absolute URL/],
    ['a base with a query', { baseUrl: 'https://api.example.com?x' }, /absolute URL/],
    ['a long service name', { serviceName: 'x'.repeat(33) }, /printable ASCII/],
  ])('cannot be made with %s', (_, change, reason) => {
    expect(() => prepareOffer({ ...TERMS, ...change })).toThrow(reason);
  });

  it('takes a description of exactly 500 characters', () => {
    expect(() => prepareOffer({ ...TERMS, description: 'x'.repeat(500) })).not.toThrow();
  });

  it('declares the payment identifier of the official library', () => {
    const { info, schema } = declarePaymentIdentifierExtension(false);
    const { $schema: _dialect, ...ours } = schema as unknown as Record<string, unknown>;
    expect(IDENTIFIER_DECLARATION).toEqual({ info, schema: ours });
  });

  it('declares the payment identifier alone without a Bazaar block', () => {
    const { extensions } = decoded(prepareOffer({ ...TERMS, bazaar: undefined }).challenge('').header);
    expect(extensions).toEqual({ 'payment-identifier': IDENTIFIER_DECLARATION });
  });
});

describe('amounts', () => {
  it.each([
    ['0.02', 20_000n],
    ['0.05', 50_000n],
    ['0.09', 90_000n],
    ['0.01', 10_000n],
    ['1', 1_000_000n],
    ['0.000001', 1n],
    ['0', 0n],
    ['999999.999999', 999_999_999_999n],
  ])('%s USDC is %s atomic units', (text, atomic) => {
    expect(usdcAtomicOf(text)).toBe(atomic);
  });

  const BAD = [
    '',
    ' ',
    '.5',
    '5.',
    '00.5',
    '01',
    '+1',
    '-1',
    '1e3',
    '1,5',
    '1_0',
    '0x1',
    '1 ',
    '1\n',
    '0.0000001',
    '１',
  ];
  it.each([...BAD, '1000000'])('%j is no amount in USDC', (text) => {
    expect(usdcAtomicOf(text)).toBeUndefined();
  });

  it.each([
    ['0', 0n],
    ['20000', 20_000n],
    [String(2n ** 256n - 1n), 2n ** 256n - 1n],
  ])('%s is a uint256', (text, value) => {
    expect(uint256Of(text)).toBe(value);
  });

  it.each([...BAD, '1.0', '0x4e20', '020000', '2e4', String(2n ** 256n), '1'.repeat(79), '9'.repeat(4000)])(
    '%j is no uint256',
    (text) => {
      expect(uint256Of(text)).toBeUndefined();
    },
  );
});

it.each([
  [0n, '0.00'],
  [1n, '0.000001'],
  [20_000n, '0.02'],
  [123_450n, '0.12345'],
  [1_000_000n, '1.00'],
  [1_500_000n, '1.50'],
  [123_456_789_012n, '123456.789012'],
])('%s atomic units are %s USDC', (atomic, text) => {
  expect(usdcTextOf(atomic)).toBe(text);
  expect(usdcAtomicOf(text)).toBe(atomic);
});
