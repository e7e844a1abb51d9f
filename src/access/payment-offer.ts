/** The offer of a paid operation, with one seller's terms (decisions §4). */
import type { Mount } from '../http/access.ts';
import type { Contract } from '../http/contract.ts';
import type { Prices } from '../payment/prices.ts';
import type { Address, Network } from '../payment/protocol/network.ts';
import { type Offer, OversizedOfferError, PLAY_MARK, prepareOffer } from '../payment/protocol/requirements.ts';
import { ANSWER_DETAILS, type AnswerDetail, bazaarOf } from './x402-discovery.ts';

/** What offers state about the selling server: recipient, network and prices. */
export interface Seller {
  readonly payTo: Address;
  readonly network: Network;
  /** Prices that override the declared ones. */
  readonly prices: Prices;
  /** True: payments move play money, and descriptions of offers say so. */
  readonly isPlay: boolean;
  readonly serviceName: string;
}

/**
 * Makes an offer that describes the answer in as much detail as fits its header: facilitators and proxies refuse a long one.
 * @throws Error when the offer does not fit even with the least detail
 */
function offerThatFits(make: (detail: AnswerDetail) => Offer): Offer {
  let oversized: unknown;
  for (const detail of ANSWER_DETAILS) {
    try {
      return make(detail);
    } catch (failure) {
      if (!(failure instanceof OversizedOfferError)) throw failure;
      oversized = failure;
    }
  }
  throw oversized;
}

/**
 * Prepares the offer of an operation.
 * @throws Error at start, when the operation's declaration gives no valid offer
 */
export function offerOf(contract: Contract, priceUsdc: string, seller: Seller, { baseUrl }: Mount): Offer {
  const { path, summary } = contract;
  const description = seller.isPlay ? `${PLAY_MARK} ${summary}` : summary;
  const terms = { ...seller, baseUrl, path, description, priceUsdc };
  return offerThatFits((detail) => prepareOffer({ ...terms, bazaar: bazaarOf(contract, detail) }));
}
