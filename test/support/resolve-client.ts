/** What customers of the Resolve API do, over whichever transport. */
import type * as v from 'valibot';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { createdAnswer, shownAnswer } from '../../src/modules/resolve/answers.ts';
import type { Transport } from './transport.ts';
import { encodeHeader, offerFrom, type Payment, paymentFor, wallet } from './wallet.ts';

export type Created = v.InferOutput<typeof createdAnswer>;
export type Shown = v.InferOutput<typeof shownAnswer>;

export const RESOLVE_PATH = '/resolve/v1/resolve';

export const bodyFor = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

export async function resolvePayment(server: Transport, account: PrivateKeyAccount = wallet()): Promise<Payment> {
  return paymentFor(await offerFrom(server.fetch(RESOLVE_PATH, bodyFor({ url: 'https://offer.example/' }))), account);
}

export const payWith = (server: Transport, payment: Payment, body: unknown, signal?: AbortSignal): Promise<Response> =>
  server.fetch(RESOLVE_PATH, {
    ...bodyFor(body),
    headers: { 'content-type': 'application/json', 'PAYMENT-SIGNATURE': encodeHeader(payment) },
    ...(signal === undefined ? {} : { signal }),
  });

/** Pays for a resolve and returns the raw answer. */
export const resolve = async (server: Transport, body: unknown, account?: PrivateKeyAccount): Promise<Response> =>
  payWith(server, await resolvePayment(server, account), body);

export const show = (server: Transport, { id, read_token }: Pick<Created, 'id' | 'read_token'>): Promise<Response> =>
  server.fetch(`/resolve/v1/resolves/${id}`, { headers: { authorization: `Bearer ${read_token}` } });

/** Asks until the resolve has ended. */
export async function ended(server: Transport, created: Created): Promise<Shown> {
  for (;;) {
    const answer = await show(server, created);
    const shown = (await answer.json()) as Shown;
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(shown)}`);
    if (shown.status !== 'pending') return shown;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
