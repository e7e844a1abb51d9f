/**
 * `paygrade demo`: buys from a running server as a customer would. It asks for an answer, shows the offer, pays with
 * the official x402 client, and shows the answer with its receipt. Play money comes from a throwaway wallet; real money
 * is spent only within the limit that `--spend` states.
 */
import { printable } from '../base/printable.ts';
import { usdcAtomicOf, usdcTextOf } from '../payment/protocol/amount.ts';
import { CommandError, command, EXIT_OK, UsageError } from './command.ts';
import { answerLines } from './demo/answer-lines.ts';
import { type Purchase, Purchases, priceOf } from './demo/purchases.ts';
import { demoRetry } from './demo/retry.ts';
import type { Io } from './io.ts';
import { serverOf, URL_OPTION } from './server-address.ts';

/** A company of the first answer, to ask about in the second request. */
function domainIn(body: unknown): string | undefined {
  const { data } = body as { data?: { companies?: { company: { domain: string | null } }[] } };
  return data?.companies?.map(({ company }) => company.domain).find((domain) => domain !== null) ?? undefined;
}

/** A job of a search, to ask about in detail. */
function jobIn(body: unknown): string | undefined {
  return (body as { data?: { jobs?: { id: string }[] } }).data?.jobs?.[0]?.id;
}

function paidText(receipt: Purchase['receipt']): string {
  if (receipt === 'unreadable') return 'with a receipt that is unreadable';
  return receipt?.success === true ? `paid, transaction ${receipt.transaction}` : 'not paid';
}

function show(io: Io, { path, status, offer, isPlayMoney, receipt, body }: Purchase): void {
  const wanted = offer.accepts?.[0];
  const say = (line: string): void => io.stderr.write(`  ${line}\n`);
  io.stderr.write(`\nGET ${path}\n`);
  say(
    printable(
      `402  ${usdcTextOf(priceOf(offer))} USDC${isPlayMoney ? ' of play money' : ''} on ${wanted?.network} to ${wanted?.payTo}`,
    ),
  );
  say(printable(`${status}  ${paidText(receipt)}`));
  for (const line of answerLines(body)) say(`     ${line}`);
}

/** Asks each kind of question once; an answer names what the next question is about. */
async function tour(
  shop: Purchases,
  role: string,
  onPurchase: (purchase: Purchase) => void,
): Promise<{ readonly purchases: readonly Purchase[] }> {
  const purchases: Purchase[] = [];
  const buy = async (route: string, parameters: Readonly<Record<string, string>>): Promise<Purchase> => {
    const path = `/v1/jobs/${route}?${new URLSearchParams(parameters)}`;
    const purchase = await shop.buy(path);
    purchases.push(purchase);
    onPurchase(purchase);
    if (purchase.status !== 200) throw new CommandError(`the paid request ${path} got ${purchase.status}`);
    return purchase;
  };
  const first = await buy('signals', { role, limit: '3' });
  const domain = domainIn(first.body);
  if (domain !== undefined) await buy('company', { company: domain });
  const found = await buy('search', { keyword: role, limit: '2' });
  const id = jobIn(found.body);
  if (id !== undefined) await buy('detail', { id });
  await buy('changes', { role, limit: '2' });
  await buy('skills', { role, limit: '5' });
  await buy('market', { role });
  return { purchases };
}

export const demo = command({
  notes: [
    'Pays play money (SETTLEMENT=local) from a throwaway wallet. It pays real money only with --spend, from the wallet of PRIVATE_KEY, and never more than that; whatever --spend says, it never pays real money without PRIVATE_KEY.',
    'Shows ten lines of each answer on stderr; --json prints all of it on stdout.',
  ],
  options: {
    url: URL_OPTION,
    role: { type: 'text', value: 'WORDS', help: 'job role to ask about', default: 'data engineer' },
    spend: { type: 'text', value: 'USDC', help: 'most that all answers may cost in real money, for example 0.20' },
    retry: {
      type: 'flag',
      help: 'instead show a retry whose completion event lands in a callback of the same server',
    },
    json: { type: 'flag', help: 'print the purchases, whole, as one JSON document' },
  },
  async run({ options, given }, io) {
    if (options.retry && given.has('role')) throw new UsageError('--role does not go with --retry');
    const spendAtomic = options.spend === undefined ? undefined : usdcAtomicOf(options.spend);
    if (options.spend !== undefined && !spendAtomic) {
      throw new UsageError('--spend must be an amount of USDC above 0 with at most six decimals, for example 0.20');
    }
    let wallet: string | undefined;
    const base = serverOf(options.url, io.env);
    const shop = new Purchases(base, io.env, spendAtomic, {
      onWallet(address, isThrowaway) {
        wallet ??= address;
        io.stderr.write(`${isThrowaway ? 'throwaway wallet' : 'wallet of PRIVATE_KEY'}: ${address}\n`);
      },
      onPause: (code, seconds) => io.stderr.write(`the server says ${code} and asks to come again in ${seconds} s\n`),
    });
    const shown = options.retry
      ? await demoRetry(base, shop, io)
      : await tour(shop, options.role, (purchase) => {
          if (!options.json) show(io, purchase);
        });
    if (options.json) io.stdout.write(`${JSON.stringify({ wallet, ...shown }, null, 2)}\n`);
    return EXIT_OK;
  },
});
