/**
 * GET /inbox: shows the events of a callback as they arrive, to a visitor who enters its address and read token. The page
 * sends the token only in the Authorization header: its fields have no names, and its policy forbids submitting forms.
 */
import { MINUTE_MS } from '../../base/durations.ts';
import { EVENT_COUNT_MAX, LIFETIME_MS, PAYLOAD_BYTES_MAX, WAIT_SECONDS_MAX } from '../../callback/limits.ts';
import { pageRoute } from './document.ts';
import { type Html, html } from './html.ts';
import type { PageServices } from './services.ts';

function main({ facts }: PageServices): Html {
  const minutes = LIFETIME_MS / MINUTE_MS;
  const kilobytes = PAYLOAD_BYTES_MAX / 1024;
  return html`<h1>Inbox</h1>
<p class="lead">Watch webhooks arrive at a callback. You need its address and its read token.</p>
<form id="watch-form" class="panel" autocomplete="off" novalidate>
<div class="field">
<label for="address">Callback address</label>
<p class="hint" id="address-hint">The callback URL, its id, or the whole answer of <code>POST /v1/callbacks</code>.</p>
<input id="address" type="text" inputmode="url" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="address-hint address-error" placeholder="https://…/hooks/cb_…">
<p class="error" id="address-error" aria-live="polite"></p>
</div>
<div class="field">
<label for="token">Read token</label>
<p class="hint" id="token-hint">The token stays in this page. It appears in no address and no storage, and only requests to this server carry it.</p>
<input id="token" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="token-hint token-error" placeholder="svc_cb_sk_…">
<p class="error" id="token-error" aria-live="polite"></p>
</div>
<p class="actions"><button type="submit" class="button">Watch</button></p>
</form>
<noscript><p class="note">Watching needs JavaScript. Without it: <code>curl -H "Authorization: Bearer $READ_TOKEN" ${facts.baseUrl}/v1/callbacks/cb_…/wait</code></p></noscript>
<section id="watched" hidden aria-labelledby="watched-id" data-wait-seconds="${WAIT_SECONDS_MAX - 5}" data-event-count-max="${EVENT_COUNT_MAX}" data-hooks="${facts.hookBaseUrl}/hooks/" data-lifetime-ms="${LIFETIME_MS}">
<div class="panel">
<div class="watched-head">
<h2 id="watched-id" class="mono" tabindex="-1"></h2>
<p id="state" class="state" role="status"></p>
</div>
<div class="meter"><span id="time-left" role="timer"></span><progress id="time-bar" max="1" value="1" aria-label="Share of the lifetime that is left"></progress><span id="event-count" role="status"></span></div>
<div id="sending"><p class="hint">Send something to it:</p><pre data-copy><code id="send-command"></code></pre></div>
<p class="actions"><button type="button" id="stop" class="plain">Stop and forget the token</button> <button type="button" id="delete" class="plain danger">Delete the callback</button></p>
</div>
<ol id="events" class="events" reversed aria-label="Events, newest first"></ol>
<p id="no-events" class="empty">No event yet. Webhooks to the callback appear here.</p>
</section>
<dialog id="delete-dialog" aria-labelledby="delete-title">
<h2 id="delete-title">Delete this callback?</h2>
<p>Its address stops working and its events are deleted. There is no refund.</p>
<p class="actions"><button type="button" id="delete-confirm" class="button danger">Delete</button> <button type="button" id="delete-cancel" class="plain">Keep it</button></p>
</dialog>
<template id="event-template"><li class="panel event"><article>
<header><h3><span data-part="method"></span> <span data-part="size"></span></h3><p><time data-part="time"></time> <span data-part="type"></span></p><p class="mono faint" data-part="id"></p></header>
<div class="event-bar"><h4>Body</h4><button type="button" class="plain" data-part="copy-body">Copy</button></div><pre data-part="body" tabindex="0" role="group" aria-label="Body"></pre><p class="hint" data-part="inexact" hidden>The page could not read the exact bytes, so long numbers may be rounded here.</p>
<details><summary data-part="headers-title"></summary><table class="headers"><tbody data-part="headers"></tbody></table></details>
<details data-part="raw"><summary data-part="raw-title"></summary><div class="event-bar"><button type="button" class="plain" data-part="copy-hex">Copy as hex</button> <a class="plain" data-part="download">Download</a></div><pre data-part="hex" tabindex="0" role="group" aria-label="Bytes in hex"></pre><button type="button" class="plain" data-part="all-hex" hidden></button></details>
</article></li></template>
<section aria-labelledby="about"><h2 id="about">About callbacks</h2>
<p>A callback lives ${minutes} minutes and stores up to ${EVENT_COUNT_MAX} events of up to ${kilobytes} KiB each: JSON, text and forms. Creating one
is a paid request, see <a href="./docs">the reference</a>; receiving and reading are free. The server deletes its events with it.</p></section>`;
}

export const inbox = pageRoute('inboxPage', '/inbox', 'A callback and its events as they arrive, for people', {
  title: 'Inbox – paygrade',
  description: 'Watch the events of a callback arrive.',
  scripts: ['copy.js', 'inbox.js'],
  main,
});
