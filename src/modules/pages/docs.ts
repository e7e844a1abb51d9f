/** GET /docs: the reference, rendered in the browser from `/openapi.json` by swagger-ui, which comes from here too. */
import { pageRoute } from './document.ts';
import { html } from './html.ts';

const MAIN = html`<h1>API reference</h1>
<p class="lead">Rendered from <a href="./openapi.json">openapi.json</a>, which is made from the declarations that serve the requests.</p>
<p>Every answer carries <code>X-Request-Id</code>, and every error is <code>{"error": {"code", "message", "request_id"}}</code> with one
of the codes listed beside its status; a 402 carries the offer as well. Paid operations are asked twice: without
<code>PAYMENT-SIGNATURE</code> the answer is the offer. Nothing is sent from this page.</p>
<h2>Operations</h2>
<div id="reference"><p id="reference-state" role="status">Loading the reference…</p></div>
<noscript><p class="note">The reference is rendered by a script. The same, for reading by eye or by program: <a href="./openapi.json">openapi.json</a>.</p></noscript>`;

export const docs = pageRoute('docsPage', '/docs', 'The API reference, for people', {
  title: 'API reference – paygrade',
  description: 'Every operation of this server: parameters, answers, errors and prices.',
  styles: ['docs.css'],
  library: 'reference.js',
  scripts: ['docs.js'],
  main: () => MAIN,
});
