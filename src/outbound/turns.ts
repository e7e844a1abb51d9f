/**
 * Turns of outbound requests (siblings §5): a bounded number of slots, at most four of them for one host. Customers take turns.
 *
 * - A customer that holds half of the slots gets no further one while another customer waits.
 * - A host that has not answered for two seconds gets no further slot while another line could use it, and all such hosts
 *   together hold at most half of the slots.
 *
 * Every customer has one line for each host that it waits for. A line is `ready` (its customer takes it in turn), `passed`
 * (ready, but its customer is at its half) or `parked` at a host that cannot take more. A line is parked only when its turn
 * comes, and a host that can take more makes as many of its parked lines ready as it has room for. So a turn costs O(1) on
 * average, however many requests wait.
 */
import type { Clock } from '../base/clock.ts';
import { Queue } from '../base/queue.ts';
import { HOST_SLOTS_MAX, SILENCE_MS, SILENT_HOSTS_MAX, SILENT_KEPT_MS, SILENT_LOOKS_MAX } from './limits.ts';

/** A slot in use. */
export interface Turn {
  /** The host has answered. */
  answered(): void;
  /** Returns the slot; later calls do nothing. */
  end(): void;
}

interface Waiting {
  /** undefined: the wait was aborted. */
  grant: ((turn: Turn) => void) | undefined;
}

interface Line {
  readonly customer: Customer;
  readonly host: Host;
  readonly waiting: Queue<Waiting>;
  /** Number in {@link waiting} without those aborted. */
  liveCount: number;
}

interface Customer {
  readonly name: string;
  inUse: number;
  waitingCount: number;
  readonly lines: Map<Host, Line>;
  readonly ready: Queue<Line>;
  readonly passed: Queue<Line>;
  isInTurns: boolean;
}

interface Host {
  readonly name: string;
  inUse: number;
  /** Lines of all customers. */
  lineCount: number;
  /** Lines of this host that are ready. */
  readyCount: number;
  readonly parked: Queue<Line>;
  /** Time of its last answer, monotonic. */
  answeredMs: number;
  /** Monotonic; undefined: the host is not silent. */
  silentSinceMs: number | undefined;
  /** Whether it is in the queue of silent hosts with parked lines. */
  isListed: boolean;
  /** Whether it is in the queue of remembered silent hosts. */
  isRemembered: boolean;
}

interface Begun {
  readonly host: Host;
  readonly startMs: number;
  isOver: boolean;
}

export class OutboundTurns {
  readonly #slots: number;
  readonly #half: number;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #customers = new Map<string, Customer>();
  readonly #hosts = new Map<string, Host>();
  /** Customers with lines that are ready or passed. */
  readonly #turns = new Queue<Customer>();
  /** Silent hosts with parked lines. */
  readonly #silent = new Queue<Host>();
  /** Requests in the order in which they began, to notice silence. */
  readonly #begun = new Queue<Begun>();
  /** Hosts in the order in which they fell silent. */
  readonly #remembered = new Queue<Host>();
  #inUse = 0;
  #silentInUse = 0;
  #waitingCount = 0;

  constructor(slots: number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#slots = slots;
    this.#half = Math.max(1, Math.floor(slots / 2));
    this.#clock = clock;
  }

  get counts(): {
    readonly inUse: number;
    readonly waiting: number;
    readonly hosts: number;
    readonly customers: number;
  } {
    const { size: hosts } = this.#hosts;
    return { inUse: this.#inUse, waiting: this.#waitingCount, hosts, customers: this.#customers.size };
  }

  /** @returns undefined when the signal ended the wait */
  take(customerName: string, hostName: string, signal?: AbortSignal): Promise<Turn | undefined> {
    if (signal?.aborted === true) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const line = this.#lineOf(customerName, hostName);
      const onAbort = (): void => {
        waiting.grant = undefined;
        this.#countWaiting(line, -1);
        resolve(undefined);
        this.#serve();
      };
      const waiting: Waiting = {
        grant: (turn) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(turn);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      line.waiting.push(waiting);
      this.#countWaiting(line, 1);
      this.#serve();
    });
  }

  #lineOf(customerName: string, hostName: string): Line {
    let customer = this.#customers.get(customerName);
    if (customer === undefined) {
      const ready = new Queue<Line>();
      const passed = new Queue<Line>();
      customer = { name: customerName, inUse: 0, waitingCount: 0, lines: new Map(), ready, passed, isInTurns: false };
      this.#customers.set(customerName, customer);
    }
    const host = this.#hostOf(hostName);
    let line = customer.lines.get(host);
    if (line === undefined) {
      line = { customer, host, waiting: new Queue(), liveCount: 0 };
      customer.lines.set(host, line);
      host.lineCount++;
      this.#makeReady(line);
    }
    return line;
  }

  #hostOf(name: string): Host {
    let host = this.#hosts.get(name);
    if (host === undefined) {
      host = {
        name,
        inUse: 0,
        lineCount: 0,
        readyCount: 0,
        parked: new Queue(),
        answeredMs: Number.NEGATIVE_INFINITY,
        silentSinceMs: undefined,
        isListed: false,
        isRemembered: false,
      };
      this.#hosts.set(name, host);
    }
    return host;
  }

  #countWaiting(line: Line, change: 1 | -1): void {
    line.liveCount += change;
    line.customer.waitingCount += change;
    this.#waitingCount += change;
  }

  #makeReady(line: Line): void {
    const { customer, host } = line;
    host.readyCount++;
    customer.ready.push(line);
    this.#enterTurns(customer);
  }

  #enterTurns(customer: Customer): void {
    if (customer.isInTurns) return;
    customer.isInTurns = true;
    this.#turns.push(customer);
  }

  #serve(): void {
    this.#noteSilence();
    while (this.#inUse < this.#slots && this.#waitingCount > 0) {
      const line = this.#nextReady() ?? this.#nextSilent();
      if (line === undefined) return;
      this.#grant(line);
    }
  }

  #isAtHalf({ inUse, waitingCount }: Customer): boolean {
    return inUse >= this.#half && this.#waitingCount > waitingCount;
  }

  /** A line, out of every queue, whose customer and host may have a slot. */
  #nextReady(): Line | undefined {
    // At most two customers are at their half, so few of these rounds pass over one.
    for (let passedOver = 0; passedOver < this.#turns.length; ) {
      const customer = this.#turns.shift() as Customer; // the length is above 0
      const isAtHalf = this.#isAtHalf(customer);
      if (isAtHalf) passedOver++;
      const line = isAtHalf ? this.#passOver(customer) : this.#readyLineOf(customer);
      customer.isInTurns = false;
      if (customer.ready.length + customer.passed.length > 0) this.#enterTurns(customer);
      if (line !== undefined) return line;
    }
    return undefined;
  }

  /** Passes over a customer's ready lines, so that other customers' lines of the same hosts become ready. */
  #passOver(customer: Customer): undefined {
    for (let line = customer.ready.shift(); line !== undefined; line = customer.ready.shift()) {
      line.host.readyCount--;
      customer.passed.push(line);
      this.#readyParked(line.host);
    }
  }

  #readyLineOf(customer: Customer): Line | undefined {
    for (;;) {
      const passed = customer.passed.shift();
      const line = passed ?? customer.ready.shift();
      if (line === undefined) return undefined;
      if (passed === undefined) line.host.readyCount--;
      if (line.liveCount === 0) {
        this.#forget(line);
        // Being ready, it kept other lines of its host parked.
        this.#readyParked(line.host);
      } else if (canTakeMore(line.host)) return line;
      else this.#park(line);
    }
  }

  #park(line: Line): void {
    line.host.parked.push(line);
    this.#listSilent(line.host);
  }

  #listSilent(host: Host): void {
    if (host.silentSinceMs === undefined || host.isListed || host.parked.length === 0) return;
    host.isListed = true;
    this.#silent.push(host);
  }

  /** As {@link #nextReady}, for a silent host. */
  #nextSilent(): Line | undefined {
    if (this.#silentInUse >= this.#half) return undefined;
    for (let left = Math.min(this.#silent.length, SILENT_LOOKS_MAX); left > 0; left--) {
      const host = this.#silent.shift() as Host; // left counts them
      host.isListed = false;
      const line = host.inUse < HOST_SLOTS_MAX ? this.#parkedLineOf(host) : undefined;
      this.#listSilent(host);
      if (line !== undefined) return line;
    }
    return undefined;
  }

  #parkedLineOf(host: Host): Line | undefined {
    for (let left = host.parked.length; left > 0; left--) {
      const line = host.parked.shift() as Line; // left counts them
      if (line.liveCount === 0) this.#forget(line);
      else if (this.#isAtHalf(line.customer)) host.parked.push(line);
      else return line;
    }
    return undefined;
  }

  /** Makes parked lines of a host ready, as many as it can take. */
  #readyParked(host: Host): void {
    if (!canTakeMore(host)) return;
    while (host.readyCount < HOST_SLOTS_MAX - host.inUse) {
      const line = host.parked.shift();
      if (line === undefined) return;
      if (line.liveCount === 0) this.#forget(line);
      else this.#makeReady(line);
    }
  }

  /** @param line out of every queue */
  #grant(line: Line): void {
    const { customer, host } = line;
    let waiting = line.waiting.shift();
    while (waiting !== undefined && waiting.grant === undefined) waiting = line.waiting.shift();
    const grant = waiting?.grant as (turn: Turn) => void; // liveCount > 0
    this.#countWaiting(line, -1);
    customer.inUse++;
    host.inUse++;
    this.#inUse++;
    const wasSilent = host.silentSinceMs !== undefined;
    if (wasSilent) this.#silentInUse++;
    const begun: Begun = { host, startMs: this.#clock.monotonicMs(), isOver: false };
    this.#begun.push(begun);
    if (line.liveCount > 0) this.#makeReady(line);
    else this.#forget(line);
    grant({
      answered: () => this.#noteAnswer(host),
      end: () => {
        if (begun.isOver) return;
        this.#noteSilence();
        begun.isOver = true;
        if (wasSilent) this.#silentInUse--;
        this.#end(customer, host);
      },
    });
  }

  #end(customer: Customer, host: Host): void {
    customer.inUse--;
    host.inUse--;
    this.#inUse--;
    this.#readyParked(host);
    this.#forgetCustomer(customer);
    this.#forgetHost(host);
    this.#serve();
  }

  #noteAnswer(host: Host): void {
    host.answeredMs = this.#clock.monotonicMs();
    if (host.silentSinceMs === undefined) return;
    this.#breakSilence(host);
    this.#serve();
  }

  /** Looks at every request once, when it is two seconds old; one that has ended by then shows no silence. */
  #noteSilence(): void {
    const nowMs = this.#clock.monotonicMs();
    for (let oldest = this.#begun.first; oldest !== undefined; oldest = this.#begun.first) {
      const { host, startMs, isOver } = oldest;
      if (nowMs - startMs < SILENCE_MS) break;
      this.#begun.shift();
      if (isOver || host.answeredMs >= startMs || host.silentSinceMs !== undefined) continue;
      this.#remember(host, nowMs);
      this.#listSilent(host);
    }
    for (let host = this.#remembered.first; host !== undefined; host = this.#remembered.first) {
      const isOld = host.silentSinceMs === undefined || nowMs - host.silentSinceMs >= SILENT_KEPT_MS;
      if (!isOld && this.#remembered.length <= SILENT_HOSTS_MAX) break;
      this.#remembered.shift();
      host.isRemembered = false;
      if (host.silentSinceMs !== undefined && host.inUse > 0) this.#remember(host, nowMs);
      else this.#breakSilence(host);
    }
  }

  #remember(host: Host, nowMs: number): void {
    host.silentSinceMs = nowMs;
    if (host.isRemembered) return;
    host.isRemembered = true;
    this.#remembered.push(host);
  }

  #breakSilence(host: Host): void {
    host.silentSinceMs = undefined;
    this.#readyParked(host);
    this.#forgetHost(host);
  }

  /** @param line without waiting requests and in no queue; a line still in a queue is dropped when its turn comes */
  #forget({ customer, host }: Line): void {
    customer.lines.delete(host);
    host.lineCount--;
    this.#forgetCustomer(customer);
    this.#forgetHost(host);
  }

  #forgetCustomer(customer: Customer): void {
    if (customer.inUse === 0 && customer.lines.size === 0) this.#customers.delete(customer.name);
  }

  #forgetHost({ name, inUse, lineCount, isRemembered }: Host): void {
    if (inUse === 0 && lineCount === 0 && !isRemembered) this.#hosts.delete(name);
  }
}

/** Whether a host may have a further slot while others wait. */
const canTakeMore = ({ inUse, silentSinceMs }: Host): boolean => inUse < HOST_SLOTS_MAX && silentSinceMs === undefined;
