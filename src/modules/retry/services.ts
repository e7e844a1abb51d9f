/** The services of the Retry API's handlers and ways in. */
import type { CreditServices } from '../../access/credits.ts';
import type { IdempotencyServices } from '../../access/idempotency-key.ts';
import type { KeyRatedServices } from '../../access/key-rate.ts';
import type { OverloadServices } from '../../access/overload.ts';
import type { RatedServices } from '../../access/rate-limit.ts';
import type { RetryAccessServices } from '../../access/retry-access.ts';
import type { UnchargedServices } from '../../access/uncharged.ts';
import type { PaidServices } from '../../access/x402.ts';
import type { BodyServices } from '../../http/json-body.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import type { Retries } from '../../retry/retries.ts';

export interface RetryServices
  extends PaidServices,
    RetryAccessServices,
    CreditServices,
    KeyRatedServices,
    RatedServices,
    OverloadServices,
    UnchargedServices,
    IdempotencyServices,
    BodyServices {
  readonly retries: Retries;
  readonly outbound: Outbound;
  /** Public address of the surface, no trailing slash. */
  readonly baseUrl: string;
}
