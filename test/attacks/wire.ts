/** Sockets of attackers: what HTTP libraries refuse to send, and answers that stay unread. */
import { connect, type Socket } from 'node:net';
import { BEGUN, type Counts, Repeated, type Target } from './attack.ts';

export interface WirePlan {
  readonly count: number;
  /** The client's address of the connection with this index. */
  readonly from: (index: number) => string;
  /** What is sent as soon as the connection stands. Asked again for every new connection. */
  readonly bytes: (index: number) => Buffer;
  /** Whether the attacker reads what comes. */
  readonly isReading: boolean;
  /** A connection is ended and opened again after this long, and `reopenMs` after the server has ended it. */
  readonly renewMs: number;
  readonly reopenMs: number;
}

/** Keeps a number of connections that have sent their bytes, for as long as the attack goes on. */
export class Wires {
  readonly #target: Target;
  readonly #plan: WirePlan;
  readonly #counts: Counts;
  readonly #loop = new Repeated();
  readonly #sockets = new Set<Socket>();

  constructor(target: Target, plan: WirePlan, counts: Counts) {
    this.#target = target;
    this.#plan = plan;
    this.#counts = counts;
  }

  open(): void {
    for (let index = 0; index < this.#plan.count; index++) this.#openOne(index);
  }

  close(): void {
    this.#loop.stop();
    for (const socket of this.#sockets) socket.destroy();
  }

  #openOne(index: number): void {
    if (this.#loop.isStopped) return;
    const { from, bytes, isReading, renewMs, reopenMs } = this.#plan;
    const socket = connect({ host: '127.0.0.1', port: this.#target.port, localAddress: from(index) });
    this.#sockets.add(socket);
    let isRenewed = false;
    socket.on('connect', () => {
      this.#counts.add(BEGUN);
      const text = bytes(index);
      this.#counts.add('bytes sent', text.length);
      socket.write(text);
    });
    if (isReading) socket.on('data', (data) => this.#counts.add('bytes read', data.length));
    else socket.pause();
    socket.on('error', (failure: NodeJS.ErrnoException) => this.#counts.add(failure.code ?? 'error'));
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (!isRenewed) this.#counts.add('ended by the server');
      this.#loop.after(isRenewed ? 0 : reopenMs, () => this.#openOne(index));
    });
    this.#loop.after(renewMs, () => {
      isRenewed = true;
      socket.destroy();
    });
  }
}

/** The head of a request without a body; behind a proxy it names the client. */
export function headOf(target: Target, method: string, path: string, from: string, ...lines: string[]): string {
  const forwarded = target.isProxied ? [`X-Forwarded-For: ${from}`] : [];
  return [`${method} ${path} HTTP/1.1`, 'Host: x', ...forwarded, ...lines, '', ''].join('\r\n');
}
