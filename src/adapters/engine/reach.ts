/**
 * Tests whether a service's machine can be reached, by a second connection while a question has no answer yet. This
 * distinguishes a machine that is off or cut off, where nothing refuses packets, from a slow service. The question's
 * own connection cannot show that: it may have been open before, and Bun's `fetch` reports nothing about connecting.
 */
import { bareHostOf } from '../../base/ip-address.ts';
import { portOf } from '../../base/parsed-url.ts';
import { nodeNet } from '../process/late-modules.ts';
import { systemTimers } from '../process/system-timers.ts';

/**
 * Never rejects. A refused connection is an answer by the machine, so it can be reached.
 * @param url base address of the service
 */
export function isReachable(url: string, withinMs: number): Promise<boolean> {
  const address = new URL(url);
  const at = { host: bareHostOf(address.hostname), port: portOf(address) };
  return new Promise((resolve) => {
    const socket = nodeNet().connect(at);
    const end = (isReached: boolean): void => {
      cancel();
      socket.destroy();
      resolve(isReached);
    };
    const cancel = systemTimers.after(withinMs, () => end(false));
    socket.on('connect', () => end(true));
    socket.on('error', () => end(true));
  });
}
