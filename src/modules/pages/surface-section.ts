/** The home page's section about a surface beside the base: its operations, what they cost, and where its keys come from. */
import { creditsOf } from '../../access/credits.ts';
import { perClient } from '../../access/rate-limit.ts';
import { priceOf } from '../../access/x402.ts';
import type { Operation } from '../../http/operation.ts';
import { pathTemplateOf } from '../../http/path.ts';
import type { SurfaceView } from '../module.ts';
import { exampleUrl } from './example-url.ts';
import { type Html, html } from './html.ts';

/** Whether anyone can call it in a browser: a GET without a key, token or payment; at most a rate limits it. */
export const isOpen = ({ access, method }: Operation): boolean =>
  method === 'GET' && access.every((way) => way === perClient);

const isCharged = ({ access }: Operation): boolean => creditsOf(access) !== undefined;

/** The price of an operation, its cost in credits, or both if either buys it. */
function costCell({ access }: Operation): Html {
  const price = priceOf(access);
  const cost = creditsOf(access);
  if (price === undefined && cost === undefined) return html`free`;
  const credits =
    cost === 'record'
      ? html`1 <span class="unit">credit a record</span>`
      : html`${cost} <span class="unit">credit${cost === 1 ? '' : 's'}</span>`;
  if (price === undefined) return credits;
  return html`${price} <span class="unit">USDC</span>${cost === undefined ? undefined : html` or ${credits}`}`;
}

const rowOf = (operation: Operation): Html => html`<tr>
<th scope="row">${operation.summary}<code class="usage">${operation.method} ${pathTemplateOf(operation.path)}</code></th>
<td class="price">${costCell(operation)}</td>
</tr>
`;

/** @param surfacePath path of the surface below the base */
function openList(products: readonly Operation[], surfacePath: string): Html | undefined {
  const open = products.filter(isOpen);
  if (open.length === 0) return undefined;
  const links = open.map(
    (one, i) =>
      html`${i === 0 ? undefined : ', '}<a href="${exampleUrl(one, `.${surfacePath}`)}"><code>${one.path}</code></a>`,
  );
  return html`<p>Open to all, without a key: ${links}.</p>`;
}

/** Where keys come from, and an example request if a keyed operation can be called without changes. */
function keysText(products: readonly Operation[], baseUrl: string): Html | undefined {
  const charged = products.filter(isCharged);
  if (charged.length === 0) return undefined;
  const first = charged.find(({ method, path }) => method === 'GET' && !path.includes(':'));
  const hasLists = charged.some(({ access }) => creditsOf(access) === 'record');
  const source = html`Keys and credits come from the operator of this server.`;
  if (first === undefined) return html`<p>${source}</p>`;
  const reading = hasLists
    ? html`, and read on as long as\n<code>next_cursor</code> is not <code>null</code>`
    : undefined;
  return html`<p>${source} Send a key with every request${reading}:</p>
<pre data-copy><code>curl -i -H "Authorization: Bearer $KEY" '${exampleUrl(first, baseUrl)}'</code></pre>`;
}

/** @returns the section; its links to answers are relative, below the path at which the surface always answers */
export function surfaceSection({ title, description, path, mount, operations }: SurfaceView): Html {
  const name = path.slice(1);
  const products = operations.filter(({ tag }) => tag !== 'service');
  return html`<section aria-labelledby="surface-${name}">
<h2 id="surface-${name}">${title}</h2>
<p>${description}</p>
${keysText(products, mount.baseUrl)}
<table class="prices">
<thead><tr><th scope="col">Request below <code>${mount.baseUrl}</code></th><th scope="col" class="price">Cost</th></tr></thead>
<tbody>
${products.filter((one) => !isOpen(one)).map(rowOf)}</tbody>
</table>
${openList(products, path)}
<p><a href="./docs?surface=${name}">Reference</a>, <a href=".${path}/openapi.json"><code>openapi.json</code></a></p>
</section>
`;
}
