/** A customer's wallet and the official x402 client around it, for the commands that buy. */
import { UsageError } from './command.ts';
import { optional } from './optional-package.ts';

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
