/**
 * GET /sales: the books of this server, for its operator. The page itself holds no data: its script asks `/admin/v1/sales`
 * with the token that the operator types in. The script holds the token in a variable, sends it only in the Authorization
 * header, and forgets it with the page; the field has no name, and the policy forbids submitting forms.
 */
import { pageRoute } from './document.ts';
import { html } from './html.ts';
import { tokenForm } from './token-form.ts';

const MAIN = html`<h1>Sales</h1>
<p class="lead">The books of this server: what it sold, day by day, and which answers were paid for and did not go out.</p>
${tokenForm('Show the books')}
<noscript><p class="note">This page needs JavaScript. Without it: <code>paygrade sales --help</code></p></noscript>
<div id="books" hidden>
<div class="panel operator-bar">
<p class="choice"><label for="period">Period</label> <select id="period"><option value="7">7 days</option><option value="30" selected>30 days</option><option value="90">90 days</option><option value="400">400 days</option></select></p>
<p class="choice"><label for="measure">Chart</label> <select id="measure"><option value="sales" selected>Sales</option><option value="amount">USDC</option></select></p>
<p class="operator-actions"><button type="button" id="refresh" class="plain">Refresh</button> <button type="button" id="forget" class="plain">Forget the token</button></p>
<p id="state" class="state" role="status"></p>
</div>
<div id="settlements"></div>
<section aria-labelledby="undelivered-title">
<h2 id="undelivered-title" tabindex="-1">Undelivered sales</h2>
<p class="hint">Paid, but the client had left before the whole answer went out, or the server was killed right after it. An answer of the last moments before a kill may have arrived all the same. Oldest first.</p>
<ol id="undelivered" class="undelivered"></ol>
<p id="none-undelivered" class="empty" hidden>Nothing in this period.</p>
<p class="actions"><button type="button" id="more" class="plain" hidden>Show more</button></p>
</section>
</div>
<template id="settlement-template"><section>
<h2 data-part="title" tabindex="-1"></h2>
<p class="note" data-part="note"></p>
<dl class="figures">
<div><dt>Sales</dt><dd data-part="sales"></dd></div>
<div><dt>USDC</dt><dd data-part="amount"></dd></div>
<div><dt>Undelivered</dt><dd data-part="undelivered"></dd></div>
</dl>
<figure class="chart">
<figcaption><span data-part="measure"></span> a day <span class="faint">by operation, UTC</span></figcaption>
<div class="plot"><span class="plot-max" data-part="max"></span></div>
<div class="plot-days"><span data-part="first-day"></span><span data-part="last-day"></span></div>
<ul class="legend" data-part="legend"></ul>
</figure>
<div class="days-box" data-part="days-box" role="region" tabindex="0">
<table class="days"><thead><tr><th scope="col">Day</th><th scope="col">Operation</th><th scope="col">Sales</th><th scope="col">USDC</th><th scope="col">Undelivered</th></tr></thead>
<tbody data-part="days"></tbody></table>
</div>
</section></template>
<template id="sale-template"><li class="panel sale">
<h3><span data-part="amount"></span> <span class="faint" data-part="operation"></span></h3>
<p class="faint"><time data-part="time"></time></p>
<dl>
<div><dt>Request</dt><dd class="mono" data-part="request"></dd></div>
<div><dt>Payer</dt><dd class="mono" data-part="payer"></dd></div>
<div><dt>Transaction</dt><dd class="mono" data-part="transaction"></dd></div>
</dl>
</li></template>`;

export const sales = pageRoute('salesPage', '/sales', 'The books of this server, for its operator', {
  title: 'Sales – paygrade',
  description: 'The books of this server.',
  styles: ['operator.css', 'sales.css'],
  scripts: ['sales.js'],
  main: () => MAIN,
});
