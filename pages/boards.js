// @ts-check
/** The operator's page about watched boards: health, events by day, companies without a domain, and each board. */
import { copyOf, element, grouped, legendItem, operatorPage, partOf, Refused, rowOf, stackedBars } from './operator.js';

/**
 * @typedef {{ day: string, fetches: number, opened: number, changed: number, closed: number, reopened: number }} Day
 * @typedef {{ board: string, company: string | null, domain: string | null, address: string, health: string,
 *   jobs: number | null, last_jobs: number | null, last_fetch_at: string | null, last_ok_at: string | null,
 *   next_at: string | null, overdue: boolean, http_status: number | null, reason: string | null }} Board
 * @typedef {{ company: string, active_jobs: number }} Missing
 */

/** Boards per request. */
const LIMIT = 100;
const CHANGES = /** @type {const} */ (['opened', 'changed', 'closed', 'reopened']);

/** @type {HTMLSelectElement} */
const periodField = element('period');
/** @type {HTMLSelectElement} */
const healthField = element('health');
const plot = element('plot');
const boardList = element('boards');
const missingList = element('missing');
/** @type {HTMLButtonElement} */
const moreButton = element('more');
/** @type {HTMLTemplateElement} */
const boardTemplate = element('board-template');
/** @type {HTMLTemplateElement} */
const missingTemplate = element('missing-template');

const page = operatorPage({
  opened: element('opened'),
  state: element('state'),
  reading: 'Reading the boards…',
  read,
  emptied() {
    for (const id of ['figures', 'days', 'missing', 'boards', 'legend']) element(id).replaceChildren();
    plot.querySelector('svg')?.remove();
  },
  focused: () => element('health-title'),
});

/** Path of the shown boards. */
let shownPath = '';
/** Cursor of the next boards; null after the last one. @type {string | null} */
let nextCursor = null;

/** @param {AbortSignal} signal */
async function read(signal) {
  const health = healthField.value === '' ? '' : `&health=${healthField.value}`;
  const path = `boards?limit=${LIMIT}${health}&since=`;
  const { names, data } = await page.askDays(path, Number(periodField.value), signal);
  return () => {
    shownPath = path + names[0];
    showHealth(data.health, data.overdue);
    showDays(data.days, names);
    showMissing(data.companies_without_domain, data.total_companies_without_domain);
    boardList.replaceChildren();
    showBoards(data);
  };
}

/** @param {Readonly<Record<string, number>>} health @param {number} overdue */
function showHealth(health, overdue) {
  const total = Object.values(health).reduce((sum, count) => sum + count, 0);
  const shown = [
    ['Boards', total],
    ...Object.entries(health).filter(([, count]) => count > 0),
    ...(overdue > 0 ? [['overdue', overdue]] : []),
  ];
  const figures = shown.map(([name, count]) => {
    const box = document.createElement('div');
    const term = document.createElement('dt');
    term.textContent = String(name);
    const value = document.createElement('dd');
    value.textContent = grouped(Number(count));
    box.append(term, value);
    return box;
  });
  element('figures').replaceChildren(...figures);
}

/** @param {readonly Day[]} days @param {readonly string[]} names of the days of the period, oldest first */
function showDays(days, names) {
  const byDay = new Map(days.map((day) => [day.day, day]));
  /** @param {Day | undefined} day */
  const sumOf = (day) => (day === undefined ? 0 : CHANGES.reduce((sum, change) => sum + day[change], 0));
  const max = Math.max(0, ...days.map(sumOf));
  const stacks = names.map((name) => {
    const day = byDay.get(name);
    if (day === undefined) return [];
    return CHANGES.map((change, i) => ({
      height: day[change],
      className: `part-${i}`,
      tip: `${name} ${change}: ${grouped(day[change])}`,
    })).filter(({ height }) => height > 0);
  });
  const label = `Jobs opened, changed, closed and reopened a day, ${names[0]} to ${names.at(-1)}; at most ${grouped(max)} on one day. The table below has the numbers.`;
  plot.querySelector('svg')?.remove();
  plot.append(stackedBars(label, stacks, max));
  element('plot-max').textContent = grouped(max);
  element('first-day').textContent = names[0] ?? '';
  element('last-day').textContent = names.at(-1) ?? '';
  const totals = CHANGES.map((change) => days.reduce((sum, day) => sum + day[change], 0));
  const items = CHANGES.map((change, i) => legendItem(`${change}: ${grouped(totals[i] ?? 0)}`, `part-${i}`));
  element('legend').replaceChildren(...items);
  const rows = days
    .toReversed()
    .map((day) => rowOf([day.day, grouped(day.fetches), ...CHANGES.map((change) => grouped(day[change]))]));
  element('days').replaceChildren(...rows);
}

/**
 * The list leaves out the companies whose domain has been stated since the build; the total counts them.
 * @param {number} listed @param {number} total
 */
function missingText(listed, total) {
  if (total === 0) return 'Every company with active jobs has one.';
  const all = `${grouped(total)} ${total === 1 ? 'company' : 'companies'} with active jobs.`;
  if (listed === total) return all;
  if (listed === 0) return `${all} Each has a stated domain, which the next build applies.`;
  return `${all} Below are those with the most jobs, except those with a stated domain, which the next build applies.`;
}

/** @param {readonly Missing[]} companies @param {number} total */
function showMissing(companies, total) {
  element('missing-count').textContent = missingText(companies.length, total);
  // A company that is listed again keeps its field, which may hold a typed domain that is not sent yet.
  const items = new Map(Array.from(missingList.children, (item) => [partOf(item, 'company').textContent, item]));
  missingList.replaceChildren(
    ...companies.map(({ company, active_jobs: jobs }) => {
      const item = items.get(company) ?? missingItem(company);
      partOf(item, 'jobs').textContent = `${grouped(jobs)} job${jobs === 1 ? '' : 's'}`;
      return item;
    }),
  );
}

/** @param {string} company */
function missingItem(company) {
  const { copy, part } = copyOf(missingTemplate);
  part('company').textContent = company;
  const field = /** @type {HTMLInputElement} */ (part('domain'));
  const button = /** @type {HTMLButtonElement} */ (part('button'));
  const said = part('said');
  /** @param {AbortSignal} signal */
  const send = async (signal) => {
    field.removeAttribute('aria-invalid');
    try {
      const { domain } = await page.ask('companies', signal, { company, domain: field.value.trim() });
      said.textContent = `${domain} is stored; the next build applies it.`;
    } catch (failure) {
      // A failure to store the domain is shown beside its field; a token that is no longer accepted is left to the page.
      const isRefused = failure instanceof Refused;
      if (signal.aborted || (isRefused && failure.status === 401)) throw failure;
      said.textContent = isRefused
        ? failure.message
        : 'No connection to the server: it is unknown whether the domain is stored.';
      if (isRefused && failure.status === 400) field.setAttribute('aria-invalid', 'true');
      field.focus();
    }
  };
  copy.querySelector('form')?.addEventListener('submit', (event) => {
    event.preventDefault();
    void page.continued(button, send);
  });
  return copy;
}

/** @param {string | null} time */
const minuteOf = (time) => (time === null ? 'never' : `${time.slice(0, 16).replace('T', ' ')} UTC`);

/** @param {Board} board */
function boardItem(board) {
  const { copy, part } = copyOf(boardTemplate);
  part('health').textContent = board.health;
  part('health').dataset.health = board.health;
  part('name').textContent = board.board;
  part('company').textContent = board.company ?? board.domain ?? 'Company unknown';
  part('domain').textContent = board.company === null || board.domain === null ? '' : `, ${board.domain}`;
  const known = board.jobs === null ? 'unknown' : grouped(board.jobs);
  const isOther = board.last_jobs !== null && board.last_jobs !== board.jobs;
  part('jobs').textContent = isOther ? `${known}; the last fetch listed ${grouped(board.last_jobs ?? 0)}` : known;
  const status = board.http_status === null ? '' : `, status ${board.http_status}`;
  part('last').textContent = `${minuteOf(board.last_fetch_at)}${board.last_fetch_at === null ? '' : status}`;
  part('next').textContent =
    `${board.next_at === null ? 'at once' : minuteOf(board.next_at)}${board.overdue ? ', overdue' : ''}`;
  part('reason').textContent = board.reason ?? '';
  part('reason-row').hidden = board.reason === null;
  return copy;
}

/** @param {{ boards: readonly Board[], matching_boards: number, next_cursor: string | null }} data */
function showBoards({ boards, matching_boards: matching, next_cursor }) {
  nextCursor = next_cursor;
  // A fetch since the last request may have moved a shown board further down the list.
  const names = new Set(Array.from(boardList.children, (item) => partOf(item, 'name').textContent));
  boardList.append(...boards.filter(({ board }) => !names.has(board)).map(boardItem));
  const shown = boardList.childElementCount;
  element('boards-count').textContent =
    matching === 0 ? 'No board.' : `${grouped(shown)} of ${grouped(matching)}, those that need attention first.`;
  moreButton.hidden = nextCursor === null;
}

page.continuedBy(moreButton, boardList, async (signal) => {
  const data = await page.ask(`${shownPath}&cursor=${encodeURIComponent(nextCursor ?? '')}`, signal);
  if (!signal.aborted) showBoards(data);
});
periodField.addEventListener('change', () => void page.read());
healthField.addEventListener('change', () => void page.read());
