/**
 * `paygrade demo`: buys from a running server as a customer would. It makes a throwaway wallet, asks for an answer, shows the
 * offer, pays with the official x402 client and prints an answer of each jobs route with its receipt.
 */
import { CommandError, command, EXIT_OK } from './command.ts';
import type { Io } from './io.ts';
import { ANSWER_TIMEOUT_MS, baseOf, noAnswer, payingClient, URL_OPTION } from './paying-client.ts';

interface Offer {
  readonly accepts: readonly { readonly amount: string; readonly payTo: string; readonly network: string }[];
}

interface Receipt {
  readonly success: boolean;
  readonly transaction: string;
  readonly payer?: string;
}

interface Purchase {
  readonly path: string;
  readonly status: number;
  readonly offer: Offer;
  readonly receipt: Receipt | null;
  readonly body: unknown;
}

const fromBase64 = <T>(text: string | null): T | null =>
  text === null ? null : (JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as T);

const dollars = (atomic: string): string => `${(Number(atomic) / 1_000_000).toFixed(2)} USDC`;

async function ask(url: string): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  } catch (failure) {
    throw noAnswer(url, failure);
  }
}

/** A company of the first answer, to ask about in the second request. */
function domainIn(body: unknown): string | undefined {
  const { data } = body as { data?: { companies?: { company: { domain: string | null } }[] } };
  return data?.companies?.map(({ company }) => company.domain).find((domain) => domain !== null) ?? undefined;
}

/** A job of a search, to ask about in detail. */
function jobIn(body: unknown): string | undefined {
  return (body as { data?: { jobs?: { id: string }[] } }).data?.jobs?.[0]?.id;
}

function show(io: Io, purchase: Purchase): void {
  const { path, status, offer, receipt, body } = purchase;
  const [wanted] = offer.accepts;
  io.stderr.write(`\nGET ${path}\n`);
  io.stderr.write(`  402  ${dollars(wanted?.amount ?? '0')} on ${wanted?.network} to ${wanted?.payTo}\n`);
  io.stderr.write(
    `  ${status}  ${receipt?.success === true ? `paid, transaction ${receipt.transaction}` : 'not paid'}\n`,
  );
  io.stderr.write(`${JSON.stringify(body, null, 2)}\n`);
}

export const demo = command({
  name: 'demo',
  summary: 'Buys one answer of each kind from a running server, with a throwaway wallet and the official client',
  notes: [
    'The wallet is new and empty. It can pay a server with SETTLEMENT=local, which gives every payer a play balance.',
  ],
  options: {
    url: URL_OPTION,
    role: { type: 'text', value: 'WORDS', help: 'job role to ask about', default: 'data engineer' },
    json: { type: 'flag', help: 'print the purchases as one JSON document' },
  },
  async run({ options }, io) {
    const base = baseOf(options.url);
    const { address, payingFetch } = await payingClient(undefined);
    io.stderr.write(`throwaway wallet: ${address}\n`);

    const purchases: Purchase[] = [];
    const buy = async (path: string): Promise<Purchase> => {
      const unpaid = await ask(base + path);
      const offer = fromBase64<Offer>(unpaid.headers.get('payment-required'));
      if (unpaid.status !== 402 || offer === null) {
        throw new CommandError(`expected an offer (402) from ${path}, got ${unpaid.status}: ${await unpaid.text()}`);
      }
      const paid = await payingFetch(base + path, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
      const receipt = fromBase64<Receipt>(paid.headers.get('payment-response'));
      const purchase = { path, status: paid.status, offer, receipt, body: await paid.json() };
      purchases.push(purchase);
      if (!options.json) show(io, purchase);
      if (paid.status !== 200) throw new CommandError(`the paid request ${path} got ${paid.status}`);
      return purchase;
    };

    const role = encodeURIComponent(options.role).replaceAll('%20', '+');
    const first = await buy(`/v1/jobs/signals?role=${role}&limit=3`);
    const domain = domainIn(first.body);
    if (domain !== undefined) await buy(`/v1/jobs/company?company=${encodeURIComponent(domain)}`);
    const found = await buy(`/v1/jobs/search?keyword=${role}&limit=2`);
    const id = jobIn(found.body);
    if (id !== undefined) await buy(`/v1/jobs/detail?id=${encodeURIComponent(id)}`);
    await buy(`/v1/jobs/changes?role=${role}&limit=2`);
    await buy(`/v1/jobs/skills?role=${role}&limit=5`);
    await buy(`/v1/jobs/market?role=${role}`);
    if (options.json) io.stdout.write(`${JSON.stringify({ wallet: address, purchases }, null, 2)}\n`);
    return EXIT_OK;
  },
});
