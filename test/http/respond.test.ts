/** Headers that are prepared once and written over: what one response was given is never on another. */
import { describe, expect, it } from 'vitest';
import { PAYMENT_INVALID, PAYMENT_REQUIRED } from '../../src/access/x402-contract.ts';
import { Answer, type HeaderRecord, Reply } from '../../src/http/answers.ts';
import { NOT_FOUND, refuse } from '../../src/http/errors.ts';
import { RepeatedRefusal } from '../../src/http/hot/repeated-refusal.ts';
import { Responder } from '../../src/http/respond.ts';
import { fetchResponses } from '../../src/http/response-form.ts';

const unreported = (failure: unknown): never => {
  throw failure;
};

const EVERYWHERE = { 'access-control-allow-origin': 'https://shop.example', vary: 'Origin' };

describe.each([
  { copies: true, because: 'prepared Headers are copied by the Response' },
  { copies: false, because: 'each Response is given a record' },
])('the headers of responses, when $because', ({ copies }) => {
  const base = (requestId: string) => ({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...EVERYWHERE,
    'x-request-id': requestId,
  });

  it('do not depend on the responses before', () => {
    const responder = new Responder(EVERYWHERE, fetchResponses(copies), { report: unreported });
    const asked = [
      { 'payment-required': 'one' },
      { 'retry-after': '5' },
      undefined,
      { 'payment-required': 'two', 'payment-response': 'refused' },
      { 'payment-required': 'three' },
      undefined,
      { 'retry-after': '1', 'payment-response': 'pending' },
      { 'payment-response': 'settled' },
      { 'retry-after': '2' },
    ];
    const responses = [...asked, ...asked].map((headers, i) =>
      responder.refusal(refuse(PAYMENT_INVALID, 'no', { headers }), `req_${i}`),
    );
    for (const [i, response] of responses.entries()) {
      expect(Object.fromEntries(response.headers)).toEqual({ ...base(`req_${i}`), ...asked[i % asked.length] });
    }
  });

  it('join the answer’s Vary with the server’s', () => {
    const responder = new Responder(EVERYWHERE, fetchResponses(copies), { report: unreported });
    for (const vary of ['Accept', 'Cookie', 'Accept']) {
      const response = responder.refusal(refuse(NOT_FOUND, 'no', { headers: { vary } }), 'req_1');
      expect(response.headers.get('vary')).toBe(`Origin, ${vary}`);
    }
  });

  it('are the same for a repeated answer', async () => {
    const responder = new Responder(EVERYWHERE, fetchResponses(copies), { report: unreported });
    const { head } = refuse(PAYMENT_REQUIRED, 'pay "me"');
    const extras = { headers: { 'payment-required': 'offer' }, members: [',"x402Version":', '2'] };
    const kept = new RepeatedRefusal(PAYMENT_REQUIRED, 'pay "me"', extras, head);
    for (const requestId of ['req_1', 'req_2', 'req_3']) {
      const response = responder.refusal(kept, requestId);
      expect(response.status).toBe(402);
      expect(Object.fromEntries(response.headers)).toEqual({ ...base(requestId), 'payment-required': 'offer' });
      const error = { code: 'PAYMENT_REQUIRED', message: 'pay "me"', request_id: requestId };
      expect(await response.json()).toEqual({ error, x402Version: 2 });
    }
  });

  it('stand beside a body that is not overwritten by the next one, longer or shorter', async () => {
    const responder = new Responder(EVERYWHERE, fetchResponses(copies), { report: unreported });
    const noted = ['', 'short', 'a\u00e9\u20ac\u{1f600}'.repeat(500), 'x', '\u20ac'.repeat(20_000), 'end'];
    const responses = noted.map((note, i) => {
      const members = [',"note":', JSON.stringify(note), ',"last":true'];
      return responder.refusal(refuse(PAYMENT_INVALID, 'n\u00f6', { members }), `req_${i}`);
    });
    for (const [i, response] of responses.entries()) {
      const error = { code: 'PAYMENT_INVALID', message: 'n\u00f6', request_id: `req_${i}` };
      expect(await response.json()).toEqual({ error, note: noted[i], last: true });
    }
  });

  it('are those of one reply where many share frozen ones', () => {
    const responder = new Responder(EVERYWHERE, fetchResponses(copies), { report: unreported });
    const text = Object.freeze({ 'content-type': 'text/plain', 'x-content-type-options': 'nosniff' });
    const varied = Object.freeze({ 'content-type': 'text/html', vary: 'Accept' });
    const asked: readonly { own: HeaderRecord; cacheControl: string; receipt?: HeaderRecord }[] = [
      { own: text, cacheControl: 'no-store' },
      { own: text, cacheControl: 'private, no-store' },
      { own: varied, cacheControl: 'no-store' },
      { own: text, cacheControl: 'no-store', receipt: { 'payment-response': 'settled' } },
      { own: { ...text, etag: '"1"' }, cacheControl: 'no-store' },
    ];
    for (const [i, { own, cacheControl, receipt }] of [...asked, ...asked].entries()) {
      const terms = { status: 200, cacheControl };
      const receiver = { requestId: `req_${i}`, cut: () => true };
      const response = responder.respond(terms, new Answer(new Reply('yes', own), receipt), receiver);
      const expected = { ...base(`req_${i}`), 'cache-control': cacheControl, ...own, ...receipt };
      const vary = own.vary === undefined ? 'Origin' : 'Origin, Accept';
      expect(Object.fromEntries(response.headers)).toEqual({ ...expected, vary });
    }
  });
});
