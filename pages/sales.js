// @ts-check
/**
 * The operator's page: sums of the books as a chart and a table for each settlement and network, and the sales whose answer did not go out.
 * The admin token is only in a variable of this module and in the Authorization header. Everything from the books enters the
 * page as text. Sales of play money, of a test network and of real money are never added up together.
 */

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
/** Colours in sales.css; further operations repeat them. */
const PART_COUNT = 8;
/** Undelivered sales a request. */
const SALES_LIMIT = 20;
const DAY_MS = 86_400_000;
const ATOMIC_DIGITS = 6;
const SVG = 'http://www.w3.org/2000/svg';

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @returns {T}
 */
const element = (id) => /** @type {T} */ (document.getElementById(id));

const form = element('token-form');
/** @type {HTMLInputElement} */
const tokenField = element('token');
const tokenError = element('token-error');
const books = element('books');
/** @type {HTMLSelectElement} */
const periodField = element('period');
/** @type {HTMLSelectElement} */
const measureField = element('measure');
const stateText = element('state');
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

/** Empty while no operator has opened the books. */
let token = '';
/** @type {readonly Day[]} */
let days = [];
/** Aborts the requests of the reading before. */
let reading = new AbortController();
/** @type {string | null} */
let nextCursor = null;

/** A refusal of the server, as its message. */
class Refused extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @param {number | bigint} count */
const grouped = (count) => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** Atomic units as decimal text with at least two digits behind the point. @param {bigint} atomic */
function usdcText(atomic) {
  const digits = String(atomic).padStart(ATOMIC_DIGITS + 1, '0');
  const fraction = digits.slice(-ATOMIC_DIGITS).replace(/0{1,4}$/, '');
  return `${grouped(BigInt(digits.slice(0, -ATOMIC_DIGITS)))}.${fraction}`;
}

/** @param {'watching' | 'trouble' | 'connecting'} kind @param {string} text */
function say(kind, text) {
  stateText.dataset.kind = kind;
  stateText.textContent = text;
}

/**
 * Asks the server. @param {string} path below the operator's routes @param {AbortSignal} signal
 * @throws {Refused} for every answer but a success; TypeError without a connection
 */
async function ask(path, signal) {
  const response = await fetch(`./admin/v1/${path}`, {
    headers: { authorization: `Bearer ${token}` },
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    signal,
  });
  const body = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body.data;
  throw new Refused(response.status, body?.error?.message ?? `the server answered ${response.status}`);
}

/** The UTC days of the chosen period, oldest first. */
function periodDays() {
  const count = Number(periodField.value);
  const today = Date.now();
  return Array.from({ length: count }, (_, i) => new Date(today - (count - 1 - i) * DAY_MS).toISOString().slice(0, 10));
}

/** Reads and shows the books; a reading that began before is given up. */
async function read() {
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  say('connecting', 'Reading the books…');
  try {
    const since = periodDays()[0];
    // One after the other: a wrong token counts once.
    const sums = await ask(`sales/days?since=${since}`, signal);
    const page = await ask(`sales?undelivered=true&limit=${SALES_LIMIT}&since=${since}`, signal);
    if (signal.aborted) return;
    days = sums.days;
    undeliveredList.replaceChildren();
    showSales(page);
    showSettlements();
    const wasHidden = books.hidden;
    form.hidden = true;
    books.hidden = false;
    tokenError.textContent = '';
    tokenField.removeAttribute('aria-invalid');
    say('watching', `As of ${new Date().toISOString().slice(0, 19).replace('T', ' ')} UTC`);
    if (!wasHidden) return;
    const first = settlements.querySelector('h2');
    (first ?? undeliveredTitle).focus();
  } catch (failure) {
    if (!signal.aborted) failed(failure);
  }
}

async function readMore() {
  const { signal } = reading;
  moreButton.disabled = true;
  try {
    const since = periodDays()[0];
    const cursor = encodeURIComponent(nextCursor ?? '');
    const page = await ask(`sales?undelivered=true&limit=${SALES_LIMIT}&since=${since}&cursor=${cursor}`, signal);
    if (!signal.aborted) showSales(page);
  } catch (failure) {
    if (!signal.aborted) failed(failure);
  } finally {
    moreButton.disabled = false;
  }
}

/** @param {unknown} failure */
function failed(failure) {
  const text = failure instanceof Refused ? failure.message : 'no connection to the server';
  if (books.hidden || (failure instanceof Refused && failure.status === 401)) {
    forget();
    tokenError.textContent = text;
    tokenField.setAttribute('aria-invalid', 'true');
    tokenField.focus();
  } else say('trouble', `Not read: ${text}`);
}

/** Forgets the token and everything that it opened. */
function forget() {
  reading.abort();
  token = '';
  days = [];
  nextCursor = null;
  settlements.replaceChildren();
  undeliveredList.replaceChildren();
  books.hidden = true;
  form.hidden = false;
}

/**
 * The parts of a template's copy by name.
 * @param {HTMLTemplateElement} template
 */
function copyOf(template) {
  const copy = /** @type {HTMLElement} */ (
    /** @type {DocumentFragment} */ (template.content.cloneNode(true)).firstElementChild
  );
  /** @param {string} name */
  const part = (name) => /** @type {HTMLElement} */ (copy.querySelector(`[data-part="${name}"]`));
  return { copy, part };
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
  part('legend').append(...operations.map(([operation, sum], i) => legendItem(operation, sum, i)));
  part('days-box').setAttribute('aria-label', `Days, ${title}`);
  part('days').append(...own.toReversed().map(dayRow));
  return copy;
}

/** @param {Day} day */
function dayRow(day) {
  const row = document.createElement('tr');
  const head = document.createElement('th');
  head.scope = 'row';
  head.textContent = day.day;
  const texts = [day.operation, grouped(day.sales), usdcText(BigInt(day.amount_atomic)), grouped(day.undelivered)];
  const cells = texts.map((text) => {
    const cell = document.createElement('td');
    cell.textContent = text;
    return cell;
  });
  row.append(head, ...cells);
  return row;
}

/** @param {string} name @param {Readonly<Record<string, string>>} attributes */
function drawn(name, attributes) {
  const shape = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) shape.setAttribute(attribute, value);
  return shape;
}

/** @param {string} operation @param {Sum} sum @param {number} i */
function legendItem(operation, { sales, amount }, i) {
  const item = document.createElement('li');
  const swatch = drawn('svg', { viewBox: '0 0 1 1', 'aria-hidden': 'true' });
  swatch.append(drawn('rect', { width: '1', height: '1', class: `part-${i % PART_COUNT}` }));
  const text = document.createElement('span');
  text.textContent = `${operation}: ${grouped(sales)}, ${usdcText(amount)} USDC`;
  item.append(swatch, text);
  return item;
}

/**
 * Stacked bars, one a day, in a box of 100 by 100 that the browser stretches.
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
  const names = periodDays();
  const byDay = sumsBy(own, ({ day }) => day);
  const byPart = sumsBy(own, ({ day, operation }) => `${day} ${operation}`);
  let max = { sales: 0, amount: 0n };
  for (const sum of byDay.values()) if (heightOf(sum) > heightOf(max)) max = sum;
  const measure = isAmount ? 'USDC' : 'Sales';
  const label = `${measure} a day, ${title}, ${names[0]} to ${names.at(-1)}; at most ${textOf(max)} on one day. The table below has the numbers.`;
  const svg = drawn('svg', { viewBox: '0 0 100 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  const width = 100 / names.length;
  for (const [i, day] of names.entries()) {
    let top = 100;
    for (const [at, operation] of operations.entries()) {
      const sum = byPart.get(`${day} ${operation}`);
      if (sum === undefined) continue;
      const height = (100 * heightOf(sum)) / Math.max(heightOf(max), 1);
      top -= height;
      const bar = drawn('rect', {
        x: (i * width + width * 0.12).toFixed(3),
        y: top.toFixed(3),
        width: (width * 0.76).toFixed(3),
        height: height.toFixed(3),
        class: `part-${at % PART_COUNT}`,
      });
      const tip = drawn('title', {});
      tip.textContent = `${day} ${operation}: ${textOf(sum)}`;
      bar.append(tip);
      svg.append(bar);
    }
  }
  copy.querySelector('.plot')?.append(svg);
  part('measure').textContent = measure;
  part('max').textContent = textOf(max);
  part('first-day').textContent = names[0] ?? '';
  part('last-day').textContent = names.at(-1) ?? '';
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  token = tokenField.value.trim();
  tokenField.value = '';
  if (token === '') {
    tokenError.textContent = 'Enter the admin token.';
    tokenField.setAttribute('aria-invalid', 'true');
    tokenField.focus();
    return;
  }
  void read();
});
element('refresh').addEventListener('click', () => void read());
element('forget').addEventListener('click', () => {
  forget();
  tokenField.focus();
});
periodField.addEventListener('change', () => void read());
measureField.addEventListener('change', showSettlements);
moreButton.addEventListener('click', () => void readMore());
// A page that the browser keeps for its back button keeps no token.
window.addEventListener('pagehide', forget);
