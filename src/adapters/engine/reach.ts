/**
 * Whether a service's machine can be reached: a connection beside a question that has no answer yet. It tells a machine that is off
 * or cut off, whose packets nothing refuses, from a service that is slow, and it sees what the question's own connection does not
 * say: that one may have been open before, and Bun's `fetch` tells nothing of connecting.
 */
import { nodeNet } from '../process/late-modules.ts';
import { systemTimers } from '../process/system-timers.ts';

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * Never rejects. A refused connection is an answer of the machine: it can be reached.
 * @param url base address of the service
 */
export function isReachable(url: string, withinMs: number): Promise<boolean> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = nodeNet().connect({ host, port: port === '' ? (DEFAULT_PORTS[protocol] as number) : Number(port) });
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
