/** The services of the Resolve API's handlers and ways in. */
import type { OverloadServices } from '../../access/overload.ts';
import type { RatedServices } from '../../access/rate-limit.ts';
import type { UnchargedServices } from '../../access/uncharged.ts';
import type { PaidServices } from '../../access/x402.ts';
import type { BodyServices } from '../../http/json-body.ts';
import type { TargetPolicy } from '../../outbound/target.ts';
import type { Resolver } from '../../resolve/resolver.ts';

export interface ResolveServices
  extends OverloadServices,
    PaidServices,
    RatedServices,
    UnchargedServices,
    BodyServices {
  readonly resolver: Resolver;
  readonly policy: TargetPolicy;
  /** Public address of the surface, without a trailing slash. */
  readonly baseUrl: string;
}
