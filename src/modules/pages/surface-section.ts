/** The home page's section about a surface beside the base: its operations, what they cost, and where its keys come from. */
import { creditsOf } from '../../access/credits.ts';
import { perClient } from '../../access/rate-limit.ts';
import { waysIn } from '../../http/access.ts';
import { pathTemplateOf } from '../../http/documents/openapi.ts';
import type { Operation } from '../../http/operation.ts';
import type { SurfaceView } from '../module.ts';
import { exampleUrl } from './example-url.ts';
import { type Html, html } from './html.ts';

const isKeyed = ({ access }: Operation): boolean =>
  waysIn(access).some(({ documentation }) => documentation.security !== undefined);

function costCell(operation: Operation): Html {
  const cost = creditsOf(operation.access);
  if (cost === undefined) return html`free`;
  return cost === 'record'
    ? html`1 <span class="unit">credit a record</span>`
    : html`${cost} <span class="unit">credit${cost === 1 ? '' : 's'}</span>`;
}

const rowOf = (operation: Operation): Html => html`<tr>
<th scope="row">${operation.summary}<code class="usage">${operation.method} ${pathTemplateOf(operation.path)}</code></th>
<td class="price">${costCell(operation)}</td>
</tr>
`;

/** @param surfacePath path of the surface below the base */
function openList(products: readonly Operation[], surfacePath: string): Html | undefined {
  const open = products.filter(
    (one) => !isKeyed(one) && one.access.every((way) => way === perClient) && one.method === 'GET',
  );
  if (open.length === 0) return undefined;
  const links = open.map(
    (one, i) =>
      html`${i === 0 ? undefined : ', '}<a href="${exampleUrl(one, `.${surfacePath}`)}"><code>${one.path}</code></a>`,
  );
  return html`<p>Open to all, without a key: ${links}.</p>`;
}

/** @returns the section; its links to answers are relative, below the path at which the surface always answers */
export function surfaceSection({ title, description, path, mount, operations }: SurfaceView): Html {
  const name = path.slice(1);
  const products = operations.filter(({ tag }) => tag !== 'service');
  const keyed = products.filter(isKeyed);
  const [first] = keyed;
  return html`<section aria-labelledby="surface-${name}">
<h2 id="surface-${name}">${title}</h2>
<p>${description}</p>
${
  first === undefined
    ? undefined
    : html`<p>Keys and credits come from the operator of this server. Send a key with every request, and read on as long as
<code>next_cursor</code> is not <code>null</code>:</p>
<pre data-copy><code>curl -i -H "Authorization: Bearer $KEY" '${exampleUrl(first, mount.baseUrl)}'</code></pre>`
}
<table class="prices">
<thead><tr><th scope="col">Request below <code>${mount.baseUrl}</code></th><th scope="col" class="price">Cost</th></tr></thead>
<tbody>
${keyed.map(rowOf)}</tbody>
</table>
${openList(products, path)}
<p><a href="./docs?surface=${name}">Reference</a>, <a href=".${path}/openapi.json"><code>openapi.json</code></a></p>
</section>
`;
}
