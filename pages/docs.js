// @ts-check
/**
 * The API reference: `/openapi.json` in the hands of swagger-ui. Reading only; a request that costs money is made elsewhere.
 * What swagger-ui shows for trying requests out is left away, and its markup is mended where a screen reader would stumble.
 */

/**
 * @typedef {{ description: string, headers?: Record<string, unknown>, content?: Record<string, { schema?: {
 *   properties?: { error?: { properties?: { code?: { enum?: string[] } } } } } }> }} Response
 * @typedef {{ 'x-payment-info'?: { price: string, currency: string }, summary?: string,
 *   responses: Record<string, Response> }} Operation
 * @typedef {{ React: { createElement(component: unknown, props?: object | null): unknown } }} System
 */

const { SwaggerUIBundle } = /** @type {{ SwaggerUIBundle?: (options: object) => void }} */ (
  /** @type {unknown} */ (window)
);
const root = /** @type {HTMLElement} */ (document.getElementById('reference'));
const state = /** @type {HTMLElement} */ (document.getElementById('reference-state'));

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

/**
 * An error is its codes: its body is the same everywhere, and the page says so once.
 * @param {Response} response
 */
function briefly(response) {
  const schema = response.content?.['application/json']?.schema;
  const codes = schema?.properties?.error?.properties?.code?.enum ?? [];
  response.description = `${response.description}${codes.map((code) => ` \`${code}\``).join('')}`;
  delete response.content;
}

/**
 * The contract as it reads best: prices beside the summaries, errors by their codes.
 * @param {{ paths: Record<string, Record<string, Operation | undefined>> }} contract
 */
function forReading(contract) {
  for (const methods of Object.values(contract.paths)) {
    for (const method of METHODS) {
      const operation = methods[method];
      if (operation === undefined) continue;
      const payment = operation['x-payment-info'];
      if (payment !== undefined) operation.summary = `${operation.summary} · ${payment.price} ${payment.currency}`;
      for (const [status, response] of Object.entries(operation.responses)) {
        delete response.headers?.['X-Request-Id'];
        if (Number(status) >= 400) briefly(response);
      }
    }
  }
  return contract;
}

const nothing = () => null;

/** @param {System} system */
const readingOnly = ({ React }) => ({
  components: {
    /** The page has its own frame and title. @param {{ getComponent(name: string, isContainer: boolean): unknown }} props */
    OperationsLayout: ({ getComponent }) => React.createElement(getComponent('operations', true)),
    // Nothing is sent from here, so there is nothing to fill in.
    authorizeOperationBtn: nothing,
    JsonSchemaForm: nothing,
    CopyToClipboardBtn: nothing,
  },
});

/** What scrolls can be reached by keyboard, regions have names. */
function mend() {
  for (const region of root.querySelectorAll('table[role="region"]')) region.removeAttribute('role');
  for (const block of root.querySelectorAll('pre:not([tabindex])')) block.setAttribute('tabindex', '0');
  for (const select of root.querySelectorAll('select:not([aria-label])')) {
    select.setAttribute('aria-label', 'Media type');
  }
  for (const button of root.querySelectorAll('button.json-schema-2020-12-accordion:not([aria-label])')) {
    if (button.textContent === '') button.setAttribute('aria-label', 'Details');
  }
}

/** `docs#searchJobs` opens that operation. */
function openNamed() {
  const name = decodeURIComponent(location.hash.slice(1));
  if (!/^\w+$/.test(name)) return;
  const block = root.querySelector(`.opblock[id$="-${name}"]`);
  const control = block?.querySelector('.opblock-summary-control');
  if (control instanceof HTMLElement && control.getAttribute('aria-expanded') === 'false') control.click();
  block?.scrollIntoView();
}

try {
  if (SwaggerUIBundle === undefined) throw new Error('its library (swagger-ui-dist) is not installed on this server');
  const answer = await fetch('./openapi.json', { credentials: 'omit' });
  if (!answer.ok) throw new Error(`openapi.json was answered with ${answer.status}`);
  const spec = forReading(await answer.json());
  new MutationObserver(mend).observe(root, { childList: true, subtree: true });
  SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    layout: 'OperationsLayout',
    plugins: [readingOnly],
    validatorUrl: null,
    supportedSubmitMethods: [],
    syntaxHighlight: false,
    docExpansion: 'list',
    onComplete: () => setTimeout(openNamed),
  });
  addEventListener('hashchange', openNamed);
} catch (failure) {
  const reason = failure instanceof Error ? failure.message : String(failure);
  state.textContent = `The reference could not be loaded: ${reason}. What it would show is in openapi.json.`;
}
