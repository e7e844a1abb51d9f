/** What the commands that act as a customer share: the server's address, a wallet, and the official x402 client. */
import { errorCodeOf, messageOf } from '../base/failure.ts';
import { NETWORK_IDS } from '../payment/protocol/network.ts';
import { CommandError, type TextOption, UsageError } from './command.ts';
import { optional } from './optional-package.ts';

export const URL_OPTION = {
  type: 'text',
  value: 'URL',
  help: 'address of the server',
  default: 'http://127.0.0.1:8402',
} as const satisfies TextOption;

/** Longer than any answer takes, including a wait of 30 s. */
export const ANSWER_TIMEOUT_MS = 60_000;

/** The server's address without a trailing slash. @throws UsageError */
export function baseOf(text: string): string {
  if (!URL.canParse(text)) throw new UsageError(`--url must be an address such as ${URL_OPTION.default}`);
  return text.replace(/\/+$/, '');
}

/** The error that a command ends with when fetch fails. */
export function noAnswer(target: string, failure: unknown): CommandError {
  const code = errorCodeOf((failure as { cause?: unknown } | null)?.cause);
  return new CommandError(`no answer from ${new URL(target).origin}: ${code ?? messageOf(failure)}`);
}

export interface PayingClient {
  /** Address of the wallet. */
  readonly address: string;
  /** Fetch that answers a 402 by paying and asking again. */
  readonly payingFetch: typeof fetch;
}

/**
 * @param privateKey 0x and 64 hex digits; undefined makes a throwaway wallet, which has money only in a play ledger
 * @throws UsageError for another text, CommandError when the client is not installed
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
  const client = new ExactEvmScheme(account);
  const schemes = NETWORK_IDS.map((network) => ({ network, client }));
  return { address: account.address, payingFetch: wrapFetchWithPaymentFromConfig(fetch, { schemes }) as typeof fetch };
}
