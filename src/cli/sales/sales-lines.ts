/** Sales as lines: for people, as JSON and as CSV. Text from the books is safe on a terminal and in a spreadsheet. */
import { printable, printableLines } from '../../base/printable.ts';
import type { SaleRecord } from '../../modules/admin/sale-record.ts';
import { usdcTextOf } from '../../payment/protocol/amount.ts';

/** Turns sales into text. */
export interface SaleLines {
  /** Empty for none. */
  readonly head: string;
  lineOf(sale: SaleRecord): string;
}

/**
 * The members of decisions §4, and the parameters if the operator stores them. Inside strings, escapes are JSON's own.
 */
export const JSON_LINES: SaleLines = {
  head: '',
  lineOf({ question: _, parameters, ...sale }) {
    return `${printableLines(JSON.stringify(parameters === null ? sale : { ...sale, parameters }))}\n`;
  },
};

const CSV_COLUMNS = [
  'time',
  'operation',
  'amount_atomic',
  'network',
  'payer',
  'nonce',
  'transaction',
  'request_id',
  'delivered',
  'settlement',
  'question',
  'parameters',
] as const satisfies readonly (keyof SaleRecord)[];

/** Characters with which spreadsheets begin a formula (OWASP "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r\n]/;

/** A cell of RFC 4180, quoted where necessary. A leading apostrophe keeps a spreadsheet from evaluating it. */
export function csvCell(value: string | boolean | null): string {
  const text = String(value ?? '');
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const CSV_LINES: SaleLines = {
  head: `${CSV_COLUMNS.join(',')}\n`,
  lineOf: (sale) => `${CSV_COLUMNS.map((column) => csvCell(sale[column])).join(',')}\n`,
};

/** `0x12345678…9abcdef0`: enough to find it again, short enough for a line. */
const shortened = (hex: string): string => (hex.length <= 20 ? hex : `${hex.slice(0, 10)}…${hex.slice(-8)}`);

type PeopleCells = readonly [
  time: string,
  operation: string,
  amount: string,
  settlement: string,
  delivered: string,
  payer: string,
  transaction: string,
  request: string,
];

function peopleLine(cells: PeopleCells): string {
  const [time, operation, amount, settlement, delivered, payer, transaction, request] = cells;
  const start = `${time.padEnd(24)}  ${operation.padEnd(20)}  ${amount.padStart(10)}  ${settlement.padEnd(11)}`;
  return `${printable(`${start}  ${delivered.padEnd(9)}  ${payer.padEnd(19)}  ${transaction.padEnd(19)}  ${request}`)}\n`;
}

export const PEOPLE_LINES: SaleLines = {
  head: peopleLine(['time', 'operation', 'USDC', 'settlement', 'delivered', 'payer', 'transaction', 'request']),
  lineOf: (sale) =>
    peopleLine([
      sale.time,
      sale.operation,
      usdcTextOf(BigInt(sale.amount_atomic)),
      sale.settlement,
      sale.delivered ? 'yes' : 'NO',
      shortened(sale.payer),
      shortened(sale.transaction),
      sale.request_id,
    ]),
};
