/**
 * Buys answers and pays each offer from the right wallet: one in play money from a throwaway wallet, which has nothing
 * to lose, any other from the operator's wallet, within the limit that the operator states.
 */
import { setTimeout } from 'node:timers/promises';
import { objectOf, parseJson } from '../../base/json-value.ts';
import { printable } from '../../base/printable.ts';
import { uint256Of, usdcTextOf } from '../../payment/protocol/amount.ts';
import { PLAY_MARK } from '../../payment/protocol/requirements.ts';
import { CommandError, UsageError } from '../command.ts';
import { type Answer, errorOf, exchange } from '../exchange.ts';
import type { Io } from '../io.ts';
import { type Budget, type PayingClient, payingClient } from '../paying-client.ts';

/** As far as it is used, and as far as a foreign server's may be without it. */
interface Offer {
  readonly resource?: { readonly description?: string };
  readonly accepts?: readonly { readonly amount: string; readonly payTo: string; readonly network: string }[];
}

interface Receipt {
  readonly success: boolean;
  readonly transaction: string;
  readonly payer?: string;
}

export interface Purchase {
  readonly path: string;
  readonly status: number;
  readonly offer: Offer;
  readonly isPlayMoney: boolean;
  /** null: the answer has none. */
  readonly receipt: Receipt | 'unreadable' | null;
  readonly body: unknown;
}

export interface PurchaseNotices {
  /** Called before a wallet pays for the first time. */
  onWallet(address: string, isThrowaway: boolean): void;
  /** Called before a pause that the server asks for, with the code of its refusal. */
  onPause(code: string, seconds: number): void;
}

/** How often a server that refuses for a moment is asked again, and the longest pause to wait. */
const REPEATS_MAX = 2;
const PAUSE_SECONDS_MAX = 10;

/** The object of a payment header, base64 of JSON; undefined for any other text. */
const objectIn = (header: string): object | undefined =>
  objectOf(parseJson(Buffer.from(header, 'base64').toString('utf8')));

/** The price of an offer's first entry, atomic USDC; the commands pay no other. @throws CommandError */
export function priceOf({ accepts }: Offer): bigint {
  const price = uint256Of(String(accepts?.[0]?.amount));
  if (price === undefined) throw new CommandError('the offer names no amount');
  return price;
}

/** @throws CommandError for a header that names no price */
function offerIn(header: string): Offer {
  const offer = objectIn(header) as Offer | undefined;
  if (offer === undefined) throw new CommandError('the server sent an offer that is not base64 of a JSON object');
  priceOf(offer);
  return offer;
}

/** Never throws: the answer beside it is paid for. */
function receiptIn(header: string | null): Purchase['receipt'] {
  if (header === null) return null;
  const receipt = objectIn(header) as Receipt | undefined;
  const isWhole = receipt?.success === false || typeof receipt?.transaction === 'string';
  return receipt !== undefined && isWhole ? receipt : 'unreadable';
}

function jsonIn({ status, text }: Answer): unknown {
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw new CommandError(`the server answered ${status} with what is not JSON: ${printable(text, 200)}`);
}

export class Purchases {
  readonly #base: string;
  readonly #env: Io['env'];
  readonly #budget: Budget | undefined;
  readonly #notices: PurchaseNotices;
  #play: PayingClient | undefined;
  #real: PayingClient | undefined;

  /**
   * @param base address of the server @param spendAtomic most that real offers may cost together; undefined = buy none of them
   */
  constructor(base: string, env: Io['env'], spendAtomic: bigint | undefined, notices: PurchaseNotices) {
    this.#base = base;
    this.#env = env;
    this.#budget = spendAtomic === undefined ? undefined : { leftAtomic: spendAtomic };
    this.#notices = notices;
  }

  /** Asks for the price, pays and asks again. @throws CommandError, UsageError before anything is paid */
  async buy(path: string, init: RequestInit = {}): Promise<Purchase> {
    const url = this.#base + path;
    const unpaid = await this.#offered(url, init);
    const offered = unpaid.header('payment-required');
    if (unpaid.status !== 402 || offered === null) {
      const said = printable(unpaid.text, 200);
      throw new CommandError(`expected an offer (402) from ${path}, got ${unpaid.status}: ${said}`);
    }
    const offer = offerIn(offered);
    const isPlayMoney = String(offer.resource?.description).startsWith(PLAY_MARK);
    const { payingFetch } = isPlayMoney ? await this.#playClient() : await this.#realClient(priceOf(offer), path);
    const paid = await exchange(url, init, payingFetch);
    const receipt = receiptIn(paid.header('payment-response'));
    return { path, status: paid.status, offer, isPlayMoney, receipt, body: jsonIn(paid) };
  }

  /**
   * The answer to a request without a payment. Asks a server that refuses for a moment again after the pause that it states, twice.
   */
  async #offered(url: string, init: RequestInit): Promise<Answer> {
    for (let repeats = 0; ; repeats++) {
      const answer = await exchange(url, init);
      const seconds = Number(answer.header('retry-after') ?? Number.NaN);
      const isWorthIt = answer.status === 503 && seconds <= PAUSE_SECONDS_MAX && repeats < REPEATS_MAX;
      if (!isWorthIt) return answer;
      this.#notices.onPause(errorOf(answer).code, seconds);
      await setTimeout(seconds * 1000);
    }
  }

  async #playClient(): Promise<PayingClient> {
    if (this.#play === undefined) {
      this.#play = await payingClient(undefined);
      this.#notices.onWallet(this.#play.address, true);
    }
    return this.#play;
  }

  async #realClient(priceAtomic: bigint, path: string): Promise<PayingClient> {
    const price = `${usdcTextOf(priceAtomic)} USDC`;
    if (this.#budget === undefined) {
      throw new UsageError(
        `${this.#base} wants ${price} of real money for ${path.split('?')[0]}: --spend USDC with PRIVATE_KEY pays, never more than that`,
      );
    }
    const key = this.#env.PRIVATE_KEY;
    if (!key) throw new UsageError('--spend needs PRIVATE_KEY, the key of a wallet with USDC');
    const { leftAtomic } = this.#budget;
    if (priceAtomic > leftAtomic) {
      throw new CommandError(
        `${path.split('?')[0]} costs ${price}, and ${usdcTextOf(leftAtomic)} USDC of --spend are left`,
      );
    }
    if (this.#real === undefined) {
      this.#real = await payingClient(key, this.#budget);
      this.#notices.onWallet(this.#real.address, false);
    }
    return this.#real;
  }
}
