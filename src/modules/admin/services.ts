/** The services of the operator's operations. */
import type { AdminServices } from '../../access/admin-token.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Clock } from '../../base/clock.ts';
import type { CatalogueHolder } from '../../catalogue/holder.ts';
import type { WatchedBoards } from '../../catalogue/watched-boards.ts';
import type { BodyServices } from '../../http/json-body.ts';
import type { Books } from '../../payment/books.ts';

/** The services of the routes about watched boards, which exist only with `CATALOGUE`. */
export interface BoardsServices extends AdminServices, BodyServices {
  readonly boards: WatchedBoards;
  readonly catalogue: Pick<CatalogueHolder, 'current'>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

export interface AdminModuleServices extends AdminServices, BodyServices {
  readonly books: Pick<Books, 'list' | 'days'>;
  readonly accounts: Accounts;
  readonly clock: Pick<Clock, 'nowMs'>;
}
