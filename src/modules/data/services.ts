/** The services of the Jobs Data API's handlers and ways in. */
import type { ApiKeyServices } from '../../access/api-key.ts';
import type { CreditServices } from '../../access/credits.ts';
import type { KeyRatedServices } from '../../access/key-rate.ts';
import type { OverloadServices } from '../../access/overload.ts';
import type { RatedServices } from '../../access/rate-limit.ts';
import type { Clock } from '../../base/clock.ts';
import type { CatalogueServices } from '../catalogue-refusals.ts';
import type { Cursors } from './cursors.ts';
import type { PagesMemo } from './pages-memo.ts';

export interface DataServices
  extends CatalogueServices,
    ApiKeyServices,
    CreditServices,
    KeyRatedServices,
    RatedServices,
    OverloadServices {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly cursors: Cursors;
  readonly memo: PagesMemo;
}
