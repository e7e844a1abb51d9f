/**
 * `resolve URL`: pays for the content behind an address and shows it; waits if it is still pending after the answer.
 */
import { printable } from '../base/printable.ts';
import { WAIT_SECONDS_DEFAULT, WAIT_SECONDS_MAX, WORK_MS } from '../resolve/limits.ts';
import { INCLUDES } from '../resolve/result.ts';
import { CommandError, command, EXIT_FAILED, EXIT_OK, UsageError } from './command.ts';
import { type Answer, exchange, objectFrom, patientExchange, pause, refused } from './exchange.ts';
import type { Io } from './io.ts';
import { refusedPurchase, walletOf } from './paying-client.ts';
import { serverOf, URL_OPTION } from './server-address.ts';
import { NEVER_STOPPED } from './stop-signal.ts';

const POLL_PAUSE_MS = 1_000;
/** Until some seconds after the work of a resolve must have ended. */
const POLL_COUNT_MAX = (WORK_MS + 10_000) / POLL_PAUSE_MS;

interface Resolved {
  readonly id: string;
  readonly status: string;
  readonly read_token?: string;
  readonly expires_at: string;
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly failure: { readonly code: string; readonly message: string } | null;
}

/** @throws UsageError */
function includeOf(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  const unknown = parts.find((part) => !(INCLUDES as readonly string[]).includes(part));
  if (unknown !== undefined) throw new UsageError(`--include takes ${INCLUDES.join(', ')}, comma-separated`);
  return [...new Set(parts)];
}

async function buy(base: string, body: object, io: Io): Promise<Answer> {
  const { payingFetch } = await walletOf(io);
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await exchange(`${base}/resolve/v1/resolve`, init, payingFetch);
  if (answer.status !== 200 && answer.status !== 202) throw refusedPurchase(answer, io);
  return answer;
}

/** Asks each second until the resolve has ended, even across a restart of the server. @throws CommandError */
async function outcomeOf(base: string, created: Resolved, io: Io): Promise<Resolved> {
  if (created.status !== 'pending') return created;
  const readToken = created.read_token ?? '';
  // The resolve is paid for: whatever ends the waiting, the token still gives its result.
  io.stderr.write(`${printable(`${created.id} is under way; its read token is ${readToken}`)}\n`);
  const target = `${base}/resolve/v1/resolves/${encodeURIComponent(created.id)}`;
  for (let count = 0; count < POLL_COUNT_MAX; count++) {
    await pause(POLL_PAUSE_MS, NEVER_STOPPED);
    const init = { headers: { authorization: `Bearer ${readToken}` }, signal: NEVER_STOPPED };
    const answer = await patientExchange(target, init, io);
    if (answer.status !== 200) throw refused(answer);
    const shown = objectFrom<Resolved>(answer, 'failure');
    if (shown.status !== 'pending') return { ...shown, read_token: readToken };
  }
  throw new CommandError(`${created.id} has not ended`);
}

/** The members of a result, a line each; its text and links last. */
function linesOf({ result, read_token: readToken, id, expires_at: expiresAt }: Resolved): string {
  const { metadata, text, links, redirects, warnings, ...facts } = result as Record<string, unknown>;
  const values = { ...facts, ...(metadata as object | null), id, read_token: readToken, expires_at: expiresAt };
  const shown = Object.entries(values).filter(([, value]) => value !== null && String(value) !== '');
  const lines = shown.map(([name, value]) => `${name.padEnd(15)} ${printable(String(value), 500)}\n`);
  const hops = (redirects as readonly { readonly url: string; readonly status_code: number }[]).map(
    (hop) => `redirect        ${hop.status_code} ${printable(hop.url)}\n`,
  );
  const warned = (warnings as readonly string[]).map((warning) => `warning         ${printable(warning)}\n`);
  const list = ((links as readonly { readonly url: string; readonly text: string }[] | null) ?? []).map(
    (link) => `link            ${printable(link.url)}  ${printable(link.text)}\n`,
  );
  // Printable keeps no line breaks, so a text is shown line by line.
  const body =
    typeof text === 'string'
      ? `\n${text
          .split('\n')
          .map((line) => printable(line, Number.POSITIVE_INFINITY))
          .join('\n')}\n`
      : '';
  return [...hops, ...lines, ...warned, ...list].join('') + body;
}

export const resolveUrl = command({
  notes: [
    'Pays with the key in PRIVATE_KEY. Without a key it makes a throwaway wallet, which can pay a server with SETTLEMENT=local.',
    'A failure within --wait costs nothing; one that comes later is paid for. Exit code 1 for both.',
  ],
  arguments: [{ name: 'TARGET', help: 'address to fetch, http or https', count: 'one' }],
  options: {
    include: {
      type: 'text',
      value: 'PARTS',
      help: `what to extract: ${INCLUDES.join(', ')}, comma-separated`,
      default: 'metadata',
    },
    wait: {
      type: 'integer',
      value: 'SECONDS',
      min: 0,
      max: WAIT_SECONDS_MAX,
      help: 'how long the answer may take',
      default: WAIT_SECONDS_DEFAULT,
    },
    url: URL_OPTION,
    json: { type: 'flag', help: 'the answer as one line of JSON' },
  },
  async run({ options, arguments: [target] }, io) {
    const base = serverOf(options.url, io.env);
    const body = { url: target, include: includeOf(options.include), max_wait_seconds: options.wait };
    const answer = await buy(base, body, io);
    const ended = await outcomeOf(base, objectFrom<Resolved>(answer, 'failure'), io);
    if (options.json) io.stdout.write(`${JSON.stringify(ended)}\n`);
    if (ended.failure !== null) {
      io.stderr.write(`${printable(ended.failure.code)}: ${printable(ended.failure.message)}\n`);
      return EXIT_FAILED;
    }
    if (!options.json) io.stdout.write(linesOf(ended));
    return EXIT_OK;
  },
});
