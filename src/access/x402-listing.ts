/** `/.well-known/x402`: the paid routes of a server as an indexer lists them (x402-v2 §5.1, §7.4), from their declarations. */
import type { Route } from '../http/route.ts';
import { X402_VERSION } from '../payment/protocol/network.ts';
import { offerOfRoute, type PaidRoute, type Seller } from './x402.ts';
import { bazaarOf } from './x402-discovery.ts';

/** What a paid route is sold as, or undefined for a free one. @throws Error when it cannot be listed */
export function paidRouteOf(route: Route): PaidRoute | undefined {
  const price = route.access.find((access) => access.kind === 'x402')?.priceUsdc;
  if (price === undefined) return undefined;
  const { method, path, summary } = route;
  return { method, path, description: summary, priceUsdc: price, bazaar: bazaarOf(route) };
}

export function x402ListingOf(routes: readonly Route[], seller: Seller): Record<string, unknown> {
  const items = routes.flatMap((route) => {
    const paid = paidRouteOf(route);
    if (paid === undefined) return [];
    const { resource, requirements, extensions } = offerOfRoute(paid, seller);
    const { url, ...described } = resource;
    return [
      {
        resource: url,
        type: 'http',
        method: route.method,
        x402Version: X402_VERSION,
        ...described,
        accepts: [requirements],
        extensions,
      },
    ];
  });
  return { version: 1, x402Version: X402_VERSION, resources: items.map(({ resource }) => resource), items };
}
