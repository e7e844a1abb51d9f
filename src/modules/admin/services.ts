/** The services of the operator's operations. */
import type { AdminServices } from '../../access/admin-token.ts';
import type { Clock } from '../../base/clock.ts';
import type { Books } from '../../payment/books.ts';

export interface AdminModuleServices extends AdminServices {
  readonly books: Pick<Books, 'list' | 'days'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}
