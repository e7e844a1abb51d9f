/** What operations cost: the price that each declares, unless the operator sets another (decisions §2, `PRICES`). */
import { commaList } from '../base/comma-list.ts';
import { usdcAtomicOf, usdcTextOf } from './protocol/amount.ts';

/** The names by which an operator sets prices. */
export const PRICE_KEYS = [
  'search',
  'company',
  'signals',
  'detail',
  'changes',
  'skills',
  'market',
  'callback',
  'retry',
  'resolve',
] as const;
export type PriceKey = (typeof PRICE_KEYS)[number];

/** USDC as decimal text, for the keys that the operator set. */
export type Prices = Readonly<Partial<Record<PriceKey, string>>>;

/** Official clients refuse to pay more unless they are set otherwise (x402-v2 §8), atomic USDC. */
const USUAL_PRICE_ATOMIC_MAX = 1_000_000n;

export type ParsedPrices =
  | { readonly ok: true; readonly prices: Prices }
  | { readonly ok: false; readonly fault: string };

const isPriceKey = (name: string): name is PriceKey => (PRICE_KEYS as readonly string[]).includes(name);

/** Reads `search=0.02,company=0.05`; the fault names the entry. An empty text sets nothing. */
export function parsePrices(text: string): ParsedPrices {
  const prices: Partial<Record<PriceKey, string>> = {};
  const fault = (words: string): ParsedPrices => ({ ok: false, fault: words });
  for (const entry of commaList(text)) {
    const [name = '', amount = '', ...rest] = entry.split('=').map((part) => part.trim());
    const shown = JSON.stringify(entry);
    if (!isPriceKey(name)) return fault(`${shown} names none of ${PRICE_KEYS.join(', ')}`);
    if (prices[name] !== undefined) return fault(`${name} has two prices`);
    const atomic = rest.length === 0 ? usdcAtomicOf(amount) : undefined;
    if (atomic === undefined || atomic === 0n) {
      return fault(`${shown} has no price above 0 and below 1,000,000 USDC with at most six decimals`);
    }
    prices[name] = usdcTextOf(atomic);
  }
  return { ok: true, prices };
}

/** The keys whose price official clients refuse to pay. */
export const unusualPricesIn = (prices: Prices): readonly PriceKey[] =>
  PRICE_KEYS.filter((key) => prices[key] !== undefined && usdcAtomicOf(prices[key])! > USUAL_PRICE_ATOMIC_MAX);
