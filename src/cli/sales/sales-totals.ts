/** Sums of the listed sales by settlement, network and operation. Sums of different money are never added up together. */
import { grouped } from '../../base/grouped.ts';
import { printable } from '../../base/printable.ts';
import type { SaleRecord } from '../../modules/admin/sale-record.ts';
import { usdcTextOf } from '../../payment/protocol/amount.ts';
import { findNetwork } from '../../payment/protocol/network.ts';

interface Sum {
  saleCount: number;
  amountAtomic: bigint;
  undeliveredCount: number;
}

const TITLES: Readonly<Record<SaleRecord['settlement'], string>> = {
  facilitator: 'real settlement (facilitator)',
  local: 'play money (local)',
};

/** No operation has this name. */
const ALL = 'all together';

const addTo = (sums: Map<string, Sum>, name: string, sale: SaleRecord): void => {
  let sum = sums.get(name);
  if (sum === undefined) {
    sum = { saleCount: 0, amountAtomic: 0n, undeliveredCount: 0 };
    sums.set(name, sum);
  }
  sum.saleCount++;
  sum.amountAtomic += BigInt(sale.amount_atomic);
  if (!sale.delivered) sum.undeliveredCount++;
};

export class SalesTotals {
  /** Title of the money -> operation -> sum; its size depends on the operations, not on the sales. */
  readonly #byMoney = new Map<string, Map<string, Sum>>();

  add(sale: SaleRecord): void {
    const title = `${TITLES[sale.settlement]} on ${findNetwork(sale.network)?.name ?? sale.network}`;
    let sums = this.#byMoney.get(title);
    if (sums === undefined) {
      sums = new Map();
      this.#byMoney.set(title, sums);
    }
    addTo(sums, sale.operation, sale);
    addTo(sums, ALL, sale);
  }

  /** Lines for people. */
  text(): string {
    if (this.#byMoney.size === 0) return 'no sales\n';
    return [...this.#byMoney].map(([title, sums]) => `${printable(title)}\n${linesOf(sums)}`).join('');
  }
}

function linesOf(sums: ReadonlyMap<string, Sum>): string {
  const rows = [...sums].sort(([a], [b]) => Number(a === ALL) - Number(b === ALL) || (a < b ? -1 : 1));
  return rows
    .map(([name, { saleCount, amountAtomic, undeliveredCount }]) => {
      const amount = `${usdcTextOf(amountAtomic)} USDC`;
      const text = `  ${name.padEnd(20)}  ${grouped(saleCount).padStart(11)} sold  ${amount.padStart(18)}`;
      return `${printable(`${text}  ${grouped(undeliveredCount)} undelivered`)}\n`;
    })
    .join('');
}
