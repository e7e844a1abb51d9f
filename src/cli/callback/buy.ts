/** Buys a callback and shows it, for the commands that print a read token. */
import { printable } from '../../base/printable.ts';
import { CommandError } from '../command.ts';
import { type Answer, exchange, objectFrom, refused } from '../exchange.ts';
import type { Io } from '../io.ts';
import { type PayingClient, payingClient } from '../paying-client.ts';

export interface BoughtCallback {
  readonly id: string;
  readonly callbackUrl: string;
  readonly readToken: string;
  readonly expiresAt: string;
  /** The server's answer. */
  readonly text: string;
}

/** The wallet of PRIVATE_KEY, else a throwaway one; says on stderr which address pays. @throws UsageError, CommandError */
export async function walletOf({ env, stderr }: Io): Promise<PayingClient> {
  const client = await payingClient(env.PRIVATE_KEY || undefined);
  stderr.write(`paying from ${client.address}\n`);
  return client;
}

/** The error of a command when the server refuses a purchase by the wallet of `walletOf`. */
export function refusedPurchase(answer: Answer, { env }: Io): CommandError {
  const refusal = refused(answer);
  if (answer.status !== 402 || env.PRIVATE_KEY) return refusal;
  const hint = 'a throwaway wallet pays only play money; set PRIVATE_KEY to the key of a wallet with USDC';
  return new CommandError(`${refusal.message.replace(/\.$/, '')}; ${hint}`);
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
