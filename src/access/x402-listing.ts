/** Builds `/.well-known/x402`: the paid operations of a server in the form of an indexer's list (x402-v2 §5.1, §7.4). */
import type { Mount } from '../http/access.ts';
import type { Operation } from '../http/operation.ts';
import { X402_VERSION } from '../payment/protocol/network.ts';
import { offerOf, type Seller } from './payment-offer.ts';
import { priceOf } from './x402.ts';

/** The operations of a surface, and where they are sold. */
export interface Shop {
  readonly operations: readonly Operation[];
  readonly mount: Mount;
}

export function x402ListingOf(shops: readonly Shop[], seller: Seller): Readonly<Record<string, unknown>> {
  const sold = shops.flatMap(({ operations, mount }) => operations.map((operation) => ({ operation, mount })));
  const items = sold.flatMap(({ operation, mount }) => {
    const priceUsdc = priceOf(operation.access);
    if (priceUsdc === undefined) return [];
    const { resource, requirements, declared } = offerOf(operation, priceUsdc, seller, mount);
    const { url, ...described } = resource;
    return [
      {
        resource: url,
        type: 'http',
        method: operation.method,
        x402Version: X402_VERSION,
        ...described,
        accepts: [requirements],
        extensions: declared,
      },
    ];
  });
  return { version: 1, x402Version: X402_VERSION, resources: items.map(({ resource }) => resource), items };
}
