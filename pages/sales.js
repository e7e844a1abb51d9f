// @ts-check
/**
 * The operator's page: sums of the books as a chart and a table for each settlement and network, and the sales whose answer
 * did not go out. Everything from the books enters the page as text. Sales of play money, of a test network and of real money
 * are never added up together.
 */

import { copyOf, element, grouped, legendItem, operatorPage, rowOf, stackedBars } from './operator.js';

/**
 * @typedef {'local' | 'facilitator'} Settlement
 * @typedef {{ day: string, settlement: Settlement, network: string, operation: string, sales: number, amount_atomic: string,
 *   undelivered: number }} Day
 * @typedef {{ time: string, operation: string, amount_atomic: string, payer: string, transaction: string,
 *   request_id: string, settlement: Settlement, network: string }} Sale
 * @typedef {{ sales: number, amount: bigint, undelivered: number }} Sum
 */

/** @type {Readonly<Record<Settlement, { title: string, note: string }>>} */
const SETTLEMENTS = {
  facilitator: { title: 'Real settlement', note: '' },
  local: { title: 'Play money', note: 'Settled in the play ledger of this process: no money moved.' },
};
/** Networks whose money is worth nothing, by CAIP-2 id. @type {Readonly<Record<string, string | undefined>>} */
const TEST_NETWORKS = { 'eip155:84532': 'Base Sepolia' };
/** Colours in operator.css, one for each paid operation; further operations repeat them. */
const PART_COUNT = 10;
/** Undelivered sales per request. */
const SALES_LIMIT = 100;
const ATOMIC_DIGITS = 6;

const books = element('books');
/** @type {HTMLSelectElement} */
const periodField = element('period');
/** @type {HTMLSelectElement} */
const measureField = element('measure');
const settlements = element('settlements');
const undeliveredTitle = element('undelivered-title');
const undeliveredList = element('undelivered');
const noneUndelivered = element('none-undelivered');
/** @type {HTMLButtonElement} */
const moreButton = element('more');
/** @type {HTMLTemplateElement} */
const settlementTemplate = element('settlement-template');
/** @type {HTMLTemplateElement} */
const saleTemplate = element('sale-template');

/** The UTC days of the shown period, oldest first. @type {readonly string[]} */
let names = [];
/** @type {readonly Day[]} */
let days = [];
/** @type {string | null} */
let nextCursor = null;

/** Atomic units as decimal text with at least two decimal places. @param {bigint} atomic */
function usdcText(atomic) {
  const digits = String(atomic).padStart(ATOMIC_DIGITS + 1, '0');
  const fraction = digits.slice(-ATOMIC_DIGITS).replace(/0{1,4}$/, '');
  return `${grouped(BigInt(digits.slice(0, -ATOMIC_DIGITS)))}.${fraction}`;
}

const page = operatorPage({
  opened: books,
  state: element('state'),
  reading: 'Reading the books…',
  read,
  emptied() {
    days = [];
    nextCursor = null;
    settlements.replaceChildren();
    undeliveredList.replaceChildren();
  },
  focused: () => settlements.querySelector('h2') ?? undeliveredTitle,
});

/** @param {AbortSignal} signal */
async function read(signal) {
  const period = await page.askDays('sales/days?since=', Number(periodField.value), signal);
  // One after the other, so that a wrong token counts only once.
  const found = await page.ask(`sales?undelivered=true&limit=${SALES_LIMIT}&since=${period.names[0]}`, signal);
  return () => {
    names = period.names;
    days = period.data.days;
    undeliveredList.replaceChildren();
    showSales(found);
    showSettlements();
  };
}

/** @param {AbortSignal} signal */
async function readMore(signal) {
  const path = `sales?undelivered=true&limit=${SALES_LIMIT}&since=${names[0]}`;
  const found = await page.ask(`${path}&cursor=${encodeURIComponent(nextCursor ?? '')}`, signal);
  if (!signal.aborted) showSales(found);
}

/** @param {{ sales: readonly Sale[], next_cursor: string | null }} page */
function showSales({ sales, next_cursor }) {
  nextCursor = next_cursor;
  moreButton.hidden = next_cursor === null;
  for (const sale of sales) {
    const { copy, part } = copyOf(saleTemplate);
    const play =
      sale.settlement === 'local' ? ', play money' : TEST_NETWORKS[sale.network] === undefined ? '' : ', test money';
    part('amount').textContent = `${usdcText(BigInt(sale.amount_atomic))} USDC${play}`;
    part('operation').textContent = sale.operation;
    const time = /** @type {HTMLTimeElement} */ (part('time'));
    time.dateTime = sale.time;
    time.textContent = sale.time.replace('T', ' ').replace('Z', ' UTC');
    part('request').textContent = sale.request_id;
    part('payer').textContent = sale.payer;
    part('transaction').textContent = sale.transaction;
    undeliveredList.append(copy);
  }
  noneUndelivered.hidden = undeliveredList.childElementCount > 0;
}

/**
 * Sums by a member of the days.
 * @param {readonly Day[]} some
 * @param {(day: Day) => string} nameOf
 */
function sumsBy(some, nameOf) {
  /** @type {Map<string, Sum>} */
  const sums = new Map();
  for (const day of some) {
    const sum = sums.get(nameOf(day)) ?? { sales: 0, amount: 0n, undelivered: 0 };
    sum.sales += day.sales;
    sum.amount += BigInt(day.amount_atomic);
    sum.undelivered += day.undelivered;
    sums.set(nameOf(day), sum);
  }
  return sums;
}

function showSettlements() {
  const shown = /** @type {Settlement[]} */ (Object.keys(SETTLEMENTS)).flatMap((settlement) => {
    const ofSettlement = days.filter((day) => day.settlement === settlement);
    const networks = [...new Set(ofSettlement.map(({ network }) => network))];
    return networks.map((network) =>
      settlementSection(
        settlement,
        network,
        ofSettlement.filter((day) => day.network === network),
      ),
    );
  });
  if (shown.length === 0) {
    const none = document.createElement('p');
    none.className = 'empty';
    none.textContent = 'No sale in this period.';
    shown.push(none);
  }
  settlements.replaceChildren(...shown);
}

/** @param {Settlement} settlement @param {string} network @param {readonly Day[]} own their days, oldest first */
function settlementSection(settlement, network, own) {
  const testName = TEST_NETWORKS[network];
  const title = SETTLEMENTS[settlement].title + (testName === undefined ? '' : ` on ${testName}`);
  const note =
    SETTLEMENTS[settlement].note || (testName === undefined ? '' : 'A test network: its USDC is worth nothing.');
  const { copy, part } = copyOf(settlementTemplate);
  part('title').textContent = title;
  part('title').id = `title-${settlement}-${network}`;
  copy.setAttribute('aria-labelledby', `title-${settlement}-${network}`);
  part('note').textContent = note;
  part('note').hidden = note === '';
  const all = sumsBy(own, () => '').get('') ?? { sales: 0, amount: 0n, undelivered: 0 };
  part('sales').textContent = grouped(all.sales);
  part('amount').textContent = usdcText(all.amount);
  part('undelivered').textContent = grouped(all.undelivered);
  const operations = [...sumsBy(own, ({ operation }) => operation)].sort((one, other) => other[1].sales - one[1].sales);
  drawChart(
    copy,
    part,
    own,
    operations.map(([operation]) => operation),
    title,
  );
  const itemOf = (/** @type {string} */ operation, /** @type {Sum} */ { sales, amount }, /** @type {number} */ i) =>
    legendItem(`${operation}: ${grouped(sales)}, ${usdcText(amount)} USDC`, `part-${i % PART_COUNT}`);
  part('legend').append(...operations.map(([operation, sum], i) => itemOf(operation, sum, i)));
  part('days-box').setAttribute('aria-label', `Days, ${title}`);
  part('days').append(...own.toReversed().map(dayRow));
  return copy;
}

/** @param {Day} day */
const dayRow = (day) =>
  rowOf([day.day, day.operation, grouped(day.sales), usdcText(BigInt(day.amount_atomic)), grouped(day.undelivered)]);

/**
 * Stacked bars, one per day.
 * @param {HTMLElement} copy
 * @param {(name: string) => HTMLElement} part
 * @param {readonly Day[]} own
 * @param {readonly string[]} operations in the order of the stack
 * @param {string} title
 */
function drawChart(copy, part, own, operations, title) {
  const isAmount = measureField.value === 'amount';
  /** @param {{ sales: number, amount: bigint }} sum */
  const heightOf = ({ sales, amount }) => (isAmount ? Number(amount) : sales);
  /** @param {{ sales: number, amount: bigint }} sum */
  const textOf = ({ sales, amount }) => (isAmount ? `${usdcText(amount)} USDC` : grouped(sales));
  const byDay = sumsBy(own, ({ day }) => day);
  const byPart = sumsBy(own, ({ day, operation }) => `${day} ${operation}`);
  let max = { sales: 0, amount: 0n };
  for (const sum of byDay.values()) if (heightOf(sum) > heightOf(max)) max = sum;
  const measure = isAmount ? 'USDC' : 'Sales';
  const label = `${measure} a day, ${title}, ${names[0]} to ${names.at(-1)}; at most ${textOf(max)} on one day. The table below has the numbers.`;
  const stacks = names.map((day) =>
    operations.flatMap((operation, at) => {
      const sum = byPart.get(`${day} ${operation}`);
      if (sum === undefined) return [];
      const tip = `${day} ${operation}: ${textOf(sum)}`;
      return [{ height: heightOf(sum), className: `part-${at % PART_COUNT}`, tip }];
    }),
  );
  copy.querySelector('.plot')?.append(stackedBars(label, stacks, heightOf(max)));
  part('measure').textContent = measure;
  part('max').textContent = textOf(max);
  part('first-day').textContent = names[0] ?? '';
  part('last-day').textContent = names.at(-1) ?? '';
}

periodField.addEventListener('change', () => void page.read());
measureField.addEventListener('change', showSettlements);
page.continuedBy(moreButton, undeliveredList, readMore);
