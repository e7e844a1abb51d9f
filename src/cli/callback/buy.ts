/** Buys a callback and shows it, for the commands that print a read token. */
import { printable } from '../../base/printable.ts';
import { exchange, objectFrom } from '../exchange.ts';
import type { Io } from '../io.ts';
import { type PayingClient, refusedPurchase } from '../paying-client.ts';

export interface BoughtCallback {
  readonly id: string;
  readonly callbackUrl: string;
  readonly readToken: string;
  readonly expiresAt: string;
  /** The server's answer. */
  readonly text: string;
}

/** @param base address of the server @throws CommandError when the server refuses */
export async function buyCallback(base: string, { payingFetch }: PayingClient, io: Io): Promise<BoughtCallback> {
  const answer = await exchange(`${base}/v1/callbacks`, { method: 'POST' }, payingFetch);
  if (answer.status !== 201) throw refusedPurchase(answer, io);
  const made = objectFrom<Record<string, unknown>>(answer, 'callback_url');
  return {
    id: String(made.id),
    callbackUrl: String(made.callback_url),
    readToken: String(made.read_token),
    expiresAt: String(made.expires_at),
    text: answer.text,
  };
}

/** A callback for people. @param callback as the server sent it */
export function callbackLines({ id, callbackUrl, readToken, expiresAt }: BoughtCallback): string {
  return [
    `id            ${printable(id)}\n`,
    `callback_url  ${printable(callbackUrl)}\n`,
    `read_token    ${printable(readToken)}\n`,
    `expires_at    ${printable(expiresAt)}\n`,
  ].join('');
}
