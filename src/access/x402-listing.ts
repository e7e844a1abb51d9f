/** Builds `/.well-known/x402`: the paid operations of a server in the form of an indexer's list (x402-v2 §5.1, §7.4). */
import type { Mount } from '../http/access.ts';
import type { Operation } from '../http/operation.ts';
import { X402_VERSION } from '../payment/protocol/network.ts';
import { offerOf, type Seller } from './payment-offer.ts';
import { priceOf } from './x402.ts';

export function x402ListingOf(
  operations: readonly Operation[],
  seller: Seller,
  mount: Mount,
): Readonly<Record<string, unknown>> {
  const items = operations.flatMap((operation) => {
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
