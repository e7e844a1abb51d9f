/**
 * Trials of several processes on one database: payments go to all of them at once, several times each, while a process or the
 * database is killed, stopped or frozen; then everything is started again and audited against what the clients were answered,
 * what the processes say, and what the tables hold.
 *
 * A seed decides what is sent and where the disturbance is aimed; how far the processes have got by then depends on the machine.
 */
import type { PrivateKeyAccount } from 'viem/accounts';
import { Chance } from '../support/chance.ts';
import type { OwnServer } from '../support/postgres.ts';
import type { TcpLink } from '../support/tcp-link.ts';
import { pause, until } from '../support/until.ts';
import { type Payment, wallet } from '../support/wallet.ts';
import type { Fleet } from './fleet.ts';

export const DISTURBANCES = [
  'none',
  'a process is killed',
  'the database is killed',
  'the database is stopped without a checkpoint',
  'the database is frozen',
] as const;
export type Disturbance = (typeof DISTURBANCES)[number] | 'connections are cut';

const PAYMENT_COUNT = 24;
const SENT_COUNT = 3;
const PAYER_COUNT = 6;
const SPAN_MS = 400;
const FROZEN_MS = 1500;
/** For this long, of what passes between processes and database, this share is lost with its connection. */
export const CUTTING_MS = 1500;
export const CUT_SHARE = 0.04;
/** A request that is answered later is lost. */
const ANSWER_MS = 20_000;
/** What a dead process held is taken over within this time (siblings §9). */
const TAKEN_OVER_MS = 30_000;
const PRICE_ATOMIC = 20_000;
/** The line of a request has come by then. */
const LOGGED_MS = 500;

interface Sent {
  readonly status: number;
  readonly code: string;
}

interface Tried {
  readonly payment: Payment;
  readonly account: PrivateKeyAccount;
  /** undefined = no answer came. */
  readonly answers: (Sent | undefined)[];
}

export interface TrialCounts {
  payments: number;
  sold: number;
  lost: number;
  pending: number;
  unavailable: number;
  soldUnseen: number;
  free: number;
  longestUnsettledMs: number;
}

export const noCounts = (): TrialCounts => ({
  payments: 0,
  sold: 0,
  lost: 0,
  pending: 0,
  unavailable: 0,
  soldUnseen: 0,
  free: 0,
  longestUnsettledMs: 0,
});

export class Trial {
  readonly #fleet: Fleet;
  readonly #database: OwnServer;
  readonly #chance: Chance;
  readonly #link: TcpLink | undefined;
  readonly #accounts = Array.from({ length: PAYER_COUNT }, () => wallet());
  /** Nonces of everything that is settled. */
  readonly #settled = new Set<string>();
  readonly counts = noCounts();

  /** @param link between the processes and the database, which may cut connections */
  constructor(fleet: Fleet, database: OwnServer, seed: number, link?: TcpLink) {
    this.#fleet = fleet;
    this.#database = database;
    this.#chance = new Chance(seed);
    this.#link = link;
  }

  /** @throws Error that says which promise was broken */
  async cycle(disturbance: Disturbance): Promise<void> {
    const path = this.#fleet.client(0).search;
    const tried: Tried[] = [];
    for (let i = 0; i < PAYMENT_COUNT; i++) {
      const account = this.#chance.pick(this.#accounts);
      tried.push({ payment: await this.#fleet.client(i).payment(path, account), account, answers: [] });
    }
    const sending = tried.flatMap((one) =>
      Array.from({ length: SENT_COUNT }, () =>
        this.#send(one, path, this.#chance.below(SPAN_MS), this.#chance.below(3)),
      ),
    );
    const dead = await this.#disturb(disturbance);
    await Promise.all(sending);
    await this.#recover(disturbance, dead);
    await this.#audit(tried, path);
  }

  async #send({ payment, answers }: Tried, path: string, afterMs: number, place: number): Promise<void> {
    await pause(afterMs);
    const answering = this.#fleet.client(place).pay(path, payment);
    const answer = await Promise.race([answering.catch(() => undefined), pause(ANSWER_MS).then(() => undefined)]);
    if (answer === undefined) {
      answers.push(undefined);
      return;
    }
    const code = answer.status < 400 ? '' : (JSON.parse(answer.text) as { error: { code: string } }).error.code;
    answers.push({ status: answer.status, code });
  }

  /** @returns the place of a killed process */
  async #disturb(disturbance: Disturbance): Promise<number | undefined> {
    await pause(this.#chance.wholeBetween(20, SPAN_MS));
    switch (disturbance) {
      case 'none':
        return undefined;
      case 'a process is killed': {
        const place = this.#chance.below(this.#fleet.members.length);
        await this.#fleet.members[place]?.server.kill();
        return place;
      }
      case 'the database is killed':
        await this.#database.kill();
        return undefined;
      case 'the database is stopped without a checkpoint':
        await this.#database.stopImmediately();
        return undefined;
      case 'the database is frozen':
        this.#database.freeze(true);
        await pause(FROZEN_MS);
        this.#database.freeze(false);
        return undefined;
      case 'connections are cut':
        this.#link?.cutAtRandom(this.#chance.fork(), CUT_SHARE);
        await pause(CUTTING_MS);
        this.#link?.cutAtRandom(this.#chance, 0);
        return undefined;
      default:
        return disturbance satisfies never;
    }
  }

  async #recover(disturbance: Disturbance, dead: number | undefined): Promise<void> {
    if (disturbance.startsWith('the database is') && disturbance !== 'the database is frozen')
      await this.#database.start();
    if (dead !== undefined) await this.#fleet.startMember(dead);
    await this.#fleet.ready();
  }

  async #audit(tried: readonly Tried[], path: string): Promise<void> {
    const startMs = performance.now();
    for (const one of tried) await this.#auditOne(one, path, startMs);
    await this.#auditTables();
  }

  async #auditOne({ payment, account, answers }: Tried, path: string, startMs: number): Promise<void> {
    const { nonce } = payment.payload.authorization;
    const says = (what: string): Error =>
      new Error(
        `${nonce} ${what}: ${answers.map((one) => (one === undefined ? 'lost' : `${one.status} ${one.code}`))}`,
      );
    const state = await this.#endOf(account, nonce);
    this.counts.longestUnsettledMs = Math.max(this.counts.longestUnsettledMs, performance.now() - startMs);
    const paid = answers.filter((one) => one?.status === 200).length;
    const lost = answers.filter((one) => one === undefined).length;
    const pending = answers.filter((one) => one?.code === 'SETTLEMENT_PENDING').length;
    const refused = answers.filter((one) => one?.code === 'SETTLEMENT_UNAVAILABLE').length;
    this.counts.payments++;
    this.counts.sold += paid;
    this.counts.lost += lost;
    this.counts.pending += pending;
    this.counts.unavailable += refused;
    if (paid > 1) throw says('was sold twice');
    const known = new Set([200, 409, 503]);
    if (answers.some((one) => one !== undefined && !known.has(one.status))) throw says('has an answer of no use');
    if (state === 'settled') {
      if (paid === 0 && lost === 0 && pending === 0) throw says('was charged and not answered');
      if (paid === 0) this.counts.soldUnseen++;
      this.#settled.add(nonce);
      return;
    }
    if (paid > 0) throw says('was answered and is not on record');
    this.counts.free++;
    // Uncharged is free: the same authorization buys now.
    const again = await this.#fleet.client(this.#chance.below(3)).pay(path, payment);
    if (again.status !== 200) {
      await pause(LOGGED_MS);
      throw says(`is free and cannot be used: ${again.text} ${this.#loggedOf(again.text)}`);
    }
    this.#settled.add(nonce);
  }

  /** The lines that processes logged about a request that was refused, if they log requests. */
  #loggedOf(refusal: string): string {
    const id = /req_[0-9a-f-]{36}/.exec(refusal)?.[0] ?? '';
    const lines = this.#fleet.members.flatMap(({ server }) => `${server.stdout()}\n${server.stderr()}`.split('\n'));
    return lines.filter((line) => id !== '' && line.includes(id)).join('\n');
  }

  /** What every process says of a payment once it is certain. */
  async #endOf(account: PrivateKeyAccount, nonce: string): Promise<'settled' | 'free'> {
    const target = `/v1/payments/eip155:8453/${account.address}/${nonce}`;
    let states: (string | undefined)[] = [];
    await until(
      `an end of ${nonce}`,
      async () => {
        const answers = await Promise.all(this.#fleet.members.map(({ client }) => client.get(target)));
        states = answers.map(({ status, text }) =>
          status === 404 ? 'free' : status === 200 ? (JSON.parse(text) as { state: string }).state : `${status}`,
        );
        return states.every((one) => one === states[0]) && ['free', 'settled'].includes(states[0] as string);
      },
      TAKEN_OVER_MS,
    ).catch((failure: unknown) => {
      throw new Error(`${failure}: ${states}`);
    });
    return states[0] as 'settled' | 'free';
  }

  async #auditTables(): Promise<void> {
    const sales = await this.#fleet.rows<{ nonce: string }>('SELECT nonce FROM paygrade.sales');
    const entered = sales.map(({ nonce }) => nonce);
    if (new Set(entered).size !== entered.length) throw new Error('a sale stands in the books twice');
    const missing = [...this.#settled].filter((nonce) => !entered.includes(nonce));
    if (missing.length > 0 || entered.length !== this.#settled.size) {
      throw new Error(`the books have ${entered.length} sales, and ${this.#settled.size} are settled`);
    }
    const [spent] = await this.#fleet.rows<{ sum: string }>('SELECT sum(atomic) AS sum FROM paygrade.play_spent');
    if (Number(spent?.sum) !== this.#settled.size * PRICE_ATOMIC) {
      throw new Error(`payers have spent ${spent?.sum}, and ${this.#settled.size} payments are settled`);
    }
    const [open] = await this.#fleet.rows<{ count: number }>('SELECT count(*)::int AS count FROM paygrade.cases');
    if (open?.count !== 0) throw new Error(`${open?.count} cases are open`);
  }
}
