/** What the commands that act as a customer share: the server's address, a wallet, and the official x402 client. */
import { findFetchCode } from '../adapters/outbound/connection-failure.ts';
import { MINUTE_MS } from '../base/durations.ts';
import { messageOf } from '../base/failure.ts';
import { NETWORK_IDS } from '../payment/protocol/network.ts';
import { CommandError, type TextOption, UsageError } from './command.ts';
import type { Io } from './io.ts';
import { optional } from './optional-package.ts';

const DEFAULT_URL = 'http://127.0.0.1:8402';

export const URL_OPTION = {
  type: 'text',
  value: 'URL',
  help: `address of the server (default PAYGRADE_URL, else ${DEFAULT_URL})`,
} as const satisfies TextOption;

/** Longer than any answer takes, including a wait of 30 s. */
export const ANSWER_TIMEOUT_MS = MINUTE_MS;

/** Codes of a refused connection: Node's, and Bun's. */
const REFUSED_CODES: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ConnectionRefused']);

/** The address without a trailing slash. @param name of the option or variable that gives it @throws UsageError */
function baseOf(text: string, name = '--url'): string {
  const url = URL.parse(text);
  // fetch accepts no address with a password, and its error message would print it. Paths are added to the address.
  const isBare = url !== null && [url.username, url.password, url.search, url.hash].every((part) => part === '');
  if (!isBare || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${name} must be an address such as ${DEFAULT_URL}`);
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

/** The address that the option or PAYGRADE_URL names, without a trailing slash. @throws UsageError */
export function namedServer(given: string | undefined, env: Io['env']): string | undefined {
  if (given !== undefined) return baseOf(given);
  return env.PAYGRADE_URL ? baseOf(env.PAYGRADE_URL, 'PAYGRADE_URL') : undefined;
}

/** As {@link namedServer}, or the address of a server on this machine with default settings. @throws UsageError */
export const serverOf = (given: string | undefined, env: Io['env']): string => namedServer(given, env) ?? DEFAULT_URL;

/**
 * A credential that a header accepts. For any other, the runtime's error may repeat its text and would look like a
 * fault of the server.
 * @throws UsageError without the text
 */
export function credentialFrom(text: string, name: string): string {
  const credential = text.trim();
  if (!/^[!-~]+$/.test(credential)) throw new UsageError(`the ${name} must be visible ASCII without blanks`);
  return credential;
}

/** The error that a command ends with when fetch fails. */
export function noAnswer(target: string, failure: unknown): CommandError {
  const { origin } = new URL(target);
  const code = findFetchCode(failure);
  if (REFUSED_CODES.has(code)) {
    return new CommandError(
      `no server listens at ${origin}: start one with \`npm start\`, or name its address with --url or PAYGRADE_URL`,
    );
  }
  return new CommandError(
    `no answer from ${origin}: ${code ?? messageOf((failure instanceof Error && failure.cause) || failure)}`,
  );
}

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
