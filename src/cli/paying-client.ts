/** The wallet of the commands that act as a customer, which pays through the official x402 client. */
import { NETWORK_IDS } from '../payment/protocol/network.ts';
import { CommandError, UsageError } from './command.ts';
import { type Answer, refused } from './exchange.ts';
import type { Io } from './io.ts';
import { optional } from './optional-package.ts';

/** An upper bound for a wallet's payments, in atomic USDC (6 decimals). The client subtracts what it signs. */
export interface Budget {
  leftAtomic: bigint;
}

export interface PayingClient {
  /** Address of the wallet. */
  readonly address: string;
  /** Fetch that answers a 402 by paying and asking again. */
  readonly payingFetch: typeof fetch;
}

/**
 * @param privateKey 0x and 64 hex digits; undefined makes a throwaway wallet, which has money only in a play ledger
 * @param budget the client signs no payment beyond it; without one each payment may be up to the official client's
 *   limit, 1 USDC, or any amount for a throwaway wallet, which has nothing to lose
 * @throws UsageError for another text, CommandError when the client is not installed
 */
export async function payingClient(privateKey: string | undefined, budget?: Budget): Promise<PayingClient> {
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
  const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: NETWORK_IDS.map((network) => ({ network, client })),
    ...((budget !== undefined || privateKey === undefined) && { spendControls: { maxAmountPerPayment: false } }),
    ...(budget !== undefined && {
      policies: [(_version, offers) => offers.filter(({ amount }) => BigInt(amount) <= budget.leftAtomic)],
      paymentRequirementsSelector: (_version, [chosen]) => {
        if (chosen === undefined) throw new CommandError('the offer costs more than is left to spend');
        budget.leftAtomic -= BigInt(chosen.amount);
        return chosen;
      },
    }),
  });
  return { address: account.address, payingFetch: payingFetch as typeof fetch };
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
