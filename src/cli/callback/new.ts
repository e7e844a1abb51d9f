/** `callback new`: pays for a webhook address and prints its read token. */
import { command, EXIT_OK } from '../command.ts';
import { walletOf } from '../paying-client.ts';
import { serverOf } from '../server-address.ts';
import { buyCallback, callbackLines } from './buy.ts';
import { json, url } from './callback-client.ts';
import { oneLine } from './event-line.ts';

export const newCallback = command({
  notes: [
    'Pays with the key in PRIVATE_KEY. Without a key it makes a throwaway wallet, which can pay a server with SETTLEMENT=local.',
  ],
  options: { url, json },
  async run({ options }, io) {
    const base = serverOf(options.url, io.env);
    const callback = await buyCallback(base, await walletOf(io), io);
    io.stdout.write(options.json ? `${oneLine(callback.text)}\n` : callbackLines(callback));
    return EXIT_OK;
  },
});
