/** A customer of POST products who asks again for what was bought: with a new authorization each time. */
import type { Transport } from './transport.ts';
import { decodeHeader, encodeHeader, offerFrom, paymentFor, wallet } from './wallet.ts';

/** Sends the request once more, with these headers and extensions of the payment. */
export type Buy = (headers: object, extensions?: object) => Promise<Response>;

/** @param body JSON; undefined = none */
export async function buyerAt(server: Transport, path: string, body?: unknown): Promise<Buy> {
  const account = wallet();
  const init = (headers: object): RequestInit =>
    body === undefined
      ? { method: 'POST', headers: { ...headers } }
      : { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
  const offer = await offerFrom(server.fetch(path, init({})));
  return async (headers, extensions) => {
    const payment = { ...(await paymentFor(offer, account)), ...(extensions && { extensions }) };
    return server.fetch(path, init({ ...headers, 'PAYMENT-SIGNATURE': encodeHeader(payment) }));
  };
}

export const isPaid = ({ headers }: Response): boolean =>
  decodeHeader<{ success: boolean }>(headers.get('payment-response')).success;
