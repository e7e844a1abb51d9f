/**
 * GET /docs: the API reference. swagger-ui, which this server serves too, renders it in the browser from the `openapi.json` of
 * the surface that `?surface=` names, else of the base.
 */
import { creditsOf } from '../../access/credits.ts';
import { priceOf } from '../../access/x402.ts';
import type { SurfaceView } from '../module.ts';
import { pageRoute } from './document.ts';
import { type Html, html } from './html.ts';
import { everyOperation, type PageServices } from './services.ts';

/** The script reads the choice from these links. Each surface answers below its path, so its contract is of this origin. */
const choiceOf = (others: readonly SurfaceView[]): Html | undefined =>
  others.length === 0
    ? undefined
    : html`<nav class="choice" aria-label="APIs of this server">
<a href="./docs" data-surface="" data-contract="./openapi.json" aria-current="page">Base</a>
${others.map(
  ({ title, path }) =>
    html`<a href="./docs?surface=${path.slice(1)}" data-surface="${path.slice(1)}" data-contract=".${path}/openapi.json">${title}</a>\n`,
)}</nav>
`;

function main(services: PageServices): Html {
  const others = services.otherSurfaces();
  const ways = everyOperation(services).map(({ access }) => access);
  return html`<h1>API reference</h1>
<p class="lead">Rendered from <a href="./openapi.json" id="contract">openapi.json</a>, which the server generates from the declarations of its operations.</p>
<p>Every answer carries <code>X-Request-Id</code>. Every error is <code>{"error": {"code", "message", "request_id"}}</code> with one
of the codes listed beside its status.${
    ways.some((access) => priceOf(access) !== undefined)
      ? html` A paid operation takes two requests: without <code>PAYMENT-SIGNATURE</code> the answer is 402 with the offer.`
      : undefined
  }${
    ways.some((access) => creditsOf(access) !== undefined)
      ? html` An operation with a scope takes an API key from the operator, in <code>Authorization: Bearer svc_key_…</code>.`
      : undefined
  } This page sends no requests to the operations.</p>
${choiceOf(others)}<h2>Operations</h2>
<div id="reference"><p id="reference-state" role="status">Loading the reference…</p></div>
<noscript><p class="note">A script renders the reference. You can read the same contract without it: <a href="./openapi.json">openapi.json</a>${others.map(
    ({ title, path }) => html`, <a href=".${path}/openapi.json">openapi.json of the ${title}</a>`,
  )}.</p></noscript>`;
}

export const docs = pageRoute('docsPage', '/docs', 'The API reference, for people', {
  title: 'API reference – paygrade',
  description: 'Every operation of this server: parameters, answers, errors and prices.',
  styles: ['docs.css'],
  library: 'reference.js',
  scripts: ['docs.js'],
  main,
});
