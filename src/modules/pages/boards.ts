/**
 * GET /boards: the watched boards, for the operator. Like /sales, the page itself holds no data: its script asks
 * `/admin/v1/boards` with the token that the operator types in, and forgets the token with the page.
 */
import { BOARD_HEALTHS } from '../../catalogue/watched-boards.ts';
import { pageRoute } from './document.ts';
import { html } from './html.ts';
import { tokenForm } from './token-form.ts';

const MAIN = html`<h1>Boards</h1>
<p class="lead">The boards that feed this catalogue: the health of each, what each day brought, and the companies that buyers cannot ask for yet.</p>
${tokenForm('Show the boards')}
<noscript><p class="note">This page needs JavaScript. Without it: <code>paygrade boards --catalogue DIR</code></p></noscript>
<div id="opened" hidden>
<div class="panel operator-bar">
<p class="choice"><label for="period">Period</label> <select id="period"><option value="7">7 days</option><option value="30" selected>30 days</option><option value="90">90 days</option></select></p>
<p class="choice"><label for="health">Boards</label> <select id="health"><option value="" selected>all</option>${BOARD_HEALTHS.map(
  (health) => html`<option value="${health}">${health}</option>`,
)}</select></p>
<p class="operator-actions"><button type="button" id="refresh" class="plain">Refresh</button> <button type="button" id="forget" class="plain">Forget the token</button></p>
<p id="state" class="state" role="status"></p>
</div>
<section aria-labelledby="health-title">
<h2 id="health-title" tabindex="-1">Health</h2>
<dl class="figures" id="figures"></dl>
</section>
<section aria-labelledby="days-title">
<h2 id="days-title">Changes by day</h2>
<figure class="chart">
<figcaption>Jobs a day <span class="faint">that fetches of boards found opened, changed or closed, UTC</span></figcaption>
<div class="plot" id="plot"><span class="plot-max" id="plot-max"></span></div>
<div class="plot-days"><span id="first-day"></span><span id="last-day"></span></div>
<ul class="legend" id="legend"></ul>
</figure>
<div class="days-box" role="region" tabindex="0" aria-label="Days">
<table class="days"><thead><tr><th scope="col">Day</th><th scope="col">Fetches</th><th scope="col">Opened</th><th scope="col">Changed</th><th scope="col">Closed</th><th scope="col">Reopened</th></tr></thead>
<tbody id="days"></tbody></table>
</div>
</section>
<section aria-labelledby="missing-title">
<h2 id="missing-title">Companies without a domain</h2>
<p class="hint">Buyers ask for a company by its domain. A domain that you set here counts like one of <code>paygrade companies set</code>: the next build applies it.</p>
<p id="missing-count" class="faint"></p>
<ol id="missing" class="missing"></ol>
</section>
<section aria-labelledby="boards-title">
<h2 id="boards-title">Boards</h2>
<p id="boards-count" class="faint" role="status"></p>
<ol id="boards" class="boards"></ol>
<p class="actions"><button type="button" id="more" class="plain" hidden>Show more</button></p>
</section>
</div>
<template id="board-template"><li class="panel board">
<h3><span class="health" data-part="health"></span> <span data-part="name"></span></h3>
<p class="faint"><span data-part="company"></span><span data-part="domain"></span></p>
<dl>
<div><dt>Jobs</dt><dd data-part="jobs"></dd></div>
<div><dt>Last fetch</dt><dd data-part="last"></dd></div>
<div><dt>Next fetch</dt><dd data-part="next"></dd></div>
<div data-part="reason-row"><dt>Why</dt><dd data-part="reason"></dd></div>
</dl>
</li></template>
<template id="missing-template"><li class="missing-company">
<form autocomplete="off" novalidate>
<label><span data-part="company"></span> <span class="faint" data-part="jobs"></span>
<input type="text" inputmode="url" autocapitalize="off" spellcheck="false" placeholder="example.com" data-part="domain"></label>
<button type="submit" class="plain" data-part="button">Set the domain</button>
<p class="said" data-part="said" role="status"></p>
</form>
</li></template>`;

export const boards = pageRoute('boardsPage', '/boards', 'The watched boards of this server, for its operator', {
  title: 'Boards – paygrade',
  description: 'The watched boards of this server.',
  styles: ['operator.css', 'boards.css'],
  scripts: ['boards.js'],
  main: () => MAIN,
});
