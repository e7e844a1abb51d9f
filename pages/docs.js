// @ts-check
/**
 * Renders the API reference: swagger-ui shows the `openapi.json` of the chosen surface for reading only. The page sends no
 * requests, because they cost money or credits, so it removes swagger-ui's controls for trying them out. It also repairs markup
 * that confuses screen readers.
 */

/**
 * @typedef {{ description: string, headers?: Record<string, unknown>, content?: Record<string, { schema?: {
 *   properties?: { error?: { properties?: { code?: { enum?: string[] } } } } } }> }} Response
 * @typedef {{ 'x-payment-info'?: { price: string, currency: string }, 'x-credits'?: { per_record?: number, per_answer?: number },
 *   security?: Record<string, string[]>[], summary?: string, responses: Record<string, Response> }} Operation
 * @typedef {{ React: { createElement(component: unknown, props?: object | null, ...children: unknown[]): unknown } }} System
 */

const { SwaggerUIBundle } = /** @type {{ SwaggerUIBundle?: (options: object) => void }} */ (
  /** @type {unknown} */ (window)
);
const root = /** @type {HTMLElement} */ (document.getElementById('reference'));
const state = /** @type {HTMLElement} */ (document.getElementById('reference-state'));

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

/**
 * Reduces an error response to its codes: the body is the same for all errors, and the page describes it once.
 * @param {Response} response
 */
function shortenError(response) {
  const schema = response.content?.['application/json']?.schema;
  const codes = schema?.properties?.error?.properties?.code?.enum ?? [];
  response.description = `${response.description}${codes.map((code) => ` \`${code}\``).join('')}`;
  delete response.content;
}

/**
 * What an operation asks for: its price, or the scope and the credits.
 * @param {Operation} operation
 */
function termsOf({ 'x-payment-info': payment, 'x-credits': credits, security = [] }) {
  const terms = security.flatMap((schemes) => Object.values(schemes).flat());
  if (payment !== undefined) terms.push(`${payment.price} ${payment.currency}`);
  const { per_record: perRecord, per_answer: perAnswer } = credits ?? {};
  if (perRecord !== undefined) terms.push(`${perRecord} credit a record`);
  if (perAnswer !== undefined) terms.push(`${perAnswer} credit${perAnswer === 1 ? '' : 's'}`);
  return terms;
}

/**
 * Prepares the contract for reading: terms beside the summaries, errors by their codes.
 * @template {{ paths: Record<string, Record<string, Operation | undefined>> }} T
 * @param {T} contract
 */
function prepareForReading(contract) {
  for (const methods of Object.values(contract.paths)) {
    for (const method of METHODS) {
      const operation = methods[method];
      if (operation === undefined) continue;
      operation.summary = [operation.summary, ...termsOf(operation)].join(' · ');
      for (const [status, response] of Object.entries(operation.responses)) {
        delete response.headers?.['X-Request-Id'];
        if (Number(status) >= 400) shortenError(response);
      }
    }
  }
  return contract;
}

const nothing = () => null;

/** @param {string} introduction Markdown @returns {(system: System) => object} */
const readingOnly =
  (introduction) =>
  ({ React }) => ({
    components: {
      /** Only introduction and operations, because the page has its own frame and title. @param {{ getComponent(name: string, isContainer: boolean): unknown }} props */
      OperationsLayout: ({ getComponent }) =>
        React.createElement(
          'div',
          null,
          React.createElement(getComponent('Markdown', true), { source: introduction }),
          React.createElement(getComponent('operations', true)),
        ),
      // The page sends nothing, so it shows no controls to fill in.
      authorizeOperationBtn: nothing,
      JsonSchemaForm: nothing,
      CopyToClipboardBtn: nothing,
    },
  });

/** Makes blocks that scroll reachable by keyboard and gives controls their names. */
function repairMarkup() {
  for (const region of root.querySelectorAll('table[role="region"]')) region.removeAttribute('role');
  for (const block of root.querySelectorAll('pre:not([tabindex])')) block.setAttribute('tabindex', '0');
  for (const select of root.querySelectorAll('select:not([aria-label])')) {
    select.setAttribute('aria-label', 'Media type');
  }
  for (const button of root.querySelectorAll('button.json-schema-2020-12-accordion:not([aria-label])')) {
    if (button.textContent === '') button.setAttribute('aria-label', 'Details');
  }
}

/** Opens the operation that the URL's fragment names, as in `docs#searchJobs`. */
function openLinkedOperation() {
  const name = location.hash.slice(1);
  if (!/^\w+$/.test(name)) return;
  const block = root.querySelector(`.opblock[id$="-${name}"]`);
  const control = block?.querySelector('.opblock-summary-control');
  if (control instanceof HTMLElement && control.getAttribute('aria-expanded') === 'false') control.click();
  block?.scrollIntoView();
}

/** The address of the contract that the page's own address chooses, out of those that the page links to. */
function chosenContract() {
  const wanted = new URLSearchParams(location.search).get('surface') ?? '';
  const choices = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll('[data-surface]')]);
  const chosen = choices.find(({ dataset }) => dataset.surface === wanted);
  if (chosen === undefined) return './openapi.json';
  for (const choice of choices) choice.removeAttribute('aria-current');
  chosen.setAttribute('aria-current', 'page');
  return chosen.dataset.contract ?? './openapi.json';
}

try {
  const address = chosenContract();
  /** @type {HTMLAnchorElement} */ (document.getElementById('contract')).href = address;
  if (SwaggerUIBundle === undefined)
    throw new Error('its library (swagger-ui-dist) did not load, or is not installed on this server');
  const answer = await fetch(address, { credentials: 'omit' });
  if (!answer.ok) throw new Error(`openapi.json answered with status ${answer.status}`);
  const spec = prepareForReading(await answer.json());
  const introduction = `${spec.info.description}\n\nIts paths are below \`${spec.servers[0].url}\`.`;
  new MutationObserver(repairMarkup).observe(root, { childList: true, subtree: true });
  SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    layout: 'OperationsLayout',
    plugins: [readingOnly(introduction)],
    validatorUrl: null,
    supportedSubmitMethods: [],
    syntaxHighlight: false,
    docExpansion: 'list',
    onComplete: () => setTimeout(openLinkedOperation),
  });
  addEventListener('hashchange', openLinkedOperation);
} catch (failure) {
  const reason = failure instanceof Error ? failure.message : String(failure);
  state.textContent = `The reference could not be loaded: ${reason}. The same contract is in openapi.json.`;
}
