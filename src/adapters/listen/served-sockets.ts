/**
 * All sockets of the Node listener: how many there may be, one handler at a time on each, and how much unread output
 * they may hold. A socket that exceeds a bound is closed; the others are not affected.
 *
 * Cost of a request: one look into a map, one listener for the end of its answer. Cost in the background: one pass over all
 * sockets each second.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Exposition } from '../../base/prometheus.ts';
import { zeroCounts } from '../../base/zero-counts.ts';
import {
  UNREAD_BYTES_MAX,
  UNREAD_BYTES_TOTAL_LEFT,
  UNREAD_BYTES_TOTAL_MAX,
  UNREAD_BYTES_UNCHECKED_MAX,
  UNREAD_MS,
  WAITED_TURN_MS,
  WAITING_BYTES_TOTAL_MAX,
  WRITE_TIMEOUT_MS,
} from './limits.ts';
import type { ConnectionBounds } from './listen.ts';
import { NetworkCounts } from './network-counts.ts';
import { ServedSocket, type SocketPorts, type WaitingTotal } from './served-socket.ts';

/**
 * Writes the answer to `outgoing` before it returns, or before its promise resolves; never throws and never rejects.
 */
export type AnswerRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | undefined;

/** Why a connection was not accepted: too many in all, or of its client network. */
const REFUSALS = ['all', 'address'] as const;
/**
 * Why a connection was closed: too many waiting requests; too many bytes of them on all connections; more unread output
 * than one connection may leave; no output accepted for too long; too much unread output on all connections.
 */
const CLOSINGS = ['waiting', 'waiting_total', 'unread', 'stalled', 'unread_total'] as const;

export class ServedSockets {
  readonly #answerRequest: AnswerRequest;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #networks: NetworkCounts;
  readonly #served = new Map<Socket, ServedSocket>();
  readonly #waiting: WaitingTotal = { bytes: 0 };
  readonly #ports: SocketPorts;
  /** Sockets whose next request can begin, in the order of turns. */
  readonly #ready = new Set<ServedSocket>();
  readonly #refused = zeroCounts(REFUSALS);
  readonly #closed = zeroCounts(CLOSINGS);
  /** Bytes of unread output at the last check, and bytes added since. */
  #unreadBytes = 0;
  #uncheckedBytes = 0;

  constructor(
    { connectionsPerAddress }: ConnectionBounds,
    answerRequest: AnswerRequest,
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.#networks = new NetworkCounts(connectionsPerAddress);
    this.#answerRequest = answerRequest;
    this.#clock = clock;
    this.#ports = {
      handle: (served, incoming, outgoing) => this.#handle(served, incoming, outgoing),
      onReady: (served) => this.#schedule(served),
      waitingTotal: this.#waiting,
    };
  }

  /** A client has connected. */
  open(socket: Socket): void {
    const network = this.#networks.countedNetworkOf(socket.remoteAddress ?? '');
    if (network !== undefined && !this.#networks.tryAdd(network)) {
      this.#refused.address++;
      socket.destroy();
      return;
    }
    const served = new ServedSocket(socket, network, this.#ports);
    this.#served.set(socket, served);
    socket.once('close', () => this.#forget(served));
  }

  /** Counts a connection that the server closed because it had its maximum. */
  countRefused(): void {
    this.#refused.all++;
  }

  /** Runs the handler of a request now, or after those of the requests before it. */
  receive(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const served = this.#served.get(incoming.socket);
    // The parser consumes all of its input, even if the socket was closed meanwhile.
    if (served === undefined || served.socket.destroyed) return;
    if (served.isIdle) {
      served.start(incoming, outgoing);
      return;
    }
    if (!served.tryWait(incoming, outgoing)) this.#close(served, 'waiting');
    else if (this.#waiting.bytes > WAITING_BYTES_TOTAL_MAX) this.#close(served, 'waiting_total');
  }

  /** Looks at the output of every connection and closes those that leave too much of it unread. */
  check(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#uncheckedBytes = 0;
    let unreadBytes = 0;
    for (const served of this.#served.values()) {
      const { writableLength, destroyed } = served.socket;
      if (destroyed) continue;
      if (writableLength === 0) {
        served.stalledSinceMs = undefined;
        served.largeSinceMs = undefined;
        continue;
      }
      if (!this.#closeIfUnread(served, writableLength, nowMs)) unreadBytes += writableLength;
    }
    this.#unreadBytes = unreadBytes > UNREAD_BYTES_TOTAL_MAX ? this.#closeLargest(unreadBytes) : unreadBytes;
  }

  metrics(page: Exposition): void {
    let waitingCount = 0;
    for (const served of this.#served.values()) waitingCount += served.waitingCount;
    page
      .single('paygrade_connections_open', 'gauge', 'Open client connections.', this.#served.size)
      .single('paygrade_connection_waiting_requests', 'gauge', 'Pipelined requests that wait.', waitingCount)
      .single('paygrade_connection_unread_bytes', 'gauge', 'Output that clients have not read.', this.#unreadBytes)
      .family('paygrade_connections_refused_total', 'counter', 'Connections that were not accepted, by bound.');
    for (const reason of REFUSALS) page.sample(this.#refused[reason], { reason });
    page.family('paygrade_connections_closed_total', 'counter', 'Connections closed for their behaviour, by bound.');
    for (const reason of CLOSINGS) page.sample(this.#closed[reason], { reason });
  }

  #handle(served: ServedSocket, incoming: IncomingMessage, outgoing: ServerResponse): void {
    // Closed between the head of a request and the turn of its handler.
    if (served.socket.destroyed) return;
    const answered = this.#answerRequest(incoming, outgoing);
    if (answered === undefined) this.#countUnread(served);
    else void answered.then(() => this.#countUnread(served));
  }

  /**
   * Waiting requests begin in a later turn, so that one client's seventeen requests do not delay another client's one.
   */
  #schedule(served: ServedSocket): void {
    if (this.#ready.size === 0) setImmediate(this.#runReady);
    this.#ready.add(served);
  }

  readonly #runReady = (): void => {
    const untilMs = this.#clock.monotonicMs() + WAITED_TURN_MS;
    for (const served of this.#ready) {
      this.#ready.delete(served);
      served.startNext();
      if (this.#clock.monotonicMs() >= untilMs) break;
    }
    if (this.#ready.size > 0) setImmediate(this.#runReady);
  };

  /** Checks all connections when much unread output was added since the last check. */
  #countUnread({ socket }: ServedSocket): void {
    this.#uncheckedBytes += socket.writableLength;
    if (this.#uncheckedBytes > UNREAD_BYTES_UNCHECKED_MAX) this.check();
  }

  /** @returns whether it closed the connection */
  #closeIfUnread(served: ServedSocket, unreadBytes: number, nowMs: number): boolean {
    const acceptedBytes = served.socket.bytesWritten - unreadBytes;
    if (served.stalledSinceMs === undefined || served.acceptedBytes !== acceptedBytes) {
      served.stalledSinceMs = nowMs;
      served.acceptedBytes = acceptedBytes;
    }
    if (unreadBytes <= UNREAD_BYTES_MAX) served.largeSinceMs = undefined;
    else served.largeSinceMs ??= nowMs;
    if (served.largeSinceMs !== undefined && nowMs - served.largeSinceMs >= UNREAD_MS) {
      this.#close(served, 'unread');
      return true;
    }
    if (nowMs - served.stalledSinceMs < WRITE_TIMEOUT_MS) return false;
    this.#close(served, 'stalled');
    return true;
  }

  /** Closes the connections with the most unread output; among equals the one stalled longest comes first. */
  #closeLargest(totalBytes: number): number {
    let leftBytes = totalBytes;
    const unread = [...this.#served.values()]
      .map((served) => ({ served, bytes: served.socket.destroyed ? 0 : served.socket.writableLength }))
      .filter(({ bytes }) => bytes > 0)
      .sort((a, b) => b.bytes - a.bytes || (a.served.stalledSinceMs ?? 0) - (b.served.stalledSinceMs ?? 0));
    for (const { served, bytes } of unread) {
      if (leftBytes <= UNREAD_BYTES_TOTAL_LEFT) break;
      this.#close(served, 'unread_total');
      leftBytes -= bytes;
    }
    return leftBytes;
  }

  #close(served: ServedSocket, reason: (typeof CLOSINGS)[number]): void {
    this.#closed[reason]++;
    served.drop();
    served.socket.destroy();
  }

  #forget(served: ServedSocket): void {
    served.drop();
    this.#served.delete(served.socket);
    if (served.network !== undefined) this.#networks.remove(served.network);
  }
}
