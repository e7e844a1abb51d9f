// @ts-check
/**
 * What the operator's pages share: elements, templates, asking with the admin token, and bars. The token is only in a variable
 * of this module and in the Authorization header. Everything from a server's answers enters a page as text.
 */

const DAY_MS = 86_400_000;
/** Longer than any answer takes, so that a network that fails silently does not leave a page reading forever. */
const ANSWER_MS = 60_000;
const SVG = 'http://www.w3.org/2000/svg';

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @returns {T}
 */
export const element = (id) => /** @type {T} */ (document.getElementById(id));

/** A refusal of the server, as its message. */
export class Refused extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @param {number | bigint} count */
export const grouped = (count) => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** The `count` UTC days up to that of `nowMs`, oldest first. @param {number} count @param {number} nowMs */
const lastDays = (count, nowMs) =>
  Array.from({ length: count }, (_, i) => new Date(nowMs - (count - 1 - i) * DAY_MS).toISOString().slice(0, 10));

/** @param {Element} copy of a template @param {string} name */
export const partOf = (copy, name) => /** @type {HTMLElement} */ (copy.querySelector(`[data-part="${name}"]`));

/**
 * The parts of a template's copy by name.
 * @param {HTMLTemplateElement} template
 */
export function copyOf(template) {
  const copy = /** @type {HTMLElement} */ (
    /** @type {DocumentFragment} */ (template.content.cloneNode(true)).firstElementChild
  );
  return { copy, part: (/** @type {string} */ name) => partOf(copy, name) };
}

/** @param {string} name @param {Readonly<Record<string, string>>} attributes */
export function drawn(name, attributes) {
  const shape = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) shape.setAttribute(attribute, value);
  return shape;
}

/** An item of a chart's legend. @param {string} text @param {string} className of its colour */
export function legendItem(text, className) {
  const item = document.createElement('li');
  const swatch = drawn('svg', { viewBox: '0 0 1 1', 'aria-hidden': 'true' });
  swatch.append(drawn('rect', { width: '1', height: '1', class: className }));
  const label = document.createElement('span');
  label.textContent = text;
  item.append(swatch, label);
  return item;
}

/** A row of a table whose first cell is its head. @param {readonly string[]} texts */
export function rowOf([head = '', ...texts]) {
  const row = document.createElement('tr');
  const first = document.createElement('th');
  first.scope = 'row';
  first.textContent = head;
  const cells = texts.map((text) => {
    const cell = document.createElement('td');
    cell.textContent = text;
    return cell;
  });
  row.append(first, ...cells);
  return row;
}

/**
 * Stacked bars, one stack per day, in a box of 100 by 100 that the browser stretches.
 * @param {string} label
 * @param {readonly (readonly { height: number, className: string, tip: string }[])[]} stacks heights of one scale
 * @param {number} max height of the tallest stack
 */
export function stackedBars(label, stacks, max) {
  const svg = drawn('svg', { viewBox: '0 0 100 100', preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  const width = 100 / stacks.length;
  for (const [i, stack] of stacks.entries()) {
    let top = 100;
    for (const { height: value, className, tip } of stack) {
      const height = (100 * value) / Math.max(max, 1);
      top -= height;
      const bar = drawn('rect', {
        x: (i * width + width * 0.12).toFixed(3),
        y: top.toFixed(3),
        width: (width * 0.76).toFixed(3),
        height: height.toFixed(3),
        class: className,
      });
      const title = drawn('title', {});
      title.textContent = tip;
      bar.append(title);
      svg.append(bar);
    }
  }
  return svg;
}

/**
 * The token's field, and requests with the token. `read` requests the data and returns a function that shows it; it runs when
 * a token is entered, and again at `refresh`.
 * @param {{ opened: HTMLElement, state: HTMLElement, reading: string, read: (signal: AbortSignal) => Promise<() => void>,
 *   emptied: () => void, focused: () => HTMLElement | null }} page
 */
export function operatorPage(page) {
  const form = element('token-form');
  /** @type {HTMLInputElement} */
  const tokenField = element('token');
  const tokenError = element('token-error');
  const tokenState = element('token-state');
  /** Empty while no operator has opened the page. */
  let token = '';
  /** When the shown data was read. */
  let asOf = '';
  /** When the server gave the last answer, by its clock: this machine's may be wrong. */
  let answeredMs = Date.now();
  /** Aborts the requests of the reading in flight. */
  let reading = new AbortController();
  /** Aborts the requests that continue the shown reading. */
  let shown = new AbortController();

  /** @param {'watching' | 'trouble' | 'connecting'} kind @param {string} text */
  function say(kind, text) {
    page.state.dataset.kind = kind;
    page.state.textContent = text;
  }

  /**
   * Asks the server. @param {string} path below the operator's routes @param {AbortSignal} signal
   * @param {object} [body] sent as JSON by POST
   * @throws {Refused} for every answer but a success; another error without a connection
   */
  async function ask(path, signal, body) {
    const response = await fetch(`./admin/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    // A proxy that answers in place of the server may not send JSON.
    const answer = await response.json().catch((failure) => {
      if (!(failure instanceof SyntaxError)) throw failure;
    });
    const generatedMs = Date.parse(answer?.meta?.generated_at);
    if (response.ok && !Number.isNaN(generatedMs)) {
      answeredMs = generatedMs;
      return answer.data;
    }
    const silent = `the server answered ${response.status} without ${response.ok ? 'data' : 'a reason'}`;
    throw new Refused(response.status, answer?.error?.message ?? silent);
  }

  /**
   * Asks for the days of a period that ends today; asks again if the server's clock shows another day.
   * @param {string} path its query ends with `since=` @param {number} count of days @param {AbortSignal} signal
   */
  async function askDays(path, count, signal) {
    for (;;) {
      const names = lastDays(count, answeredMs);
      const data = await ask(path + names[0], signal);
      if (names[0] === lastDays(count, answeredMs)[0]) return { names, data };
    }
  }

  /** Forgets the token and everything that it opened. */
  function forget() {
    reading.abort();
    shown.abort();
    token = '';
    tokenState.textContent = '';
    page.emptied();
    page.opened.hidden = true;
    form.hidden = false;
  }

  /** @param {unknown} failure */
  function failed(failure) {
    const text = failure instanceof Refused ? failure.message : 'no connection to the server';
    const isWrong = failure instanceof Refused && failure.status === 401;
    if (!page.opened.hidden && !isWrong) return say('trouble', `Not read: ${text}. Shown as of ${asOf}`);
    // After a failure that does not concern the token, the field gets it back for another attempt.
    if (!isWrong) tokenField.value ||= token;
    forget();
    complain(text, isWrong);
  }

  /** @param {string} text @param {boolean} isWrong whether the token is what is wrong */
  function complain(text, isWrong) {
    tokenError.textContent = text;
    if (isWrong) tokenField.setAttribute('aria-invalid', 'true');
    else tokenField.removeAttribute('aria-invalid');
    tokenField.focus();
  }

  /** Reads and shows; an earlier reading is aborted. */
  async function read() {
    reading.abort();
    reading = new AbortController();
    const { signal } = reading;
    say('connecting', page.reading);
    tokenError.textContent = '';
    tokenState.textContent = page.reading;
    try {
      const show = await page.read(signal);
      if (signal.aborted) return;
      shown.abort();
      shown = new AbortController();
      show();
      const wasHidden = page.opened.hidden;
      form.hidden = true;
      page.opened.hidden = false;
      tokenField.value = '';
      tokenError.textContent = '';
      tokenState.textContent = '';
      tokenField.removeAttribute('aria-invalid');
      asOf = `${new Date(answeredMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
      say('watching', `As of ${asOf}`);
      if (wasHidden) page.focused()?.focus();
    } catch (failure) {
      if (!signal.aborted) failed(failure);
    }
  }

  /**
   * Runs work that continues the shown reading, one run at a time per button. The button stays enabled, because a disabled one
   * loses the focus. @param {HTMLButtonElement} button @param {(signal: AbortSignal) => Promise<void>} work
   */
  async function continued(button, work) {
    if (button.ariaDisabled === 'true') return;
    const { signal } = shown;
    button.ariaDisabled = 'true';
    try {
      await work(signal);
      if (!signal.aborted) say('watching', `As of ${asOf}`);
    } catch (failure) {
      if (!signal.aborted) failed(failure);
    } finally {
      button.ariaDisabled = null;
    }
  }

  /**
   * Lets a button show more of a list. After the last part, which hides the button, the focus goes on with the first new item.
   * @param {HTMLButtonElement} button @param {HTMLElement} list @param {(signal: AbortSignal) => Promise<void>} readMore
   */
  function continuedBy(button, list, readMore) {
    const work = async (/** @type {AbortSignal} */ signal) => {
      const { childElementCount } = list;
      await readMore(signal);
      const first = /** @type {HTMLElement | undefined} */ (list.children[childElementCount]);
      if (signal.aborted || !button.hidden || first === undefined) return;
      first.tabIndex = -1;
      first.focus();
    };
    button.addEventListener('click', () => void continued(button, work));
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const given = tokenField.value.trim();
    tokenField.value = '';
    if (!/^[!-~]+$/.test(given)) {
      return complain(
        given === '' ? 'Enter the admin token.' : 'An admin token is visible ASCII without blanks.',
        true,
      );
    }
    token = given;
    void read();
  });
  element('refresh').addEventListener('click', () => void read());
  element('forget').addEventListener('click', () => {
    forget();
    tokenField.focus();
  });
  // The browser may keep a page for the back button (bfcache); the token must not stay in it.
  window.addEventListener('pagehide', () => {
    tokenField.value = '';
    forget();
  });
  return { ask, askDays, read, continued, continuedBy };
}
