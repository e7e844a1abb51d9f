// @ts-check
/** The API reference: `/openapi.json` in the hands of swagger-ui. Reading only; a request that costs money is made elsewhere. */

/** @typedef {{ tags?: string[], 'x-payment-info'?: { price: string, currency: string }, summary?: string }} Operation */

const { SwaggerUIBundle } = /** @type {{ SwaggerUIBundle: (options: object) => void }} */ (
  /** @type {unknown} */ (window)
);
const state = /** @type {HTMLElement} */ (document.getElementById('reference-state'));

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

/** Prices stand beside the summaries, where one looks for them. @param {any} contract */
function withPrices(contract) {
  for (const methods of Object.values(contract.paths)) {
    for (const method of METHODS) {
      const operation = /** @type {Operation | undefined} */ (methods[method]);
      const payment = operation?.['x-payment-info'];
      if (operation === undefined || payment === undefined) continue;
      operation.summary = `${operation.summary} · ${payment.price} ${payment.currency}`;
    }
  }
  return contract;
}

const nothing = () => null;

/** The page has its own title; addresses and tokens are nothing to set where nothing is sent. */
const readingOnly = () => ({
  components: {
    InfoContainer: nothing,
    ServersContainer: nothing,
    AuthorizeBtnContainer: nothing,
    authorizeOperationBtn: nothing,
    SchemesContainer: nothing,
  },
});

try {
  const answer = await fetch('./openapi.json', { credentials: 'omit' });
  if (!answer.ok) throw new Error(`openapi.json was answered with ${answer.status}`);
  const spec = withPrices(await answer.json());
  SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    validatorUrl: null,
    supportedSubmitMethods: [],
    docExpansion: 'list',
    defaultModelsExpandDepth: -1,
    deepLinking: true,
    plugins: [readingOnly],
  });
} catch (failure) {
  state.textContent = `The reference could not be loaded: ${failure instanceof Error ? failure.message : failure}. Load the page again, or read openapi.json.`;
}
