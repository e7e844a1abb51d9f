/** `retry create`: has a server send a request until it works, for a payment or with an API key. */
import { parseJson } from '../../base/json-value.ts';
import { printable } from '../../base/printable.ts';
import { oneLine } from '../callback/event-line.ts';
import { command, EXIT_OK, UsageError } from '../command.ts';
import { exchange, objectFrom, refused } from '../exchange.ts';
import { refusedPurchase, walletOf } from '../paying-client.ts';
import { json, key, keyFrom, retryApiOf, url } from './retry-client.ts';

/** `name: value` lines as an object. @throws UsageError */
function headersOf(text: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of (text ?? '').split('\n').filter((one) => one.trim() !== '')) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new UsageError('--headers must be lines of the form `name: value`');
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return headers;
}

/** JSON text as it is, other text as a JSON string. */
const bodyText = (given: string): string => (parseJson(given) === undefined ? JSON.stringify(given) : given);

export const createRetry = command({
  notes: [
    'Pays with the key in PRIVATE_KEY, or spends a credit of the organization with --key. Without either it makes a throwaway wallet, which can pay a server with SETTLEMENT=local.',
    '--data that is JSON goes out as JSON, byte by byte; any other text as text/plain.',
  ],
  arguments: [{ name: 'TARGET', help: 'address to send the request to, https', count: 'one' }],
  options: {
    url,
    key,
    json,
    method: {
      type: 'text',
      value: 'METHOD',
      help: 'GET, POST, PUT, PATCH or DELETE (default POST with --data, else GET)',
    },
    headers: { type: 'text', value: 'LINES', help: 'headers of the request, one `name: value` a line' },
    data: { type: 'text', value: 'TEXT', help: 'body of the request' },
    'max-attempts': { type: 'integer', value: 'N', min: 1, max: 10, help: 'attempts at most (default 5)' },
    deadline: { type: 'integer', value: 'SECONDS', min: 60, max: 86_400, help: 'give up after this (default a day)' },
    'callback-url': { type: 'text', value: 'URL', help: 'address that gets the signed completion event' },
    'idempotency-key': {
      type: 'text',
      value: 'TEXT',
      help: 'with a key or PRIVATE_KEY: the same text and request make one job',
    },
  },
  async run({ options, arguments: [target] }, io) {
    const { data, deadline, 'max-attempts': attempts, 'callback-url': callbackUrl } = options;
    const method = options.method ?? (data === undefined ? 'GET' : 'POST');
    const request = JSON.stringify({ method, url: target, headers: headersOf(options.headers) });
    const whole = data === undefined ? request : `${request.slice(0, -1)},"body":${bodyText(data)}}`;
    const rest = JSON.stringify({
      ...(attempts !== undefined && { policy: { max_attempts: attempts } }),
      ...(callbackUrl !== undefined && { callback_url: callbackUrl }),
      ...(deadline !== undefined && { deadline_seconds: deadline }),
    });
    const body = `{"request":${whole}${rest === '{}' ? '}' : `,${rest.slice(1)}`}`;
    const given = keyFrom(options.key, io);
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      ...(given && { authorization: `Bearer ${given}` }),
      ...(options['idempotency-key'] !== undefined && { 'idempotency-key': options['idempotency-key'] }),
    };
    if (options['idempotency-key'] !== undefined && !given && !io.env.PRIVATE_KEY) {
      throw new UsageError(
        '--idempotency-key needs --key or PRIVATE_KEY: a throwaway wallet is another customer each time',
      );
    }
    const send = given ? fetch : (await walletOf(io)).payingFetch;
    const answer = await exchange(
      `${retryApiOf(options.url, io.env)}/v1/retries`,
      { method: 'POST', headers, body },
      send,
    );
    if (answer.status !== 201 && answer.status !== 200) throw given ? refused(answer) : refusedPurchase(answer, io);
    const made = objectFrom<Record<string, unknown>>(answer, 'status_url');
    if (options.json) {
      io.stdout.write(`${oneLine(answer.text)}\n`);
      return EXIT_OK;
    }
    for (const name of ['id', 'status_url', 'read_token', 'callback_secret', 'expires_at']) {
      const value = made[name];
      if (typeof value === 'string') io.stdout.write(`${name.padEnd(17)}${printable(value)}\n`);
    }
    return EXIT_OK;
  },
});
