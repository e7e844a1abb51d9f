/** Payments of a state file as rows of the shared database: used authorizations, open cases, kept answers, ledger, books. */
import type { Sale } from '../../../payment/books.ts';
import { networkOf } from '../../../payment/protocol/network.ts';
import { orderTextOf, reservationKeyOf } from '../../../payment/protocol/order.ts';
import { START_RETENTION_SECONDS } from '../../../payment/reservations.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { ANSWERS, type AnswerQuery, loadAnswers } from '../../sqlite/tables/answers.ts';
import { type LoadedEnd, loadCases, loadEnds, loadSpent } from '../../sqlite/tables/payments.ts';
import { type BooksStart, readSales, SALES } from '../../sqlite/tables/sales.ts';
import { answerTo } from '../../sqlite/tables/tables.ts';
import { BOOKS_KEY } from '../secrets.ts';
import { DEAD, INTENDED } from '../tables/payments.ts';
import type { CopiedTable } from './rows.ts';

/** Owner of the copied cases. No process has this id, so the first to start takes the cases over. */
export const COPIED = 'copied';

const PAGE_ROWS = 1000;

const keyBytes = (key: string): Uint8Array => Buffer.from(key, 'latin1');

const saleRow = (sale: Sale): readonly unknown[] => {
  const { operation, requestId, question, parameters } = sale;
  return [
    sale.serial,
    keyBytes(reservationKeyOf(networkOf(sale.network), sale.payer, sale.nonce)),
    sale.timeMs,
    operation,
    String(sale.amountAtomic),
    sale.network,
    sale.payer,
    sale.nonce,
    sale.transaction,
    sale.settlement,
    JSON.stringify({ operation, requestId, question, parameters }),
    sale.isDelivered,
  ];
};

/** Reads page by page: the books may be long. */
function* saleRows(connection: Connection): Iterable<readonly unknown[]> {
  let after: Sale | undefined;
  do {
    const query = { sinceMs: 0, isUndeliveredOnly: false, after, limit: PAGE_ROWS };
    const page = readSales(connection, { table: SALES, kind: 'page', query }) as readonly Sale[];
    yield* page.map(saleRow);
    after = page.at(-1);
  } while (after !== undefined);
}

/** @throws DamagedError */
export function paymentTables(connection: Connection, nowMs: number, books: BooksStart): CopiedTable[] {
  const ends = loadEnds(connection, Math.floor(nowMs / 1000) - START_RETENTION_SECONDS);
  const cases = loadCases(connection);
  const settled = ends.filter(({ kind }) => kind === 'settled');
  return [
    {
      name: 'claims',
      columns: [
        ['key', 'bytea'],
        ['serial', 'bigint'],
        ['owner', 'text'],
        ['attempt', 'bigint'],
        ['valid_before', 'bigint'],
        ['state', 'integer'],
        ['transaction', 'text'],
      ],
      hasIdentity: true,
      rows: [
        ...ends.map(({ key, serial, validBeforeSeconds, kind, transaction }) => {
          const isDead = kind === 'dead';
          return [
            keyBytes(key),
            serial,
            COPIED,
            serial,
            validBeforeSeconds,
            isDead ? DEAD : INTENDED,
            isDead ? transaction : '',
          ];
        }),
        ...cases.map(({ order, serial }) => {
          const { validBeforeSeconds } = order.authorization;
          return [keyBytes(order.key), serial, COPIED, serial, validBeforeSeconds, INTENDED, ''];
        }),
      ],
    },
    {
      name: 'cases',
      columns: [
        ['serial', 'bigint'],
        ['owner', 'text'],
        ['settlement', 'text'],
        ['is_unknown', 'boolean'],
        ['is_refused', 'boolean'],
        ['transaction', 'text'],
        ['terms', 'text'],
        ['sale', 'text'],
      ],
      rows: cases.map(({ serial, isPlay, transaction, isRefused, order, sale }) => {
        const settlement = isPlay ? 'local' : 'facilitator';
        return [serial, COPIED, settlement, true, isRefused, transaction, orderTextOf(order), JSON.stringify(sale)];
      }),
    },
    identifierTable(connection, nowMs),
    ...ledgerTables(connection, settled),
    ...bookTables(connection, books),
  ];
}

const identifierTable = (connection: Connection, nowMs: number): CopiedTable => ({
  name: 'identifiers',
  columns: [
    ['digest', 'bytea'],
    ['fingerprint', 'bytea'],
    ['owner', 'text'],
    ['attempt', 'bigint'],
    ['serial', 'bigint'],
    ['kept_until_ms', 'bigint'],
    ['transaction', 'text'],
    ['sealed', 'bytea'],
  ],
  rows: loadAnswers(connection, nowMs).map(({ claim, serial, keptUntilMs = null, transaction }) => {
    const query: AnswerQuery = { table: ANSWERS, serial, digest: claim.digest };
    const sealed = answerTo(connection, query);
    return [
      keyBytes(claim.digest),
      keyBytes(claim.fingerprint),
      COPIED,
      serial,
      serial,
      keptUntilMs,
      transaction,
      sealed,
    ];
  }),
});

const ledgerTables = (connection: Connection, settled: readonly LoadedEnd[]): CopiedTable[] => [
  {
    name: 'play_spent',
    columns: [
      ['payer', 'text'],
      ['atomic', 'numeric'],
    ],
    rows: loadSpent(connection).map(([payer, atomic]) => [payer, String(atomic)]),
  },
  {
    name: 'play_transfers',
    columns: [
      ['key', 'bytea'],
      ['valid_before', 'bigint'],
    ],
    rows: settled.map(({ key, validBeforeSeconds }) => [keyBytes(key), validBeforeSeconds]),
  },
];

const bookTables = (connection: Connection, books: BooksStart): CopiedTable[] => [
  {
    name: 'sales',
    columns: [
      ['serial', 'bigint'],
      ['key', 'bytea'],
      ['time_ms', 'bigint'],
      ['operation', 'text'],
      ['amount', 'numeric'],
      ['network', 'text'],
      ['payer', 'text'],
      ['nonce', 'text'],
      ['transaction', 'text'],
      ['settlement', 'text'],
      ['facts', 'text'],
      ['is_delivered', 'boolean'],
    ],
    rows: saleRows(connection),
  },
  {
    name: 'secrets',
    columns: [
      ['name', 'text'],
      ['bytes', 'bytea'],
    ],
    rows: [[BOOKS_KEY, books.secret]],
  },
];
