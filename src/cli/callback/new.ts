/** `callback new`: pays for a webhook address. The only command that prints the read token. */
import { printable } from '../../base/printable.ts';
import { command, EXIT_OK } from '../command.ts';
import { baseOf, payingClient } from '../paying-client.ts';
import { exchange, json, refused, url } from './callback-client.ts';
import { oneLine } from './event-line.ts';

interface CallbackAnswer {
  readonly id: string;
  readonly callback_url: string;
  readonly read_token: string;
  readonly expires_at: string;
}

/** Members that people see, in this order. */
const SHOWN = ['id', 'callback_url', 'read_token', 'expires_at'] as const satisfies readonly (keyof CallbackAnswer)[];

export const newCallback = command({
  name: 'new',
  summary: 'Pays for a callback and prints its address and read token',
  notes: [
    'Pays with the key in PRIVATE_KEY. Without a key it makes a throwaway wallet, which can pay a server with SETTLEMENT=local.',
  ],
  options: { url, json },
  async run({ options }, io) {
    const base = baseOf(options.url);
    const { address, payingFetch } = await payingClient(io.env.PRIVATE_KEY || undefined);
    io.stderr.write(`paying from ${address}\n`);
    const answer = await exchange(`${base}/v1/callbacks`, { method: 'POST' }, payingFetch);
    if (answer.status !== 201) throw refused(answer);
    const callback = JSON.parse(answer.text) as CallbackAnswer;
    if (options.json) {
      io.stdout.write(`${oneLine(answer.text)}\n`);
      return EXIT_OK;
    }
    for (const name of SHOWN) io.stdout.write(`${name.padEnd(12)}  ${printable(String(callback[name]))}\n`);
    return EXIT_OK;
  },
});
