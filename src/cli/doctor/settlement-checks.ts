/**
 * Checks of the payment setup: the recipient, the facilitator, the difference between the clocks, the size of the offers.
 */
import { offerOf } from '../../access/payment-offer.ts';
import { priceAt } from '../../access/x402.ts';
import { supportOf } from '../../adapters/facilitator/facilitator-support.ts';
import { type Config, publicAddressesOf } from '../../app/configuration.ts';
import { MODULES } from '../../app/modules.ts';
import { sellerOf } from '../../app/payments.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { isLoopbackHost } from '../../base/ip-address.ts';
import { objectOf, parseJson } from '../../base/json-value.ts';
import { type Address, type Network, networkOf, SCHEME, ZERO_ADDRESS } from '../../payment/protocol/network.ts';
import { SEARCH_BYTES_MAX } from '../../payment/protocol/requirements.ts';
import { ask } from './ask.ts';
import { type Findings, oneLine } from './finding.ts';

const TIMEOUT_MS = 5000;

export function checkPayTo(findings: Findings, { payTo, settlement }: Config): void {
  if (payTo === null) findings.ok('a throwaway address, stored in the state; the server sends nothing to it');
  else if (settlement === 'local')
    findings.note(`${payTo}, but SETTLEMENT=local moves no money`, 'set SETTLEMENT=facilitator to be paid');
  else findings.ok(`${payTo}; this server does not hold its key`);
}

/** Seconds. The server's clock judges the validity of authorizations, which lasts 6 s at least and 150 s at most. */
const SKEW_MEND_SECONDS = 20;
const SKEW_NOTE_SECONDS = 5;

function checkClock(findings: Findings, dateHeader: string | null, askedMs: number, answeredMs: number): void {
  const theirMs = dateHeader === null ? Number.NaN : Date.parse(dateHeader);
  if (Number.isNaN(theirMs)) {
    findings.skipped('the facilitator sends no Date header to compare with');
    return;
  }
  // The header has whole seconds, rounded down: its mean error is half a second.
  const skewSeconds = Math.round((askedMs + answeredMs) / 2 - (theirMs + 500)) / 1000;
  const found = `this clock is ${Math.abs(skewSeconds).toFixed(1)} s ${skewSeconds < 0 ? 'behind' : 'ahead of'} the facilitator's`;
  const mend = 'synchronise the clock with NTP (timedatectl set-ntp true)';
  if (Math.abs(skewSeconds) > SKEW_MEND_SECONDS) findings.mend(`${found}; the server refuses valid payments`, mend);
  else if (Math.abs(skewSeconds) > SKEW_NOTE_SECONDS) findings.note(found, mend);
  else findings.ok(found);
}

function checkSupported(findings: Findings, text: string, network: Network): void {
  const fields = objectOf(parseJson(text));
  const support = supportOf(fields, network);
  switch (support.kind) {
    case 'unreadable':
      findings.mend(support.words, 'set FACILITATOR_URL to the address above /verify and /settle');
      return;
    case 'none':
      findings.mend(
        support.words,
        `choose a facilitator for ${network.name}, or set NETWORK to a network that it settles on`,
      );
      return;
    case 'asset':
      findings.mend(support.words, `choose a facilitator that settles USDC on ${network.name}`);
      return;
    case 'domain':
      findings.note(support.words);
      break;
    case 'supported':
      break;
    default:
      support satisfies never;
  }
  findings.ok(`settles ${SCHEME} on ${network.id}`);
  const extensions = fields?.extensions;
  if (Array.isArray(extensions) && extensions.includes('bazaar')) findings.ok('lists paid operations (bazaar)');
  else
    findings.note(
      'it does not say that it lists paid operations (bazaar); /.well-known/x402 and /openapi.json work without it',
    );
}

/** Findings about the facilitator, and about the clock if the facilitator sends its time. */
export async function checkFacilitator(
  findings: Findings,
  { network, settlement, facilitatorUrl, facilitatorToken }: Config,
  clock: Clock,
): Promise<void> {
  if (settlement === 'local' || facilitatorUrl === null) {
    findings.note(
      'SETTLEMENT=local: the server verifies signatures and moves payments in a play ledger, without a blockchain',
    );
    if (facilitatorUrl !== null)
      findings.mend(
        'FACILITATOR_URL is not used with SETTLEMENT=local, which is the default',
        'set SETTLEMENT=facilitator to sell for real, or remove FACILITATOR_URL',
      );
    return;
  }
  const { protocol, hostname } = new URL(facilitatorUrl);
  if (protocol === 'http:' && !isLoopbackHost(hostname)) {
    findings.mend(
      'FACILITATOR_URL is http: others can read and change its answers and the token on the way',
      'use https',
    );
  }
  const headers: Record<string, string> = { accept: 'application/json' };
  if (facilitatorToken !== null) headers.authorization = `Bearer ${facilitatorToken}`;
  const askedMs = clock.nowMs();
  const asked = await ask(`${facilitatorUrl}/supported`, { headers, timeoutMs: TIMEOUT_MS });
  if (asked.kind === 'failed') {
    findings.mend(`cannot be reached: ${asked.code}`, 'check FACILITATOR_URL, DNS and the firewall');
    return;
  }
  const { status } = asked;
  if (status === 401 || status === 403) {
    findings.mend(
      `refuses this server (${status})`,
      facilitatorToken === null ? 'set FACILITATOR_TOKEN' : 'set FACILITATOR_TOKEN to a token that it accepts',
    );
  } else if (status === 0 || (status >= 300 && status < 400)) {
    const target = (asked.headers.get('location') ?? 'not given').replace(/\/supported$/, '');
    findings.mend(
      `redirects (${status}); the server never follows a redirect with a payment`,
      `set FACILITATOR_URL to the target: ${oneLine(target)}`,
    );
  } else if (status !== 200) {
    findings.mend(
      `answers /supported with ${status}`,
      status === 404 ? 'set FACILITATOR_URL to the address above /supported' : 'try again; ask its operator',
    );
  } else checkSupported(findings, asked.text, networkOf(network));
  checkClock(findings.of('clock'), asked.headers.get('date'), askedMs, clock.nowMs());
}

/** Bytes: nginx's default `proxy_buffer_size` on x86. All headers of an answer must fit. */
const NGINX_HEAD_BYTES = 4096;
/** Bytes of the other headers of a 402. */
const OTHER_HEAD_BYTES = 400;

export function checkOffers(findings: Findings, config: Config): void {
  const { baseUrl } = publicAddressesOf(config, config.port);
  const seller = sellerOf(config, config.payTo ?? (ZERO_ADDRESS as Address));
  let usual = 0;
  let largest = 0;
  try {
    for (const route of MODULES.flatMap(({ routes }) => routes)) {
      const priceUsdc = priceAt(route.access, seller);
      if (priceUsdc === undefined) continue;
      const offer = offerOf(route, priceUsdc, seller, { baseUrl, labels: {} });
      usual = Math.max(usual, offer.challenge('').header.length);
      largest = Math.max(largest, offer.challenge(`?${'a'.repeat(SEARCH_BYTES_MAX - 1)}`).header.length);
    }
  } catch (failure) {
    findings.mend(messageOf(failure), 'shorten BASE_URL');
    return;
  }
  const found = `PAYMENT-REQUIRED has ${usual} bytes, ${largest} with the longest query`;
  const isProxied = config.trustProxy || config.baseUrl !== null;
  if (isProxied && largest + OTHER_HEAD_BYTES > NGINX_HEAD_BYTES) {
    findings.note(
      `${found}; nginx allows ${NGINX_HEAD_BYTES} bytes of headers by default and answers longer ones with 502`,
      'nginx: proxy_buffer_size 16k; proxy_buffers 8 16k; large_client_header_buffers 4 16k',
    );
  } else findings.ok(found);
}
