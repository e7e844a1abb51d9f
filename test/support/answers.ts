/**
 * What every answer must look like, checked in one place: the Error object (callback.md), the 402 with its offer in
 * header and body (decisions §4), the paid 200 (jobs-intelligence, "Common rules" 4). Request ids are remembered, so
 * that a repeated id fails the test that sees it.
 */
import * as v from 'valibot';
import { expect } from 'vitest';
import { decodeHeader, type PaymentRequired } from './wallet.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface ErrorObject {
  readonly code: string;
  readonly message: string;
  readonly request_id: string;
}

export interface SettlementResponse {
  readonly success: boolean;
  readonly transaction: string;
  readonly network: string;
  readonly payer?: string;
  readonly errorReason?: string;
}

const REQUEST_ID = /^req_[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const USDC_ADDRESS = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const OFFER_HEADER_BYTES_MAX = 6144;

/** jobs-intelligence, "Limits". */
const PRICES_ATOMIC: Readonly<Record<string, string>> = {
  '/v1/jobs/search': '20000',
  '/v1/jobs/company': '50000',
  '/v1/jobs/signals': '90000',
  '/v1/jobs/detail': '20000',
  '/v1/jobs/changes': '50000',
  '/v1/jobs/skills': '50000',
  '/v1/jobs/market': '90000',
  '/v1/callbacks': '10000',
  '/v1/retries': '20000',
  '/v1/resolve': '30000',
};

export async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** GET by the runtime's own client. */
export async function get(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return answerOf(await fetch(url, { headers, redirect: 'manual' }));
}

const seenRequestIds = new Set<string>();

function expectRequestId(answer: Answer, id: string): void {
  expect(id).toMatch(REQUEST_ID);
  expect(answer.headers.get('x-request-id')).toBe(id);
  expect(seenRequestIds.has(id), `request id ${id} was given twice`).toBe(false);
  seenRequestIds.add(id);
}

/**
 * Checks an error answer of any status: exactly the Error object and, on a 402 for a payment alone, the offer's members beside it.
 * @param code the code, or the permitted codes
 */
export function expectError(answer: Answer, status: number, code: string | readonly string[]): ErrorObject {
  expect({ status: answer.status, text: answer.text.slice(0, 400) }).toMatchObject({ status });
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const body = JSON.parse(answer.text) as { error: ErrorObject };
  const isOffer = status === 402 && body.error.code !== 'INSUFFICIENT_CREDITS';
  expect(Object.keys(body)).toEqual(
    isOffer ? ['error', 'x402Version', 'resource', 'accepts', 'extensions'] : ['error'],
  );
  expect(Object.keys(body.error)).toEqual(['code', 'message', 'request_id']);
  expect(typeof code === 'string' ? [code] : code).toContain(body.error.code);
  expect(body.error.message).toMatch(/\S/);
  expectRequestId(answer, body.error.request_id);
  if (isOffer) expectOffer(answer);
  else expect(answer.headers.get('payment-required')).toBeNull();
  if (status === 429) expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/);
  if (status === 405) expect(answer.headers.get('allow')).toMatch(/^[A-Z]+(?:, [A-Z]+)*$/);
  return body.error;
}

/** The complete offer of a 402: decodes the header, and checks every member and the copy in the body. */
export function expectOffer(answer: Answer): PaymentRequired {
  const header = answer.headers.get('payment-required') ?? '';
  expect(header).toMatch(BASE64);
  expect(header.length).toBeGreaterThan(0);
  expect(header.length).toBeLessThanOrEqual(OFFER_HEADER_BYTES_MAX);
  const offer = decodeHeader<PaymentRequired>(header);
  expect(Object.keys(offer)).toEqual(['x402Version', 'error', 'resource', 'accepts', 'extensions']);
  expect(offer.x402Version).toBe(2);
  expect(offer.error).toMatch(/\S/);
  const url = new URL(offer.resource.url);
  const priceAtomic = Object.entries(PRICES_ATOMIC).find(([path]) => url.pathname.endsWith(path))?.[1];
  expect(priceAtomic, url.pathname).toBeDefined();
  expect(offer.resource.mimeType).toBe('application/json');
  expect(offer.resource.description.length).toBeLessThanOrEqual(500);
  expect(offer.accepts).toEqual([
    {
      scheme: 'exact',
      network: 'eip155:8453',
      amount: priceAtomic,
      asset: USDC_ADDRESS,
      payTo: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      maxTimeoutSeconds: 120,
      extra: { name: 'USD Coin', version: '2' },
    },
  ]);
  expect(offer.extensions).toEqual({
    bazaar: { info: expect.any(Object), schema: expect.any(Object) },
    'payment-identifier': { info: { required: false }, schema: expect.any(Object) },
  });
  const { error: _, ...mirrored } = offer;
  const { error: __, ...members } = JSON.parse(answer.text) as Record<string, unknown>;
  expect(members).toEqual(mirrored);
  return offer;
}

export function receiptOf(answer: Answer): SettlementResponse {
  const header = answer.headers.get('payment-response') ?? '';
  expect(header).toMatch(BASE64);
  return decodeHeader<SettlementResponse>(header);
}

/** A paid 200 and its receipt (reliability 108). */
export function expectPaid(answer: Answer, payer: string): SettlementResponse {
  expect({ status: answer.status, text: answer.text.slice(0, 400) }).toMatchObject({ status: 200 });
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('cache-control')).toBe('private, no-store');
  expect(answer.headers.get('payment-required')).toBeNull();
  const receipt = receiptOf(answer);
  expect(receipt).toMatchObject({ success: true, network: 'eip155:8453' });
  expect(receipt.payer?.toLowerCase()).toBe(payer.toLowerCase());
  expect(receipt.transaction).toMatch(/^0x[0-9a-f]{64}$/);
  const id = answer.headers.get('x-request-id') ?? '';
  expectRequestId(answer, id);
  return receipt;
}

/** The body of a 200 by its closed schema. */
export function parsedBody<S extends v.GenericSchema>(answer: Answer, schema: S): v.InferOutput<S> {
  return v.parse(schema, JSON.parse(answer.text));
}
