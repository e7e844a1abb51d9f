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
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Exposition } from '../../base/prometheus.ts';
import { zeroCounts } from '../../base/zero-counts.ts';
import type { PlainResponse } from '../../http/plain-response.ts';
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
import { announcesBody } from './node-exchange.ts';
import { ServedSocket, type SocketPorts, type WaitingTotal } from './served-socket.ts';
import { TurnEnd } from './turn-end.ts';

export interface RequestPorts {
  /** Never throws and never rejects. */
  answer(incoming: IncomingMessage, outgoing: ServerResponse): MaybePromise<PlainResponse>;
  /** Never throws. */
  write(response: PlainResponse, outgoing: ServerResponse): void;
}

interface Answer {
  readonly response: PlainResponse;
  readonly served: ServedSocket;
  readonly outgoing: ServerResponse;
}

/** Why a connection was not accepted: too many in all, or of its client network. */
const REFUSALS = ['all', 'address'] as const;
/**
 * Why a connection was closed: too many waiting requests; too many bytes of them on all connections; more unread output
 * than one connection may leave; no output accepted for too long; too much unread output on all connections.
 */
const CLOSINGS = ['waiting', 'waiting_total', 'unread', 'stalled', 'unread_total'] as const;

/** Whether its client has no more of it to send, and so is not reset in the middle of that when the connection closes. */
const isReceived = (incoming: IncomingMessage): boolean => incoming.complete || !announcesBody(incoming);

export class ServedSockets {
  readonly #requests: RequestPorts;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #networks: NetworkCounts;
  readonly #served = new Map<Socket, ServedSocket>();
  readonly #waiting: WaitingTotal = { bytes: 0 };
  readonly #ports: SocketPorts;
  readonly #turnEnd: TurnEnd<Answer>;
  /** Sockets whose next request can begin, in the order of turns. */
  readonly #ready = new Set<ServedSocket>();
  readonly #refused = zeroCounts(REFUSALS);
  readonly #closed = zeroCounts(CLOSINGS);
  /** Bytes of unread output at the last check, and bytes added since. */
  #unreadBytes = 0;
  #uncheckedBytes = 0;
  #isClosing = false;
  /** At the last look for idle connections: those found, and how much each had received. */
  #idleBytesRead: ReadonlyMap<ServedSocket, number> = new Map();

  constructor({ connectionsPerAddress }: ConnectionBounds, requests: RequestPorts, clock: Pick<Clock, 'monotonicMs'>) {
    this.#networks = new NetworkCounts(connectionsPerAddress);
    this.#requests = requests;
    this.#clock = clock;
    this.#turnEnd = new TurnEnd(({ response, served, outgoing }) => {
      if (this.#isClosing && served.waitingCount === 0 && isReceived(outgoing.req)) outgoing.shouldKeepAlive = false;
      requests.write(response, outgoing);
      this.#countUnread(served);
    }, clock);
    this.#ports = {
      // The parser consumes a small body before the end of the turn, so it is read without listeners and promises. A tick
      // would be too early: ticks run between the head, the pieces of the body and the end.
      handle: (served, incoming, outgoing) => {
        if (announcesBody(incoming)) this.#turnEnd.run(() => this.#handle(served, incoming, outgoing));
        else this.#handle(served, incoming, outgoing);
      },
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
    const isWaiting = served.tryWait(incoming, outgoing);
    if (isWaiting && this.#waiting.bytes <= WAITING_BYTES_TOTAL_MAX) return;
    this.#turnEnd.flush(); // perhaps with an answer for this client
    this.#close(served, isWaiting ? 'waiting_total' : 'waiting');
  }

  /** Writes the answers gathered so far. */
  flush(): void {
    this.#turnEnd.flush();
  }

  /** Whether a part of an answer has been written, and perhaps all of it, and the next request has not begun. */
  isAnswering(socket: Socket): boolean {
    return this.#served.get(socket)?.isAnswering === true;
  }

  /** True while no request runs or waits, and the kernel has accepted every answer. */
  isIdle(socket: Socket): boolean {
    return this.#served.get(socket)?.isIdle !== false;
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

  /** From now on an answer behind which no request waits is the last of its connection. */
  beginClosing(): void {
    this.#isClosing = true;
  }

  /** Closes the connections that are idle and have received nothing since the last call. */
  closeIdle(): void {
    const idleBytesRead = new Map<ServedSocket, number>();
    for (const served of this.#served.values()) {
      if (!served.isIdle) continue;
      const { bytesRead } = served.socket;
      if (this.#idleBytesRead.get(served) === bytesRead) served.socket.destroy();
      else idleBytesRead.set(served, bytesRead);
    }
    this.#idleBytesRead = idleBytesRead;
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
    const turnEnd = this.#turnEnd;
    const response = this.#requests.answer(incoming, outgoing);
    if (response instanceof Promise) {
      void response.then((later) => turnEnd.write({ response: later, served, outgoing }));
      turnEnd.look();
    } else turnEnd.write({ response, served, outgoing });
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
    this.#turnEnd.flush();
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
    if (served.socket.destroyed) return; // for its unread output, when the gathered answers were written
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
