/** The services of the operator's operations. */
import type { AdminServices } from '../../access/admin-token.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Clock } from '../../base/clock.ts';
import type { BodyServices } from '../../http/json-body.ts';
import type { Books } from '../../payment/books.ts';

export interface AdminModuleServices extends AdminServices, BodyServices {
  readonly books: Pick<Books, 'list' | 'days'>;
  readonly accounts: Accounts;
  readonly clock: Pick<Clock, 'nowMs'>;
}
