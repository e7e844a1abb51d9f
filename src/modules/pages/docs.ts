/** GET /docs: the API reference. swagger-ui, which this server serves too, renders it in the browser from `/openapi.json`. */
import { pageRoute } from './document.ts';
import { html } from './html.ts';

const MAIN = html`<h1>API reference</h1>
<p class="lead">Rendered from <a href="./openapi.json">openapi.json</a>, which the server generates from the declarations of its operations.</p>
<p>Every answer carries <code>X-Request-Id</code>. Every error is <code>{"error": {"code", "message", "request_id"}}</code> with one
of the codes listed beside its status; a 402 also carries the offer. A paid operation takes two requests: without
<code>PAYMENT-SIGNATURE</code> the answer is the offer. This page sends no requests to the operations.</p>
<h2>Operations</h2>
<div id="reference"><p id="reference-state" role="status">Loading the reference…</p></div>
<noscript><p class="note">A script renders the reference. You can read the same contract without it: <a href="./openapi.json">openapi.json</a>.</p></noscript>`;

export const docs = pageRoute('docsPage', '/docs', 'The API reference, for people', {
  title: 'API reference – paygrade',
  description: 'Every operation of this server: parameters, answers, errors and prices.',
  styles: ['docs.css'],
  library: 'reference.js',
  scripts: ['docs.js'],
  main: () => MAIN,
});
