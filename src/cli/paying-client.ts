/** What the commands share that are a customer: the server's address, a wallet, and the official x402 client around it. */
import { CommandError, type TextOption, UsageError } from './command.ts';
import { optional } from './optional-package.ts';

export const URL_OPTION = {
  type: 'text',
  value: 'URL',
  help: 'address of the server',
  default: 'http://127.0.0.1:8402',
} as const satisfies TextOption;

/** Longer than any answer takes, a wait of 30 s too, and shorter than a person waits. */
export const ANSWER_TIMEOUT_MS = 60_000;

/** The server's address without a trailing slash. throws UsageError */
export function baseOf(text: string): string {
  if (!URL.canParse(text)) throw new UsageError(`--url must be an address such as ${URL_OPTION.default}`);
  return text.replace(/\/+$/, '');
}

/** For a failure of fetch. */
export function noAnswer(target: string, failure: unknown): CommandError {
  const { cause, message } = failure as Error & { cause?: { code?: string } };
  return new CommandError(`no answer from ${new URL(target).origin}: ${cause?.code ?? message}`);
}

export interface PayingClient {
  /** Of the wallet. */
  readonly address: string;
  /** Answers a 402 by paying and asking again. */
  readonly payingFetch: typeof fetch;
}

/**
 * @param privateKey 0x and 64 hex digits; undefined makes a throwaway wallet, which only a play ledger lends anything
 * @throws UsageError for another key, CommandError when the client is not installed
 */
export async function payingClient(privateKey: string | undefined): Promise<PayingClient> {
  if (privateKey !== undefined && !/^0x[0-9a-fA-F]{64}$/.test(privateKey)) {
    throw new UsageError('PRIVATE_KEY must be 0x and 64 hex digits');
  }
  const [{ wrapFetchWithPaymentFromConfig }, { ExactEvmScheme }, accounts] = await optional(
    () => Promise.all([import('@x402/fetch'), import('@x402/evm'), import('viem/accounts')]),
    'paying needs the official client',
    '@x402/fetch @x402/evm viem',
  );
  const account = accounts.privateKeyToAccount(
    privateKey === undefined ? accounts.generatePrivateKey() : (privateKey as `0x${string}`),
  );
  const schemes = [{ network: 'eip155:8453' as const, client: new ExactEvmScheme(account) }];
  return { address: account.address, payingFetch: wrapFetchWithPaymentFromConfig(fetch, { schemes }) as typeof fetch };
}
