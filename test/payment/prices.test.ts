/** The setting of prices: what it sets, and what stops the start. */
import { describe, expect, it } from 'vitest';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { PRICE_KEYS, parsePrices, unusualPricesIn } from '../../src/payment/prices.ts';

const read = (PRICES: string) => CONFIGURATION.read({ STATE_DIR: ':memory:', PRICES }).prices;

describe('PRICES', () => {
  it.each([
    ['', {}],
    ['search=0.02', { search: '0.02' }],
    [' search = 0.5 , callback=0.000001 ', { search: '0.50', callback: '0.000001' }],
    ['market=1', { market: '1.00' }],
    [PRICE_KEYS.map((key) => `${key}=0.3`).join(','), Object.fromEntries(PRICE_KEYS.map((key) => [key, '0.30']))],
  ])('%j sets %j', (text, prices) => {
    expect(read(text)).toEqual(prices);
  });

  it.each([
    ['searches=0.02', /"searches=0\.02" names none of search, company/],
    ['__proto__=1', /names none of/],
    ['search', /"search" has no price/],
    ['search=', /has no price above 0 and below 1,000,000 USDC with at most six decimals/],
    ['search=0', /has no price above 0/],
    ['search=0.000000', /has no price above 0/],
    ['search=0.0000001', /at most six decimals/],
    ['search=-1', /has no price above 0/],
    ['search=1e3', /has no price above 0/],
    ['search=1000000', /below 1,000,000 USDC/],
    ['search=0.02=3', /has no price above 0/],
    ['search=0.02,search=0.03', /search has two prices/],
    ['search=0.02,', /names none of/],
    ['search=0,02', /has no price above 0/],
  ])('%j stops the start', (text, fault) => {
    expect(() => read(text)).toThrow(/^PRICES must be a list such as search=0\.02,company=0\.05 \(/);
    expect(() => read(text)).toThrow(fault);
  });

  it('is unusual above 1 USDC, which official clients refuse', () => {
    const parsed = parsePrices('search=1,company=1.000001,callback=20');
    expect(parsed.ok && unusualPricesIn(parsed.prices)).toEqual(['company', 'callback']);
  });
});
