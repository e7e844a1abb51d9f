/** Where `paygrade sales` reads: a state folder, a database, or a server by its admin routes. All give pages, oldest first. */
import * as v from 'valibot';
import { systemTimers } from '../../adapters/process/system-timers.ts';
import type { Clock } from '../../base/clock.ts';
import { isoTime } from '../../base/iso-time.ts';
import { parseJson } from '../../base/json-value.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { type SaleRecord, saleRecordOf } from '../../modules/admin/sale-record.ts';
import { salesAnswer } from '../../modules/admin/sales.ts';
import { PAGE_COUNT_MAX, type Sale, type SaleCursor, type SalesQuery } from '../../payment/books.ts';
import { BooksReader } from '../../storage/postgres/books.ts';
import { onDatabase } from '../../storage/postgres/command-database.ts';
import { BooksFile, BooksFileError } from '../../storage/sqlite/books-file.ts';
import { StateError } from '../../storage/state-error.ts';
import { CommandError, commandErrorOf } from '../command.ts';
import { exchange, refused } from '../exchange.ts';

export interface SalesWanted {
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  readonly isUndeliveredOnly: boolean;
}

export type SalesPages = AsyncIterable<readonly SaleRecord[]>;

async function* pagesOf(list: (query: SalesQuery) => MaybePromise<readonly Sale[]>, wanted: SalesWanted): SalesPages {
  let after: SaleCursor | undefined;
  for (;;) {
    const sales = await list({ ...wanted, after, limit: PAGE_COUNT_MAX });
    yield sales.map(saleRecordOf);
    after = sales.at(-1);
    if (sales.length < PAGE_COUNT_MAX) return;
  }
}

/** @throws CommandError */
export async function* pagesOfFolder(stateDir: string, wanted: SalesWanted): SalesPages {
  let file: BooksFile | undefined;
  try {
    const opened = new BooksFile(stateDir);
    file = opened;
    yield* pagesOf((query) => opened.list(query), wanted);
  } catch (failure) {
    throw commandErrorOf(failure, BooksFileError);
  } finally {
    file?.close();
  }
}

/** Opens a connection for each page, so that a slow reader holds none. @throws CommandError */
export function pagesOfDatabase(url: string, clock: Clock, wanted: SalesWanted): SalesPages {
  const ports = { clock, timers: systemTimers };
  const list = (query: SalesQuery): Promise<readonly Sale[]> =>
    onDatabase(url, undefined, ports, (database) => new BooksReader(database).list(query)).catch((failure: unknown) => {
      throw commandErrorOf(failure, StateError);
    });
  return pagesOf(list, wanted);
}

/** @param base without a trailing slash @throws CommandError */
export async function* pagesOfServer(base: string, token: string, wanted: SalesWanted, send: typeof fetch): SalesPages {
  const query = new URLSearchParams({ limit: String(PAGE_COUNT_MAX), since: isoTime(wanted.sinceMs) });
  if (wanted.isUndeliveredOnly) query.set('undelivered', 'true');
  // Does not follow a redirect, which may lead to another server: its status is shown instead.
  const init: RequestInit = { headers: { authorization: `Bearer ${token}` }, redirect: 'manual' };
  for (;;) {
    const target = `${base}/admin/v1/sales?${query}`;
    const answer = await exchange(target, init, send);
    if (answer.status !== 200) throw refused(answer);
    const page = v.safeParse(salesAnswer, parseJson(answer.text));
    if (!page.success) throw new CommandError(`${base} does not answer as a server of this release does`);
    const { sales, next_cursor } = page.output.data;
    yield sales;
    if (next_cursor === null) return;
    query.set('cursor', next_cursor);
  }
}
