// @ts-check
/**
 * The inbox page: shows the events of one callback as they arrive, by long polling. The read token is only in a variable of
 * this module and in the Authorization header; the page forgets it when watching ends. All content of webhooks enters the
 * page as text.
 */
import { hexLines, hexText, sizeText } from './bytes.js';
import { copyFrom } from './copy.js';
import { piecesOf } from './json-text.js';

/**
 * @typedef {{ id: string, received_at: string, method: string, content_type: string, headers: Record<string, string>,
 *   body: unknown, size_bytes: number }} WebhookEvent
 * @typedef {{ code: string, message: string }} Refusal
 * @typedef {{ ok: true, body: any } | { ok: false, status: number, refusal: Refusal, retryAfterMs: number }} Answer
 */

const CALLBACK_ID = /cb_[A-Za-z0-9]{24}(?![A-Za-z0-9])/;
const READ_TOKEN = /svc_cb_sk_[A-Za-z0-9]{43}(?![A-Za-z0-9])/;

/** Pauses after consecutive failures, milliseconds; the last one repeats. */
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000];
/** Longer JSON is shown without colours, because tens of thousands of elements make the page slow. */
const COLOURED_LENGTH_MAX = 50_000;
const HEX_BYTES_SHOWN = 4_096;
/** How often the page asks again once the callback has expired by the page's clock but not yet by the server's. */
const EXPIRY_CHECK_MS = 1_000;

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @returns {T}
 */
const element = (id) => /** @type {T} */ (document.getElementById(id));

const form = element('watch-form');
/** @type {HTMLInputElement} */
const addressField = element('address');
/** @type {HTMLInputElement} */
const tokenField = element('token');
const watched = element('watched');
const title = element('watched-id');
const stateText = element('state');
const timeLeft = element('time-left');
/** @type {HTMLProgressElement} */
const timeBar = element('time-bar');
const eventCount = element('event-count');
const sending = element('sending');
const eventList = element('events');
const noEvents = element('no-events');
/** @type {HTMLButtonElement} */
const stopButton = element('stop');
/** @type {HTMLButtonElement} */
const deleteButton = element('delete');
/** @type {HTMLDialogElement} */
const deleteDialog = element('delete-dialog');
/** @type {HTMLTemplateElement} */
const template = element('event-template');

const pageTitle = document.title;
const waitSeconds = Number(watched.dataset.waitSeconds);
const eventCountMax = Number(watched.dataset.eventCountMax);
const lifetimeMs = Number(watched.dataset.lifetimeMs);
const hooks = watched.dataset.hooks ?? '';
/** Longer than any wait, so that a network that fails silently does not leave the page waiting forever. */
const ANSWER_MS = (waitSeconds + 10) * 1000;

/** @param {number} failureCount consecutive failures before this one */
const pauseMsAfter = (failureCount) => PAUSES_MS[Math.min(failureCount, PAUSES_MS.length - 1)] ?? 0;

/** Watches one callback, from the submitted form to the end. */
class Watch {
  /** @type {ReadonlyMap<string, WebhookEvent>} */
  #events = new Map();
  /** Aborts the request in flight. */
  #request = new AbortController();
  #token;
  #isSynced = false;
  #wasFound = false;
  #isOver = false;
  #failureCount = 0;
  /** Expiry by this page's clock; undefined = not known yet. @type {number | undefined} */
  #expiresAtMs;
  #nextExpiryCheckMs = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #ticking;

  /** @param {string} id @param {string} token */
  constructor(id, token) {
    this.id = id;
    this.#token = token;
  }

  get isOver() {
    return this.#isOver;
  }

  async follow() {
    this.#ticking = setInterval(() => this.#tick(), 250);
    say('connecting', 'Connecting…');
    while (!this.#isOver) {
      try {
        await (this.#isSynced ? this.#wait() : this.#sync());
      } catch (failure) {
        if (this.#isOver) return;
        if (failure instanceof DOMException && failure.name === 'AbortError') continue;
        const isLate = failure instanceof DOMException && failure.name === 'TimeoutError';
        await this.#pause(isLate ? 'No answer from the server' : 'No connection to the server');
      }
    }
  }

  /** @param {'stopped' | 'ended' | 'trouble'} kind @param {string} text */
  end(kind, text) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#token = '';
    this.#request.abort();
    clearInterval(this.#ticking);
    deleteDialog.close();
    const hadFocus = [stopButton, deleteButton].some((button) => button === document.activeElement);
    for (const button of [stopButton, deleteButton]) button.disabled = true;
    sending.hidden = true;
    if (kind === 'ended') {
      timeLeft.textContent = 'no time left';
      timeBar.value = 0;
    }
    say(kind, text);
    form.hidden = false;
    if (hadFocus) addressField.focus();
  }

  async delete() {
    try {
      const answer = await this.#ask('', { method: 'DELETE' }, new AbortController().signal);
      if (current !== this) return;
      if (answer.ok || answer.status === 404) this.end('ended', 'Deleted. Its address no longer works.');
      else if (!this.#endedBy(answer)) say('trouble', `Not deleted: ${answer.refusal.message}`);
    } catch {
      if (current === this) say('trouble', 'It may still exist: no connection to the server.');
    }
  }

  /**
   * The exact bytes of an event, or undefined when the server no longer has them or the watch is over.
   * @param {string} eventId @param {() => void} failed runs at each failure; another attempt may follow
   */
  async bytesOf(eventId, failed) {
    for (let failureCount = 0; !this.#isOver; failureCount++) {
      try {
        const answer = await this.#fetch(`/events/${eventId}/raw`, {}, new AbortController().signal);
        if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
        if (answer.status === 404 || answer.status === 410) break;
      } catch {
        // As after any other failure.
      }
      failed();
      await new Promise((resolve) => setTimeout(resolve, pauseMsAfter(failureCount)));
    }
    failed();
    return undefined;
  }

  /** Reads all events and the expiry: at first, and whenever the page may have missed something. */
  async #sync() {
    const answer = await this.#ask('/events');
    if (!answer.ok) return this.#refused(answer);
    this.#isSynced = true;
    this.#wasFound = true;
    this.#failureCount = 0;
    for (const event of answer.body.events) this.#add(event, false);
    say('watching', 'Watching');
  }

  async #wait() {
    const last = [...this.#events.keys()].at(-1);
    const answer = await this.#ask(`/wait?timeout=${waitSeconds}${last === undefined ? '' : `&after=${last}`}`);
    if (!answer.ok) return this.#refused(answer);
    this.#failureCount = 0;
    say('watching', 'Watching');
    if (answer.body.received) this.#add(answer.body.event, true);
  }

  /** @param {Extract<Answer, { ok: false }>} answer */
  async #refused(answer) {
    if (this.#endedBy(answer)) return;
    await this.#pause(answer.refusal.message, answer.retryAfterMs);
  }

  /** @param {Extract<Answer, { ok: false }>} answer @returns true when there is nothing left to watch */
  #endedBy({ status, refusal: { code, message } }) {
    if (status === 401) {
      this.end('trouble', 'The server does not accept this token.');
      fault(tokenField, 'This is not the read token of this callback.');
      tokenField.focus();
    } else if (status === 410) {
      this.end(
        'ended',
        this.#wasFound
          ? 'Expired. The server has deleted its events; this page still shows them.'
          : 'Expired: its ten minutes are over.',
      );
    } else if (code === 'CALLBACK_NOT_FOUND') {
      this.end(
        'ended',
        this.#wasFound
          ? 'Deleted. Its address no longer works.'
          : 'There is no such callback: it was deleted, or expired long ago.',
      );
    } else if (status === 400) {
      this.end('trouble', message);
    } else return false;
    return true;
  }

  /** @param {string} reason @param {number} [leastMs] */
  async #pause(reason, leastMs = 0) {
    // Nothing is left to watch after a lifetime, and a timer of 25 days would fire at once.
    const pauseMs = Math.min(Math.max(pauseMsAfter(this.#failureCount++), leastMs), lifetimeMs);
    this.#isSynced = false;
    say('trouble', `${reason}; trying again in ${Math.ceil(pauseMs / 1000)} s`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }

  /** @param {string} path @param {RequestInit} init @param {AbortSignal} signal */
  #fetch(path, init, signal) {
    return fetch(`./v1/callbacks/${this.id}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${this.#token}` },
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
  }

  /**
   * @param {string} path
   * @param {RequestInit} [init]
   * @param {AbortSignal} [signal]
   * @returns {Promise<Answer>}
   */
  async #ask(path, init = {}, signal) {
    if (signal === undefined) {
      this.#request = new AbortController();
      signal = this.#request.signal;
    }
    const response = await this.#fetch(path, init, signal);
    // A proxy that answers in place of the server may not send JSON.
    const body = await response.json().catch((failure) => {
      if (!(failure instanceof SyntaxError)) throw failure;
    });
    if (response.ok && body !== undefined) {
      if (typeof body.expires_at === 'string') this.#setExpiry(body.expires_at, response.headers.get('date'));
      return { ok: true, body };
    }
    // A proxy may send a date, which the page ignores.
    const retryAfterMs = (Number(response.headers.get('retry-after')) || 0) * 1000;
    const message = `The server answered ${response.status} without ${response.ok ? 'data' : 'a reason'}`;
    return { ok: false, status: response.status, refusal: body?.error ?? { code: '', message }, retryAfterMs };
  }

  /** Sets the expiry by the server's clock where the Date header gives it, because this machine's may be wrong. @param {string} expiresAt @param {string | null} date */
  #setExpiry(expiresAt, date) {
    const serverMs = date === null ? Number.NaN : Date.parse(date);
    const aheadMs = Number.isNaN(serverMs) ? 0 : Date.now() - serverMs;
    // A Date header has whole seconds and arrives with a delay, so a difference below two seconds means nothing.
    const skewMs = Math.abs(aheadMs) < 2_000 ? 0 : aheadMs;
    // For the same reason the estimate may be late; no callback has more time left than a whole lifetime.
    this.#expiresAtMs = Math.min(Date.parse(expiresAt) + skewMs, Date.now() + lifetimeMs);
    this.#tick();
  }

  #tick() {
    if (this.#expiresAtMs === undefined) return;
    const now = Date.now();
    const leftMs = this.#expiresAtMs - now;
    const seconds = Math.max(0, Math.ceil(leftMs / 1000));
    timeLeft.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`;
    timeBar.value = Math.min(1, Math.max(0, leftMs / lifetimeMs));
    if (leftMs > 0 || now < this.#nextExpiryCheckMs) return;
    this.#nextExpiryCheckMs = now + EXPIRY_CHECK_MS;
    this.#isSynced = false;
    this.#request.abort();
  }

  /** @param {WebhookEvent} event @param {boolean} isNew */
  #add(event, isNew) {
    if (this.#events.has(event.id)) return;
    this.#events = new Map([...this.#events, [event.id, event]]);
    eventList.prepend(eventElement(event, this, isNew));
    noEvents.hidden = true;
    countEvents(this.#events.size);
  }
}

/** @param {number} count */
function countEvents(count) {
  eventCount.textContent = `${count} of ${eventCountMax} events`;
  document.title = count === 0 ? pageTitle : `(${count}) ${pageTitle}`;
}

/** @param {'connecting' | 'watching' | 'trouble' | 'stopped' | 'ended'} kind @param {string} text */
function say(kind, text) {
  stateText.dataset.kind = kind;
  if (stateText.textContent !== text) stateText.textContent = text;
}

/** @param {WebhookEvent} event @param {Watch} watch @param {boolean} isNew */
function eventElement(event, watch, isNew) {
  const item = /** @type {DocumentFragment} */ (template.content.cloneNode(true)).firstElementChild;
  if (!(item instanceof HTMLElement)) throw new Error('the template of an event is empty');
  /** @param {string} name @returns {HTMLElement} */
  const part = (name) => /** @type {HTMLElement} */ (item.querySelector(`[data-part="${name}"]`));
  if (isNew) item.classList.add('is-new');
  part('method').textContent = event.method;
  part('size').textContent = sizeText(event.size_bytes);
  part('type').textContent = event.content_type;
  part('id').textContent = event.id;
  const time = /** @type {HTMLTimeElement} */ (part('time'));
  time.dateTime = event.received_at;
  time.textContent = `${event.received_at.slice(11, 19)} UTC`;

  const names = Object.keys(event.headers);
  part('headers-title').textContent = `Headers retained: ${names.length}`;
  part('headers').append(...names.map((name) => headerRow(name, event.headers[name] ?? '')));

  const body = part('body');
  const copyBody = /** @type {HTMLButtonElement} */ (part('copy-body'));
  copyBody.addEventListener('click', () => void copyFrom(copyBody, () => body.textContent ?? '', body));
  part('raw-title').textContent = `Raw bytes: ${event.size_bytes.toLocaleString('en-US')}`;
  void fillBodies(event, watch, body, part);
  return item;
}

/** @param {string} name @param {string} value */
function headerRow(name, value) {
  const row = document.createElement('tr');
  const head = document.createElement('th');
  head.scope = 'row';
  head.textContent = name;
  const cell = document.createElement('td');
  cell.textContent = value;
  row.append(head, cell);
  return row;
}

/**
 * @param {WebhookEvent} event
 * @param {Watch} watch
 * @param {HTMLElement} body
 * @param {(name: string) => HTMLElement} part
 */
async function fillBodies(event, watch, body, part) {
  const isEmpty = event.size_bytes === 0;
  const isJson = !isEmpty && /^\s*application\/json\s*(?:;|$)/i.test(event.content_type);
  if (!isJson) body.textContent = isEmpty ? '(empty)' : String(event.body);
  const bytes = await watch.bytesOf(event.id, () => {
    if (isJson) showJson(body, JSON.stringify(event.body));
    part('inexact').hidden = !isJson;
    part('raw').hidden = true;
  });
  if (bytes === undefined) return;
  // From the raw bytes, not from the parsed value: numbers beyond JavaScript's precision stay as they were sent.
  if (isJson) showJson(body, new TextDecoder().decode(bytes));
  part('inexact').hidden = true;
  part('raw').hidden = false;
  fillHex(bytes, event.id, part);
}

/** @param {HTMLElement} into @param {string} json */
function showJson(into, json) {
  const pieces = piecesOf(json);
  if (json.length > COLOURED_LENGTH_MAX) {
    into.textContent = pieces.map(({ text }) => text).join('');
    return;
  }
  into.replaceChildren(
    ...pieces.flatMap(({ kind, text }) => {
      if (kind === 'space' || kind === 'mark') return text;
      const isString = text.startsWith('"');
      // A string may reverse the direction of text after it. Isolated, without its quotes, it leaves all other marks in place.
      const shown = document.createElement(isString ? 'bdi' : 'span');
      shown.className = `json-${kind}`;
      shown.textContent = isString ? text.slice(1, -1) : text;
      return isString ? ['"', shown, '"'] : shown;
    }),
  );
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {string} eventId @param {(name: string) => HTMLElement} part */
function fillHex(bytes, eventId, part) {
  const hex = part('hex');
  hex.textContent = hexLines(bytes.subarray(0, HEX_BYTES_SHOWN));
  const copyHex = /** @type {HTMLButtonElement} */ (part('copy-hex'));
  copyHex.addEventListener('click', () => void copyFrom(copyHex, () => hexText(bytes)));
  const download = /** @type {HTMLAnchorElement} */ (part('download'));
  download.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  download.download = `${eventId}.bin`;
  if (bytes.length <= HEX_BYTES_SHOWN) return;
  const all = part('all-hex');
  all.textContent = `Show all ${bytes.length.toLocaleString('en-US')} bytes`;
  all.hidden = false;
  all.addEventListener('click', () => {
    hex.textContent = hexLines(bytes);
    all.hidden = true;
    hex.focus();
  });
}

/** @param {HTMLInputElement} field @param {string} text empty = no error */
function fault(field, text) {
  element(`${field.id}-error`).textContent = text;
  if (text === '') field.removeAttribute('aria-invalid');
  else field.setAttribute('aria-invalid', 'true');
}

/** Fills both fields when the first holds the whole answer of the creation. */
function fillFromAnswer() {
  const token = READ_TOKEN.exec(addressField.value)?.[0];
  const id = CALLBACK_ID.exec(addressField.value)?.[0];
  if (token === undefined || id === undefined) return;
  addressField.value = id;
  tokenField.value = token;
}

/** @type {Watch | undefined} */
let current;

function start() {
  fillFromAnswer();
  const id = CALLBACK_ID.exec(addressField.value)?.[0];
  const token = READ_TOKEN.exec(tokenField.value)?.[0];
  fault(addressField, id === undefined ? 'This contains no callback id: cb_ and 24 letters or digits.' : '');
  fault(tokenField, token === undefined ? 'A read token is svc_cb_sk_ and 43 letters or digits.' : '');
  if (id === undefined) return addressField.focus();
  if (token === undefined) return tokenField.focus();

  tokenField.value = '';
  for (const link of eventList.querySelectorAll('a[href^="blob:"]'))
    URL.revokeObjectURL(link.getAttribute('href') ?? '');
  eventList.replaceChildren();
  noEvents.hidden = false;
  countEvents(0);
  title.textContent = id;
  timeLeft.textContent = '';
  element('send-command').textContent =
    `curl -H 'Content-Type: application/json' -d '{"hello":"world"}' '${hooks}${id}'`;
  sending.hidden = false;
  for (const button of [stopButton, deleteButton]) button.disabled = false;
  form.hidden = true;
  watched.hidden = false;
  title.focus();
  current?.end('stopped', '');
  form.hidden = true;
  current = new Watch(id, token);
  void current.follow();
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  start();
});
addressField.addEventListener('paste', () => setTimeout(fillFromAnswer));
stopButton.addEventListener('click', () => current?.end('stopped', 'Stopped. The token is forgotten.'));
// The browser may keep a page for the back button (bfcache); the token must not stay in it.
addEventListener('pagehide', () => {
  tokenField.value = '';
  current?.end('stopped', 'Stopped because you left the page. The token is forgotten.');
});
deleteButton.addEventListener('click', () => deleteDialog.showModal());
element('delete-cancel').addEventListener('click', () => deleteDialog.close());
element('delete-confirm').addEventListener('click', () => {
  deleteDialog.close();
  void current?.delete();
});
