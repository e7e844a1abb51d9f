/**
 * The payment header (reliability 25 to 64). What is refused here costs nothing and burns nothing: the same authorization
 * in its honest form still buys an answer afterwards.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, expectOffer, expectPaid } from '../support/answers.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { JOBS_PATHS } from '../support/jobs-client.ts';
import { RUNTIME } from '../support/opened-app.ts';
import {
  altered,
  type Changes,
  CURVE_ORDER,
  encodeHeader,
  type Hex,
  type Payment,
  type SignatureParts,
  signatureOf,
  signatureParts,
  wallet,
} from '../support/wallet.ts';

const ZERO: Hex = '0x0000000000000000000000000000000000000000';
const OTHER: Hex = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const USDC: Hex = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const HEADER_BYTES_MAX = 8192;

/** The payee has a key here, so that it can try to pay itself. */
const payee = wallet();
const account = wallet();

const base64 = (text: string | Uint8Array): string => Buffer.from(text as Uint8Array).toString('base64');

/** A second at which a payment may still end; titles do not depend on it, nor on the payer. */
const SOON = String(Math.floor(Date.now() / 1000) + 90);
const shown = (value: unknown): string | undefined =>
  JSON.stringify(value)
    ?.replace(SOON, 'SECONDS')
    .replace(Number(SOON).toString(16), 'SECONDS')
    .replace(account.address.slice(0, 41), 'PAYER')
    .slice(0, 60);

/** What is sent in place of a good payment: an object to encode, or the header's text. */
type Spoil = (payment: Payment) => unknown;
type Row = readonly [caseNumber: number, what: string, spoil: Spoil];

const accepted = (caseNumber: number, name: string, values: readonly unknown[]): Row[] =>
  values.map((value) => [
    caseNumber,
    `accepted.${name} ${shown(value)}`,
    (payment) => altered(payment, { accepted: { [name]: value } }),
  ]);

const authorization = (caseNumber: number, name: string, values: readonly unknown[]): Row[] =>
  values.map((value) => [
    caseNumber,
    `authorization.${name} ${shown(value)}`,
    (payment) => altered(payment, { authorization: { [name]: value } }),
  ]);

const signature = (caseNumber: number, what: string, change: (parts: SignatureParts) => SignatureParts): Row => [
  caseNumber,
  `a signature with ${what}`,
  (payment) => altered(payment, { signature: signatureOf(change(signatureParts(payment.payload.signature))) }),
];

const signatureText = (caseNumber: number, what: string, change: (text: Hex) => unknown): Row => [
  caseNumber,
  `a signature ${what}`,
  (payment) => altered(payment, { signature: change(payment.payload.signature) }),
];

/** JSON text of the payment with `"name":` of the authorization said twice, the lie in the place asked for. */
const saidTwice =
  (name: string, lie: string, place: 'first' | 'last'): Spoil =>
  (payment) => {
    const text = JSON.stringify(payment);
    const field = new RegExp(`"${name}":"([^"]*)"`).exec(text)?.[0] ?? '';
    const lied = `"${name}":"${lie}"`;
    return base64(text.replace(field, place === 'first' ? `${lied},${field}` : `${field},${lied}`));
  };

/** Forms of a number that `BigInt()` would take, and others. The price is 20000. */
const NUMBER_TEXTS = [
  '',
  ' ',
  '0x4e20',
  '020000',
  '+20000',
  '-20000',
  '20000 ',
  ' 20000',
  '20000\n',
  '2e4',
  '20000.0',
  '\uff12\uff10\uff10\uff10\uff10',
  '20_000',
  '20,000',
  '20000n',
];
const NOT_TEXT = [20000, true, [20000], ['20000'], { value: '20000' }, null];
const LARGE = [`2${'0'.repeat(78)}`, String(2n ** 256n), '9'.repeat(4000)];

const TIMES = (seconds: string): unknown[] => [
  '',
  ' ',
  `0x${Number(seconds).toString(16)}`,
  `0${seconds}`,
  `+${seconds}`,
  `-${seconds}`,
  `${seconds} `,
  `${seconds}.0`,
  Number(seconds),
  null,
  [seconds],
  ...LARGE,
];

const NONCE = 'ab'.repeat(32);

const REFUSED: readonly Row[] = [
  [29, 'base64 with a blank inside', (payment) => encodeHeader(payment).replace(/^(.{8})/, '$1 ')],
  [29, 'base64 with a tab inside', (payment) => encodeHeader(payment).replace(/^(.{8})/, '$1\t')],
  [29, 'base64 with junk inside', (payment) => encodeHeader(payment).replace(/^(.{8})/, '$1*')],
  [29, 'base64 with a comma inside', (payment) => encodeHeader(payment).replace(/^(.{8})/, '$1,')],
  [29, 'base64 with padding inside', (payment) => encodeHeader(payment).replace(/^(.{8})/, '$1==')],
  [29, 'base64 with three padding signs', (payment) => `${encodeHeader(payment).replace(/=*$/, '')}===`],
  [
    29,
    'the URL-safe alphabet',
    (payment) =>
      encodeHeader({ ...payment, note: '???>>>~~~' })
        .replaceAll('+', '-')
        .replaceAll('/', '_'),
  ],
  [29, 'trailing bits that are not zero', (payment) => oddBits(payment)],
  [
    29,
    'base64url of everything, unpadded',
    (payment) =>
      Buffer.from(JSON.stringify({ ...payment, note: '???' }))
        .toString('base64url')
        .replaceAll('_', '_'),
  ],
  [29, 'raw JSON', (payment) => JSON.stringify(payment)],
  [29, 'hex', (payment) => Buffer.from(JSON.stringify(payment)).toString('hex')],
  [31, 'a header of 8,196 bytes', (payment) => padded(payment, HEADER_BYTES_MAX + 4)],
  [31, 'a header of 12 KiB', (payment) => padded(payment, 12_288)],
  ...(['null', '1', '"x"', '[]', '{}', 'not json', '', '{"x402Version":2}', '[[]]', '{'] as const).map(
    (text): Row => [32, `base64 of ${JSON.stringify(text)}`, () => base64(text)],
  ),
  [32, 'base64 of ill-formed UTF-8', () => base64(new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]))],
  [32, 'a payment with ill-formed UTF-8 in it', (payment) => base64(brokenUtf8(payment))],
  [32, 'a payment in an array', (payment) => [payment]],
  [33, 'a value said twice, the last one a lie', saidTwice('value', '1', 'last')],
  [33, 'a recipient said twice, the last one a lie', saidTwice('to', OTHER, 'last')],
  [33, 'an amount said twice, the last one a lie', saidTwice('amount', '1', 'last')],
  [34, 'a payment inside __proto__ alone', (payment) => base64(`{"__proto__":${JSON.stringify(payment)}}`)],
  [34, 'a payload inside __proto__', (payment) => base64(JSON.stringify(payment).replace('"payload"', '"__proto__"'))],
  [
    34,
    'an authorization whose fields are in __proto__',
    (payment) =>
      base64(JSON.stringify(payment).replace(/"authorization":(\{[^}]*\})/, '"authorization":{"__proto__":$1}')),
  ],
  [34, 'a payload inside constructor', (payment) => ({ ...payment, payload: { constructor: payment.payload } })],
  [35, '6,000 open brackets', () => base64('['.repeat(6000))],
  [35, '1,000 objects in each other', () => base64(`${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`)],
  [
    35,
    'a payment beside a deep nest',
    (payment) => base64(JSON.stringify(payment).replace('{', `{"x":${'['.repeat(500)}${']'.repeat(500)},`)),
  ],
  ...[1, '2', 3, 0, null, 2.5, [2], true].map(
    (version): Row => [
      36,
      `x402Version ${JSON.stringify(version)}`,
      (payment) => ({ ...payment, x402Version: version }),
    ],
  ),
  [36, 'no x402Version', ({ x402Version: _, ...rest }) => rest],
  ...accepted(37, 'scheme', ['upto', 'Exact', 'exact ', '', null, undefined]),
  ...accepted(38, 'network', [
    'base',
    'eip155:84532',
    'eip155:08453',
    'EIP155:8453',
    'eip155:*',
    'eip155:1',
    8453,
    null,
  ]),
  ...accepted(39, 'asset', [
    OTHER,
    ZERO,
    USDC.slice(0, 40),
    `${USDC}00`,
    'USDC',
    USDC.slice(2),
    '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    null,
  ]),
  ...accepted(40, 'payTo', [OTHER, ZERO, '', null]),
  ...accepted(42, 'amount', ['19999', '20001', '1', '0', '50000']),
  ...accepted(43, 'amount', NUMBER_TEXTS),
  ...authorization(43, 'value', NUMBER_TEXTS),
  ...accepted(44, 'amount', NOT_TEXT),
  ...authorization(44, 'value', NOT_TEXT),
  ...accepted(45, 'amount', LARGE),
  ...authorization(45, 'value', LARGE),
  ...TIMES('1').flatMap((value) => authorization(46, 'validAfter', [value])),
  ...TIMES(SOON).flatMap((value) => authorization(46, 'validBefore', [value])),
  ...authorization(47, 'nonce', [
    `0x${NONCE.slice(2)}`,
    `0x${NONCE}ab`,
    NONCE,
    `0x${NONCE.slice(1)}`,
    `0x${'zz'.repeat(32)}`,
    '',
    '0x',
    null,
    1,
  ]),
  ...authorization(49, 'from', [ZERO, USDC, OTHER, '', '0x', null, account.address.slice(0, 41)]),
  signatureText(50, 'of 0 bytes', () => '0x'),
  signatureText(50, 'that is no text', () => null),
  signatureText(50, 'that is a number', () => 1),
  signatureText(50, 'of 64 bytes', (text) => text.slice(0, -2)),
  signatureText(50, 'of 64 bytes in the compact form', (text) => {
    const { r, s, v } = signatureParts(text);
    const compact = s | (BigInt(v - 27) << 255n);
    return `0x${r.toString(16).padStart(64, '0')}${compact.toString(16).padStart(64, '0')}`;
  }),
  signatureText(50, 'of 66 bytes', (text) => `${text}00`),
  signatureText(50, 'of 65.5 bytes', (text) => `${text}0`),
  signatureText(50, 'of 2 KB', (text) => text + '00'.repeat(2000)),
  signatureText(50, 'that is no hex', (text) => `0xzz${text.slice(4)}`),
  signatureText(50, 'without 0x', (text) => text.slice(2)),
  ...[0, 1, 2, 26, 29, 35, 255].map((v) => signature(51, `v = ${v}`, (parts) => ({ ...parts, v }))),
  signature(51, 'the other v', (parts) => ({ ...parts, v: 55 - parts.v })),
  signature(52, 'high s, v flipped', ({ r, s, v }) => ({ r, s: CURVE_ORDER - s, v: 55 - v })),
  signature(52, 'high s, v as it was', ({ r, s, v }) => ({ r, s: CURVE_ORDER - s, v })),
  ...(
    [
      ['r = 0', { r: 0n }],
      ['s = 0', { s: 0n }],
      ['r = n', { r: CURVE_ORDER }],
      ['s = n', { s: CURVE_ORDER }],
      ['r = n + 1', { r: CURVE_ORDER + 1n }],
      ['r = 2^256 - 1', { r: 2n ** 256n - 1n }],
      ['s = 2^256 - 1', { s: 2n ** 256n - 1n }],
      ['r = s = 0', { r: 0n, s: 0n }],
      ['r = 5, no point', { r: 5n }],
      ['r = 1', { r: 1n }],
    ] as const
  ).map(([what, change]) => signature(53, what, (parts) => ({ ...parts, ...change }))),
  signatureText(55, 'in an ERC-6492 wrapper', (text) => `${'0x'.padEnd(66, '0')}${text.slice(2)}${'6492'.repeat(16)}`),
  signatureText(56, 'of a contract wallet, 97 bytes', (text) => `${text}${'00'.repeat(32)}`),
  ...accepted(58, 'extra', [
    { name: 'USDC', version: '2' },
    { name: 'USD Coin', version: '1' },
    { name: 'USD Coin', version: 2 },
    { name: 'USD Coin', version: '2', assetTransferMethod: 'permit2' },
    null,
    'USD Coin',
  ]),
  ...accepted(61, 'maxTimeoutSeconds', [121, 86_400, 0, -1, '120', null, undefined]),
  [
    60,
    'a resource at another path',
    (payment) => ({
      ...payment,
      resource: { ...payment.resource, url: payment.resource.url.replace('search', 'company') },
    }),
  ],
  [
    60,
    'a resource at another origin',
    (payment) => ({ ...payment, resource: { url: 'https://evil.example/v1/jobs/search' } }),
  ],
  [60, 'a resource that is no URL', (payment) => ({ ...payment, resource: { url: 'search' } })],
  [60, 'a resource that is text', (payment) => ({ ...payment, resource: payment.resource.url })],
  [34, 'accepted in an array', (payment) => ({ ...payment, accepted: [payment.accepted] })],
  [32, 'no accepted', ({ accepted: _, ...rest }) => rest],
  [32, 'no payload', ({ payload: _, ...rest }) => rest],
  [32, 'a payload of text', (payment) => ({ ...payment, payload: 'x' })],
  [32, 'no authorization', (payment) => ({ ...payment, payload: { signature: payment.payload.signature } })],
  [32, 'no signature', (payment) => ({ ...payment, payload: { authorization: payment.payload.authorization } })],
  [
    50,
    'a Permit2 payload beside the authorization',
    (payment) => ({ ...payment, payload: { ...payment.payload, permit2Authorization: {} } }),
  ],
  [64, 'a signature by another signer', (payment) => forged(payment)],
];

const stranger = wallet();
/** Set before the tests run: one foreign signature is as good as another. */
let foreignSignature: Hex;
const forged = (payment: Payment): unknown => altered(payment, { signature: foreignSignature });

/** Blanks between JSON tokens until the header has exactly `length` characters (a multiple of four). */
function padded(payment: Payment, length: number): string {
  const text = JSON.stringify(payment);
  return base64(text.replace('{', `{${' '.repeat((length / 4) * 3 - Buffer.byteLength(text))}`));
}

/** The same bytes with bits set in the last sextet that no byte uses: another spelling that lenient decoders take. */
function oddBits(payment: Payment): string {
  let text = JSON.stringify(payment);
  while (Buffer.byteLength(text) % 3 !== 1) text += ' ';
  const header = base64(text);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const at = header.length - 3;
  return `${header.slice(0, at)}${alphabet[alphabet.indexOf(header[at] ?? '') + 1]}==`;
}

function brokenUtf8(payment: Payment): Uint8Array {
  const bytes = Buffer.from(JSON.stringify({ ...payment, note: 'AA' }));
  const at = bytes.lastIndexOf('AA');
  bytes[at] = 0xc0;
  bytes[at + 1] = 0xaf;
  return bytes;
}

/** Signed again, so that the signature is right for what it says. */
const RESIGNED: readonly (readonly [caseNumber: number, what: string, changes: Changes])[] = [
  [40, 'a transfer to another recipient', { authorization: { to: OTHER } }],
  [41, 'one atomic unit below the price', { authorization: { value: '19999' } }],
  [41, 'one atomic unit above the price', { authorization: { value: '20001' } }],
  [41, 'zero', { authorization: { value: '0' } }],
  [41, 'a thousand times the price', { authorization: { value: '20000000' } }],
  [49, 'a payer who is not the signer', { authorization: { from: OTHER } }],
  [58, 'the domain name of the test network', { domain: { name: 'USDC' } }],
  [58, 'domain version 1', { domain: { version: '1' } }],
  [58, 'the chain id of the test network', { domain: { chainId: 84532 } }],
  [58, 'the chain id of Ethereum', { domain: { chainId: 1 } }],
  [58, 'another contract', { domain: { verifyingContract: OTHER } }],
  [59, 'ReceiveWithAuthorization', { primaryType: 'ReceiveWithAuthorization' }],
  [59, 'CancelAuthorization', { primaryType: 'CancelAuthorization' }],
  [59, 'Permit', { primaryType: 'Permit' }],
];

/** Spellings and extras that change nothing: accepted. */
const ACCEPTED: readonly Row[] = [
  [29, 'base64 without padding', (payment) => encodeHeader(payment).replace(/=+$/, '')],
  [31, 'a header of exactly 8,192 bytes', (payment) => padded(payment, HEADER_BYTES_MAX)],
  [
    30,
    'keys in another order',
    ({ x402Version, payload, resource, accepted: terms }) => ({ accepted: terms, resource, payload, x402Version }),
  ],
  [33, 'a value said twice, the last one true', saidTwice('value', '1', 'first')],
  [
    34,
    'junk in __proto__ and constructor',
    (payment) =>
      base64(JSON.stringify(payment).replace('{', '{"__proto__":{"x402Version":1},"constructor":{"prototype":{}},')),
  ],
  ...accepted(39, 'asset', [USDC.toLowerCase(), `0x${USDC.slice(2).toUpperCase()}`]),
  ...accepted(61, 'maxTimeoutSeconds', [119, 1]),
  ...accepted(58, 'extra', [
    undefined,
    {},
    { name: 'USD Coin', version: '2', assetTransferMethod: 'eip3009', more: 1 },
  ]),
  [40, 'payTo and from in lower case', (payment) => lowerCased(payment)],
  [44, 'an unknown key in accepted', (payment) => altered(payment, { accepted: { more: { a: 1 } } })],
  [60, 'no resource', ({ resource: _, ...rest }) => rest],
  [
    60,
    'a resource with another query',
    (payment) => ({ ...payment, resource: { url: `${payment.resource.url}&x=1` } }),
  ],
  [63, 'extensions of 4 KiB of junk', (payment) => ({ ...payment, extensions: { junk: { info: 'x'.repeat(4096) } } })],
];

function lowerCased(payment: Payment): unknown {
  const { from, to } = payment.payload.authorization;
  return altered(payment, {
    accepted: { payTo: payment.accepted.payTo.toLowerCase() },
    authorization: { from: from.toLowerCase(), to: to.toLowerCase() },
  });
}

/** Rows as a title names them: what is sent, then the number of the case. */
const byWhat = <T>(rows: readonly (readonly [number, string, T])[]): (readonly [string, number, T])[] =>
  rows.map(([caseNumber, what, rest]) => [what, caseNumber, rest]);

describe(`the payment header, under ${RUNTIME}`, () => {
  let jobs: JobsApp;
  beforeAll(async () => {
    jobs = await openJobsApp({ PAY_TO: payee.address });
    foreignSignature = (await jobs.payment(jobs.search, stranger)).payload.signature;
  });
  afterAll(async () => {
    await jobs.close();
  });

  it.each(JOBS_PATHS)(
    '%s unpaid is 402 with exactly one offer, mirrored in the body (reliability 25, 26)',
    async (path) => {
      const target = jobs.targetOf(path);
      const answer = await jobs.get(target);
      expectError(answer, 402, 'PAYMENT_REQUIRED');
      const offer = expectOffer(answer);
      expect(offer.resource.url).toBe(jobs.url(target));
      expect(offer.accepts[0]?.payTo).toBe(payee.address);
      expect(offer.error).toBe('PAYMENT-SIGNATURE header is required');
      expect(answer.headers.get('payment-response')).toBeNull();
    },
  );

  it('the v1 header X-PAYMENT buys nothing, even with a good payment in it (reliability 27)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    const answer = await jobs.get(jobs.search, { 'X-PAYMENT': encodeHeader(payment) });
    expectError(answer, 402, 'PAYMENT_REQUIRED');
    expect(expectOffer(answer).error).toContain('v1');
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
  });

  it.each(['PAYMENT', 'X-PAYMENT-SIGNATURE', 'Authorization', 'X-402-Payment'])(
    'the header %s is no payment (reliability 27)',
    async (name) => {
      const payment = encodeHeader(await jobs.payment(jobs.search, account));
      expectError(await jobs.get(jobs.search, { [name]: payment }), 402, 'PAYMENT_REQUIRED');
    },
  );

  it('another spelling of a used payment is 409 (reliability 30)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    const { x402Version, payload, resource, accepted: terms } = payment;
    const { authorization: fields, signature: signed } = payload;
    for (const spelling of [
      { accepted: terms, payload: { authorization: fields, signature: signed }, x402Version, resource },
      { ...payment, note: 'x' },
      base64(JSON.stringify(payment, null, 2)),
      encodeHeader(payment).replace(/=+$/, ''),
      altered(payment, { signature: `0x${signed.slice(2).toUpperCase()}` }),
      altered(payment, { accepted: { asset: terms.asset.toLowerCase() } }),
    ]) {
      expectError(await jobs.pay(jobs.search, spelling), 409, 'PAYMENT_ALREADY_USED');
    }
  });

  it.each(byWhat(REFUSED))('%s is 402, and the honest form still buys (reliability %i)', async (_, __, spoil) => {
    const payment = await jobs.payment(jobs.search, account);
    const spoiled = spoil(payment);
    const header = typeof spoiled === 'string' ? spoiled : encodeHeader(spoiled);
    const answer = await jobs.get(jobs.search, { 'PAYMENT-SIGNATURE': header });
    expectError(answer, 402, header === '' ? 'PAYMENT_REQUIRED' : 'PAYMENT_INVALID');
    expect(answer.headers.get('payment-response')).toBeNull();
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
  });

  it.each(byWhat(RESIGNED))('a signature for %s is 402 (reliability %i)', async (_, __, changes) => {
    const payment = await jobs.payment(jobs.search, account, changes);
    expectError(await jobs.pay(jobs.search, payment), 402, 'PAYMENT_INVALID');
  });

  it.each(byWhat(ACCEPTED))('%s is accepted (reliability %i)', async (_, __, spell) => {
    const payment = await jobs.payment(jobs.search, account);
    expectPaid(await jobs.pay(jobs.search, spell(payment)), account.address);
  });

  it('the same nonce and payer in other letters is 409 (reliability 48)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
    const { nonce, from } = payment.payload.authorization;
    for (const fields of [
      { nonce: `0x${nonce.slice(2).toUpperCase()}` },
      { from: from.toLowerCase() },
      { from: `0x${from.slice(2).toUpperCase()}` },
    ]) {
      const twin = altered(payment, { authorization: fields });
      expectError(await jobs.pay(jobs.search, twin), 409, 'PAYMENT_ALREADY_USED');
    }
  });

  it('the payee cannot pay itself (reliability 49)', async () => {
    const payment = await jobs.payment(jobs.search, payee);
    expectError(await jobs.pay(jobs.search, payment), 402, 'PAYMENT_INVALID');
  });

  it('a true payment by an independent signer passes on every route (reliability 54)', async () => {
    for (const path of [jobs.search, jobs.company, jobs.signals]) {
      expectPaid(await jobs.pay(path, await jobs.payment(path, account)), account.address);
    }
  });

  it('a contract wallet is told why it is refused (reliability 56)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    const longer = altered(payment, { signature: `${payment.payload.signature}${'00'.repeat(32)}` });
    const { message } = expectError(await jobs.pay(jobs.search, longer), 402, 'PAYMENT_INVALID');
    expect(message).toMatch(/contract|65 bytes/i);
  });

  it('a payment at the price of search does not buy company or signals (reliability 60)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    for (const path of [jobs.company, jobs.signals]) {
      const { accepted: theirs, resource } = await jobs.payment(path, account);
      expectError(await jobs.pay(path, payment), 402, 'PAYMENT_INVALID');
      expectError(await jobs.pay(path, { ...payment, accepted: theirs, resource }), 402, 'PAYMENT_INVALID');
    }
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
  });

  it('one payment buys one of two questions at the same price (reliability 60)', async () => {
    const payment = await jobs.payment('/v1/jobs/search?limit=1', account);
    expectPaid(await jobs.pay('/v1/jobs/search?limit=2', payment), account.address);
    expectError(await jobs.pay('/v1/jobs/search?limit=1', payment), 409, 'PAYMENT_ALREADY_USED');
  });

  it('forged signatures over a victim’s nonce reserve nothing (reliability 64)', async () => {
    const payment = await jobs.payment(jobs.search, account);
    const attempts = await Promise.all(Array.from({ length: 20 }, () => jobs.pay(jobs.search, forged(payment))));
    for (const attempt of attempts) expectError(attempt, 402, 'PAYMENT_INVALID');
    expectPaid(await jobs.pay(jobs.search, payment), account.address);
  });

  it('a refusal never repeats the client’s own text', async () => {
    const payment = await jobs.payment(jobs.search, account);
    const canary = 'canary7f3a';
    for (const spoiled of [
      { ...payment, x402Version: canary },
      altered(payment, { accepted: { scheme: canary } }),
      altered(payment, { accepted: { network: canary } }),
      altered(payment, { accepted: { payTo: canary } }),
      altered(payment, { authorization: { value: canary } }),
      altered(payment, { signature: canary }),
    ]) {
      const answer = await jobs.pay(jobs.search, spoiled);
      expectError(answer, 402, 'PAYMENT_INVALID');
      expect(answer.text).not.toContain(canary);
      expect(Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString()).not.toContain(canary);
    }
  });
});
