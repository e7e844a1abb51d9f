/** GET /: the operations and prices of this server, the facts of its catalogue, and how to buy a first answer. */
import { priceOf } from '../../access/x402.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../base/durations.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import { isoDate, isoTime } from '../../base/iso-time.ts';
import { memoizeByObject } from '../../base/memoize-by-object.ts';
import type { ServedCatalogue } from '../../catalogue/holder.ts';
import { COHORT_ROWS_MAX } from '../../catalogue/limits.ts';
import { type ObservationDays, observationDays } from '../../catalogue/questions/observation-days.ts';
import { percentOf, type Reach, reachOf } from '../../catalogue/questions/reach.ts';
import type { Snapshot } from '../../catalogue/snapshot/snapshot.ts';
import type { Operation } from '../../http/operation.ts';
import { pageRoute } from './document.ts';
import { exampleUrl } from './example-url.ts';
import { type Html, html } from './html.ts';
import { everyOperation, type PageServices } from './services.ts';
import { isOpen, surfaceSection } from './surface-section.ts';

/** Days that the chart shows. */
const CHART_DAY_COUNT = 30;

const observedDaysOf = memoizeByObject((snapshot: Snapshot) => observationDays(snapshot, CHART_DAY_COUNT));

const minuteOf = (ms: number): string => `${isoTime(ms).slice(0, 16).replace('T', ' ')} UTC`;

const AGES = [
  [DAY_MS, 'day'],
  [HOUR_MS, 'hour'],
  [MINUTE_MS, 'minute'],
] as const;

/** The age of a time, in the largest unit that fits. */
export function ageOf(ms: number, nowMs: number): string {
  const ageMs = nowMs - ms;
  for (const [unitMs, unit] of AGES) {
    const count = Math.floor(ageMs / unitMs);
    if (count >= 1) return `${quantity(count, unit)} ago`;
  }
  return ageMs < 0 ? 'in the future' : 'less than a minute ago';
}

function priceRow(operation: Operation): Html {
  const names = Object.keys(operation.query?.entries ?? {});
  return html`<tr>
<th scope="row">${operation.summary}<code class="usage">${operation.method} ${operation.path}${
    names.length === 0 ? undefined : html`<wbr><span class="faint">?${names.join(', ')}</span>`
  }</code></th>
<td class="price">${priceOf(operation.access)} <span class="unit">USDC</span></td>
</tr>
`;
}

/** Draws bars in a box of 100 by 100 that the browser stretches; the labels are text beside it, which it does not stretch. */
function chart({ firstDayMs, counts }: ObservationDays): Html {
  const max = Math.max(...counts, 1);
  const lastDayMs = firstDayMs + (counts.length - 1) * DAY_MS;
  const width = 100 / counts.length;
  const bars = Array.from(counts, (count, day) => {
    const height = (100 * count) / max;
    const label = `${isoDate(firstDayMs + day * DAY_MS)}: ${grouped(count)}`;
    return html`<rect x="${(day * width + width * 0.12).toFixed(3)}" y="${(100 - height).toFixed(3)}" width="${(
      width * 0.76
    ).toFixed(3)}" height="${height.toFixed(3)}"><title>${label}</title></rect>`;
  });
  const rows = Array.from(
    counts,
    (count, day) =>
      html`<tr><th scope="row">${isoDate(firstDayMs + day * DAY_MS)}</th><td>${grouped(count)}</td></tr>\n`,
  );
  const summary = `Jobs by the day they were last observed, ${isoDate(firstDayMs)} to ${isoDate(lastDayMs)}; at most ${grouped(max)} on one day.`;
  return html`<figure class="chart">
<figcaption>Observations a day <span class="faint">jobs, by the UTC day on which their source last showed them</span></figcaption>
<div class="plot"><span class="plot-max">${grouped(max)}</span>
<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="${summary}">${bars}</svg></div>
<div class="plot-days"><span>${isoDate(firstDayMs)}</span><span>${isoDate(lastDayMs)}</span></div>
<details><summary>The same as a table</summary>
<table class="days"><thead><tr><th scope="col">Day</th><th scope="col">Jobs last observed</th></tr></thead>
<tbody>
${rows}</tbody></table>
</details>
</figure>`;
}

const cohortFigure = ({
  cohortShare,
  observationDays: days,
}: Reach): Html => html`<div><dt>In the cohort</dt><dd>${percentOf(cohortShare)}<small>of the active jobs, last observed on ${quantity(days, 'day')}</small></dd></div>
`;

const COHORT_TEXT = html`Search looks at every active job. Counts of paid answers are over a cohort: the ${grouped(COHORT_ROWS_MAX)} most recently observed active
jobs of the whole catalogue or of one company. Each such answer states its coverage and its freshness; where there are more jobs than the cohort holds, totals are
<code>null</code> instead of guesses. `;

function catalogueSection(
  served: ServedCatalogue | undefined,
  nowMs: number,
  { has, remoteCatalogue }: PageServices,
): Html {
  if (served === undefined && remoteCatalogue !== undefined) {
    return html`<section aria-labelledby="catalogue"><h2 id="catalogue">What the catalogue holds</h2>
<p>Jobs services hold the catalogue. Each answer states how much of it it covers, and how fresh it is.${
      remoteCatalogue.canAsk() ? undefined : ' They cannot be reached now: the answer is 503 and costs nothing.'
    }</p>
</section>`;
  }
  if (served === undefined) {
    return html`<section aria-labelledby="catalogue"><h2 id="catalogue">What the catalogue holds</h2>
<p>This server has no catalogue: the answer to questions about jobs is 503 and costs nothing.${
      has('callbacks') ? ' You can buy callbacks.' : undefined
    }</p>
</section>`;
  }
  const { snapshot } = served.catalogue;
  const { activeCount, companyCount, newestObservedMs } = snapshot;
  const closedCount = snapshot.rowCount - activeCount;
  const reach = reachOf(snapshot);
  const observed = observedDaysOf(snapshot);
  return html`<section aria-labelledby="catalogue">
<h2 id="catalogue">What the catalogue holds</h2>
${
  served.isSynthetic
    ? html`<p class="note"><strong>Sample data.</strong> Every job and company in this catalogue is made up.</p>`
    : undefined
}
<dl class="figures">
<div><dt>Active jobs</dt><dd>${grouped(activeCount)}${
    closedCount === 0 ? undefined : html`<small>and ${grouped(closedCount)} closed</small>`
  }</dd></div>
<div><dt>Companies</dt><dd>${grouped(companyCount)}<small>with a job, active or closed</small></dd></div>
<div><dt>Newest observation</dt><dd>${
    newestObservedMs === null
      ? 'none'
      : html`<time datetime="${isoTime(newestObservedMs)}">${ageOf(newestObservedMs, nowMs)}</time><small>${minuteOf(newestObservedMs)}</small>`
  }</dd></div>
<div><dt>Can be asked for by company</dt><dd>${percentOf(reach.domainShare)}<small>of the active jobs${
    has('jobs') ? html`; <a href="./v1/companies?q=example">/v1/companies</a> finds the domain of a company` : undefined
  }</small></dd></div>
${has('jobs') ? cohortFigure(reach) : undefined}</dl>
${observed === undefined ? undefined : chart(observed)}
<p>${has('jobs') ? COHORT_TEXT : undefined}The figures describe this catalogue, not the labour market.</p>
</section>`;
}

const CLIENT_PACKAGES = '@x402/fetch @x402/evm viem';

/** A script that runs when pasted into a file: with play money from a throwaway wallet, else from the wallet of PRIVATE_KEY. */
function clientScript(url: string, method: string, { network, isPlay }: PageServices['facts']): string {
  const init = method === 'GET' ? '' : `, { method: '${method}' }`;
  return `import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { ExactEvmScheme } from '@x402/evm';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

${
  isPlay
    ? '// A throwaway wallet: this server settles with play money.\nconst account = privateKeyToAccount(generatePrivateKey());'
    : '// PRIVATE_KEY: the key of a wallet with USDC. The throwaway wallet without it is refused with 402.\n' +
      'const account = privateKeyToAccount(process.env.PRIVATE_KEY ?? generatePrivateKey());'
}
const schemes = [{ network: '${network.id}', client: new ExactEvmScheme(account) }];
const payingFetch = wrapFetchWithPaymentFromConfig(fetch, { schemes });

const answer = await payingFetch('${url}'${init});
console.log(answer.status, answer.headers.get('PAYMENT-RESPONSE'));
console.log(JSON.stringify(await answer.json(), null, 2));`;
}

function buyingSection(operation: Operation, { facts }: PageServices): Html {
  const { baseUrl, network, isPlay, payTo } = facts;
  const url = exampleUrl(operation, baseUrl);
  const { method } = operation;
  return html`<section aria-labelledby="buy">
<h2 id="buy">Buy a first answer</h2>
<ol class="steps">
<li><h3>Ask for the price</h3>
<p>The answer is <code>402</code> with an offer in its body and, for programs, in its <code>PAYMENT-REQUIRED</code> header.</p>
<pre data-copy><code>curl -i ${method === 'GET' ? '' : `-X ${method} `}'${url}'</code></pre></li>
<li><h3>Let an x402 client pay</h3>
<p>Any client of <a href="https://github.com/x402-foundation/x402">x402</a> version 2 signs the transfer and repeats the request. ${
    isPlay
      ? html`This server settles with play money, so a wallet without funds is enough.`
      : html`The wallet needs ${priceOf(operation.access)} USDC on ${network.name}, and no gas.`
  }</p>
<pre data-copy><code>npm install ${CLIENT_PACKAGES}</code></pre>
<p>Save this as <code>buy.mjs</code> beside them, and run <code>${isPlay ? '' : 'PRIVATE_KEY=0x… '}node buy.mjs</code>:</p>
<pre data-copy><code id="client">${clientScript(url, method, facts)}</code></pre></li>
<li><h3>Read the answer and keep the receipt</h3>
<p>A signed authorization buys exactly one answer. A question without an answer costs nothing. If the outcome of a settlement is
unknown, the server keeps checking it, and <code>GET /v1/payments/{network}/{payer}/{nonce}</code> returns its status, free.</p></li>
</ol>
<dl class="terms">
<div><dt>Network</dt><dd><code>${network.id}</code> ${network.name}</dd></div>
<div><dt>Settlement</dt><dd>${isPlay ? 'play money, nothing on a chain' : `USDC on ${network.name}, by an x402 facilitator`}</dd></div>
<div><dt>Paid to</dt><dd><code>${payTo}</code></dd></div>
</dl>
</section>`;
}

/** The operation of the page's example purchase: one about jobs if there is a catalogue. */
function firstPurchase(paid: readonly Operation[], hasJobs: boolean): Operation | undefined {
  const ofJobs = paid.filter(({ path }) => path.startsWith('/v1/jobs/') === hasJobs);
  return ofJobs[0] ?? paid[0];
}

const headingOf = ({ has }: PageServices): string => {
  if (has('jobs')) return 'Answers about hiring, one request at a time';
  if (has('data')) return 'Jobs, companies and history over HTTP';
  return has('callbacks') ? 'Webhook addresses for ten minutes' : 'Answers over HTTP, one request at a time';
};

/** What a payment brings. */
const broughtBy = ({ has }: PageServices): string => {
  if (has('jobs')) return 'JSON that states how much of the catalogue it covers';
  return has('callbacks') ? 'an address for webhooks' : 'the answer';
};

/** The heading of the page, by the products of the server. */
function hero(services: PageServices, first: Operation | undefined): Html {
  const { facts, has } = services;
  const isPaid = everyOperation(services).some(({ access }) => priceOf(access) !== undefined);
  return html`<h1>${headingOf(services)}</h1>
<p class="lead">${
    isPaid
      ? html`Send an HTTP request, get its price, sign a USDC transfer, and receive ${broughtBy(services)}. No account, no key, no subscription.`
      : undefined
  }${isPaid && has('data') ? ' ' : undefined}${
    has('data')
      ? html`${isPaid ? 'To read' : 'Read'} the whole catalogue page by page${isPaid ? ', there are API keys' : ' with an API key'}: <a href="#surface-data">the Jobs Data API</a>.`
      : undefined
  }</p>
${
  facts.isPlay && isPaid
    ? html`<p class="note"><strong>Play money.</strong> This server verifies signatures, but payments move play money and nothing reaches a chain.</p>`
    : undefined
}
<p class="actions">${first === undefined ? undefined : html`<a class="button" href="#buy">Buy a first answer</a>`} <a href="./docs">Read the reference</a></p>
`;
}

function pricesSection(
  paid: readonly Operation[],
  free: readonly Operation[],
  { has }: PageServices,
): Html | undefined {
  if (paid.length === 0) return undefined;
  return html`<section aria-labelledby="prices">
<h2 id="prices">What is sold</h2>
<table class="prices">
<thead><tr><th scope="col">Request</th><th scope="col" class="price">Price</th></tr></thead>
<tbody>
${paid.map(priceRow)}</tbody>
</table>
<p>Free: ${free.map((operation, i) => html`${i === 0 ? undefined : ', '}<a href="${exampleUrl(operation, '.')}"><code>${operation.path}</code></a>`)}.
${
  has('callbacks')
    ? html`A callback is a webhook address for ten minutes; after you pay for it, receiving and reading cost nothing.
Watch one in the <a href="./inbox">inbox</a>.`
    : undefined
}</p>
</section>
`;
}

function main(services: PageServices): Html {
  const { catalogue, clock, has, otherSurfaces, remoteCatalogue } = services;
  const operations = services.operations();
  const served = catalogue.current();
  const paid = operations.filter((operation) => priceOf(operation.access) !== undefined);
  const free = operations.filter((operation) => isOpen(operation) && !operation.path.includes(':'));
  const first = firstPurchase(paid, served !== undefined || remoteCatalogue !== undefined);
  return html`${hero(services, first)}${pricesSection(paid, free, services)}${
    has('jobs') || has('data') ? catalogueSection(served, clock.nowMs(), services) : undefined
  }
${first === undefined ? undefined : buyingSection(first, services)}${otherSurfaces().map(surfaceSection)}`;
}

export const home = pageRoute('homePage', '/', 'What this server sells, for people', {
  title: 'paygrade: answers over HTTP',
  description: 'What this server has, what it costs, and how to ask.',
  scripts: ['copy.js'],
  main,
});
