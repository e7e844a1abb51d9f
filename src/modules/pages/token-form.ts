/** The form in which an operator enters the admin token (`pages/operator.js`). */
import { type Html, html } from './html.ts';

/** @param submit text of the button */
export const tokenForm = (
  submit: string,
): Html => html`<form id="token-form" class="panel" autocomplete="off" novalidate>
<div class="field">
<label for="token">Admin token</label>
<p class="hint" id="token-hint">The value of <code>ADMIN_TOKEN</code>. It stays in this page: no cookie, no storage, no address.</p>
<input id="token" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="token-hint token-error">
<p class="error" id="token-error" aria-live="polite"></p>
<p class="hint" id="token-state" role="status"></p>
</div>
<p class="actions"><button type="submit" class="button">${submit}</button></p>
</form>`;
