/**
 * The way between processes and the modelled database: every statement travels there and back, and on the way its fate is
 * drawn: it is lost, carried out without an acknowledgement, late, slow, unanswered or refused. There are outages of the database
 * ({@link OutageKind}); one process alone loses its way to it. What is carried out is carried out once, and stays.
 */
import type { Connection, Connections, Row, Statement } from '../../../src/storage/postgres/connections.ts';
import { PoolBusyError } from '../../../src/storage/postgres/failures.ts';
import type { Chance } from '../../support/chance.ts';
import type { World } from '../world.ts';
import type { ModelDatabase } from './model.ts';
import type { SharedProfile } from './profile.ts';

/** A process, as the wire sees it. */
export interface Client {
  readonly name: string;
  isDead: boolean;
  /** The process has no way to the database until then. */
  cutUntilMs: number;
  /** When its statements last met something else than a prompt answer. */
  troubleMs: number;
  /** The same of the renewals of its lease. */
  leaseTroubleMs: number;
  /** When something of it last had to wait for a connection for longer than {@link CROWDED_MS}. */
  crowdedMs: number;
  /** A statement or connection of it may hang until then, for another reason than an outage. */
  hangsUntilMs: number;
  /** Id by which the database knows it. */
  ownerId: string;
  /** False when it has died of this call. */
  touch(what: string): boolean;
  /** Calls `run` in the process: after a stall, never after its death. */
  deliver(run: () => void): void;
}

/** As in `CONNECTION_LIMITS`. */
const STATEMENT_MS = 5000;
const CONNECT_MS = 3000;
/** A process that waits longer than this for a connection may be late with all it does. */
const TURN_MS = 1000;
/** Longer than a statement takes whose connection was free. */
const CROWDED_MS = 20;
/** The server cancels a statement after this time. */
const CANCEL_MS = 4500;
/** A late statement is carried out at most this much after its connection broke. */
const LATE_MS_MAX = 8000;

type Fate = 'ok' | 'lost' | 'unacknowledged' | 'silent' | 'late' | 'slow' | 'refused' | 'terminated';

/** SQLSTATEs of a database that cannot be used now: starting, no connection left, a cancelled statement. */
const AWAY = ['57P03', '53300', '57014'];

const failureOf = (code: string, extra: object = {}): Error => Object.assign(new Error(code), { code }, extra);
const severe = (code: string): Error => failureOf(code, { severity: 'FATAL' });

/**
 * `away`: it cannot be reached. `frozen`: it answers nothing. `stand-by`: its stand-by takes no writes until it is promoted. `cut`:
 * every connection breaks, once. `locked`: statements wait for locks until they are cancelled. `cancelled`: each is cancelled at once.
 */
export type OutageKind = 'away' | 'frozen' | 'stand-by' | 'cut' | 'locked' | 'cancelled';

interface Outage {
  readonly kind: OutageKind;
  readonly untilMs: number;
}

/** What changes or reads the tables; a renewal waits for no other, nor does a look at the catalogue. */
const needsLocks = ({ name }: Statement): boolean =>
  name !== undefined && name !== 'renew-lease' && name !== 'schema-parts';

const isRead = ({ name }: Statement): boolean =>
  name === undefined || /^(find|count|list|look|poll|read|schema)-/.test(name);

type Listener = (message: never) => void;

class Session {
  readonly client: Client;
  isBroken = false;
  isListening = false;
  readonly listeners = new Map<string, Listener[]>();
  /** Rejects the statement under way. */
  fail: (failure: Error) => void = () => {};

  constructor(client: Client) {
    this.client = client;
  }

  emit(event: string, value: unknown): void {
    for (const listener of this.listeners.get(event) ?? []) listener(value as never);
  }

  /** Both sides lose the connection now. */
  break(): void {
    if (this.isBroken) return;
    this.isBroken = true;
    this.client.deliver(() => {
      this.fail(failureOf('ECONNRESET'));
      this.emit('error', failureOf('ECONNRESET'));
    });
  }
}

/** The pool of one process. */
interface Pool {
  /** Connections that are open or being opened, outside of the pool. */
  takenCount: number;
  openCount: number;
  readonly waiting: (() => void)[];
}

export class Wire {
  readonly database: ModelDatabase;
  isHealed = false;
  /** No statement meets another fate than that of all until then. */
  calmUntilMs = 0;
  outage: Outage | undefined;
  /** An outage has ended by itself. */
  onOutageEnded: (kind: OutageKind) => void = () => {};
  readonly #world: World;
  readonly #chance: Chance;
  readonly #profile: SharedProfile;
  readonly #sessions = new Set<Session>();

  constructor(world: World, chance: Chance, profile: SharedProfile, database: ModelDatabase) {
    this.#world = world;
    this.#chance = chance;
    this.#profile = profile;
    this.database = database;
  }

  /** The pool of one process. */
  connectionsOf(client: Client): Connections {
    const pool: Pool = { takenCount: 0, openCount: 0, waiting: [] };
    return {
      connect: () => this.#connect(client, pool),
      end: async () => {
        for (const session of this.#sessions) if (session.client === client) this.#sessions.delete(session);
      },
    };
  }

  /** One at a time. */
  beginOutage(kind: OutageKind, forMs: number): void {
    const world = this.#world;
    if (this.outage !== undefined) return;
    const outage = { kind, untilMs: world.nowMs + forMs };
    this.outage = outage;
    world.count(`the database is ${kind}`);
    world.note(`the database is ${kind} for ${Math.round(forMs)} ms`);
    if (kind === 'away' || kind === 'stand-by' || kind === 'cut') {
      for (const session of [...this.#sessions]) this.#break(session);
    }
    world.after(forMs, () => {
      if (this.outage !== outage) return;
      this.outage = undefined;
      world.note(`the database is no longer ${kind}`);
      this.onOutageEnded(kind);
    });
  }

  /** The process is gone, and its connections with it. */
  dropAll(client: Client): void {
    for (const session of this.#sessions) if (session.client === client) this.#sessions.delete(session);
  }

  #isCut(client: Client): boolean {
    return this.#world.nowMs < client.cutUntilMs;
  }

  #travelMs(): number {
    return this.#chance.between(0.2, 2);
  }

  #break(session: Session): void {
    this.#sessions.delete(session);
    session.break();
  }

  /** A connection of the pool, as soon as one is free. */
  #connect(client: Client, pool: Pool): Promise<Connection> {
    if (!client.touch('connect')) return new Promise(() => {});
    const world = this.#world;
    return new Promise((resolve, reject) => {
      const open = (): void => {
        pool.takenCount++;
        this.#open(client, pool).then(resolve, reject);
      };
      if (pool.takenCount < this.#profile.connectionCount) {
        open();
        return;
      }
      const sinceMs = world.nowMs;
      const cancel = world.after(CONNECT_MS, () => {
        pool.waiting.splice(pool.waiting.indexOf(next), 1);
        this.#trouble(client);
        const isBusy = pool.openCount >= this.#profile.connectionCount;
        const failure = isBusy ? new PoolBusyError('all connections are in use') : new Error('timeout exceeded');
        client.deliver(() => reject(failure));
      });
      const next = (): void => {
        cancel();
        if (world.nowMs - sinceMs > TURN_MS) this.#trouble(client);
        if (world.nowMs - sinceMs > CROWDED_MS) client.crowdedMs = world.nowMs;
        open();
      };
      pool.waiting.push(next);
    });
  }

  #open(client: Client, pool: Pool): Promise<Connection> {
    const world = this.#world;
    const giveBack = (): void => {
      pool.takenCount--;
      pool.waiting.shift()?.();
    };
    return new Promise((resolve, reject) => {
      const refuse = (failure: Error, afterMs: number): void => {
        this.#trouble(client);
        world.after(afterMs, () => {
          giveBack();
          client.deliver(() => reject(failure));
        });
      };
      const { kind, untilMs = 0 } = this.outage ?? {};
      const leftMs = this.#isCut(client) ? Number.POSITIVE_INFINITY : kind === 'frozen' ? untilMs - world.nowMs : 0;
      if (leftMs > CONNECT_MS) {
        if (kind !== 'frozen') this.#hang(client);
        refuse(new Error('timeout exceeded when trying to connect'), CONNECT_MS);
      } else if (kind === 'away') {
        refuse(this.#chance.is(0.5) ? failureOf('ECONNREFUSED') : severe('57P03'), this.#travelMs());
      } else {
        if (leftMs > 0) this.#trouble(client);
        pool.openCount++;
        const connection = this.#connectionOf(client, () => {
          pool.openCount--;
          giveBack();
        });
        if (leftMs > 0) world.after(leftMs, () => client.deliver(() => resolve(connection)));
        else resolve(connection);
      }
    });
  }

  #connectionOf(client: Client, onRelease: () => void): Connection {
    const session = new Session(client);
    this.#sessions.add(session);
    return {
      query: (statement) => this.#query(session, statement),
      on: (event: string, listener: Listener) => {
        session.listeners.set(event, [...(session.listeners.get(event) ?? []), listener]);
      },
      release: (isBroken) => {
        if (isBroken) this.#sessions.delete(session);
        onRelease();
      },
    };
  }

  #hang(client: Client): void {
    client.hangsUntilMs = this.#world.nowMs + STATEMENT_MS;
  }

  #trouble(client: Client, statement?: Statement): void {
    // A stall or a lost way may last for longer.
    const nowMs = this.#world.nowMs;
    client.troubleMs = Math.max(client.troubleMs, nowMs);
    if (statement?.name === 'renew-lease' || statement === undefined) {
      client.leaseTroubleMs = Math.max(client.leaseTroubleMs, nowMs);
    }
  }

  #query(session: Session, statement: Statement): Promise<{ rows: Row[]; rowCount: number }> {
    const { client } = session;
    const world = this.#world;
    // What the process wanted to say with its last breath may arrive.
    const isSpoken = client.touch(statement.name ?? 'statement') || this.#chance.is(0.5);
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (run: () => void): void => {
        client.deliver(() => {
          if (isOver) return;
          isOver = true;
          cancel();
          run();
        });
      };
      session.fail = (failure) => end(() => reject(failure));
      const cancel = world.after(statement.query_timeout ?? STATEMENT_MS, () => {
        this.#trouble(client, statement);
        end(() => reject(new Error('Query read timeout')));
      });
      const answer = (rows: Row[], afterMs: number): void => {
        world.after(afterMs, () => {
          if (session.isBroken || this.#isCut(client)) return;
          end(() => resolve({ rows, rowCount: rows.length }));
        });
      };
      if (!isSpoken) return;
      world.after(this.#travelMs(), () =>
        this.#arrive(session, statement, answer, (failure) => end(() => reject(failure))),
      );
    });
  }

  /** A statement has come as far as the database, or not. */
  #arrive(
    session: Session,
    statement: Statement,
    answer: (rows: Row[], afterMs: number) => void,
    refuse: (failure: Error) => void,
  ): void {
    const { client } = session;
    const world = this.#world;
    if (session.isBroken) return;
    const fate = this.#fateOf();
    const { kind, untilMs = 0 } = this.outage ?? {};
    const leftMs = untilMs - world.nowMs;
    if (fate !== 'ok' || kind !== undefined || this.#isCut(client)) this.#trouble(client, statement);
    if (this.#isCut(client)) {
      this.#hang(client);
      // Some of it arrives when the way is open again.
      const cutMs = client.cutUntilMs - world.nowMs;
      if (this.#chance.is(0.3) && cutMs < LATE_MS_MAX)
        world.after(cutMs + this.#travelMs(), () => this.#execute(statement, client));
    } else if (kind === 'away') {
      this.#break(session);
    } else if (kind === 'frozen' || (kind === 'locked' && needsLocks(statement) && leftMs < CANCEL_MS)) {
      // It waits in the server, which carries it out, whoever waits still.
      world.after(leftMs + this.#chance.between(0, 30), () =>
        answer(this.#execute(statement, client), this.#travelMs()),
      );
    } else if (kind === 'locked' && needsLocks(statement)) {
      world.after(CANCEL_MS, () => refuse(severe('57014')));
    } else if (kind === 'cancelled' && statement.name !== undefined) {
      refuse(severe('57014'));
    } else if (kind === 'stand-by' && !isRead(statement)) {
      refuse(severe('25006'));
    } else {
      this.#meet(fate, session, statement, answer, refuse);
    }
  }

  #meet(
    fate: Fate,
    session: Session,
    statement: Statement,
    answer: (rows: Row[], afterMs: number) => void,
    refuse: (failure: Error) => void,
  ): void {
    const { client } = session;
    const chance = this.#chance;
    if (fate !== 'ok') {
      this.#world.count(`statements ${fate}`);
      this.#world.note(`${client.name} ${statement.name ?? 'statement'}: ${fate}`);
    }
    switch (fate) {
      case 'ok':
        answer(this.#execute(statement, client), this.#travelMs());
        return;
      case 'slow':
        this.#hang(client);
        answer(this.#execute(statement, client), chance.delayMs(300, 6000, 0.2));
        return;
      case 'lost':
        this.#break(session);
        return;
      case 'unacknowledged':
        this.#execute(statement, client);
        this.#break(session);
        return;
      case 'silent':
        this.#hang(client);
        if (chance.is(0.5)) this.#execute(statement, client);
        return;
      case 'late':
        this.#world.after(chance.delayMs(100, LATE_MS_MAX, 0.5), () => this.#execute(statement, client));
        this.#break(session);
        return;
      case 'refused':
        // A renewal touches one row, and waits for no other.
        refuse(severe(chance.pick(statement.name === 'renew-lease' ? AWAY : [...AWAY, '40001', '40P01'])));
        return;
      case 'terminated':
        if (chance.is(0.5)) this.#execute(statement, client);
        refuse(severe('57P01'));
        return;
      default:
        fate satisfies never;
    }
  }

  #fateOf(): Fate {
    if (this.isHealed || this.#world.nowMs < this.calmUntilMs) return 'ok';
    const { lost, unacknowledged, silent, late, slow, refused } = this.#profile.statements;
    let left = this.#chance.unit();
    const fates = [
      ['lost', lost],
      ['unacknowledged', unacknowledged],
      ['silent', silent],
      ['late', late],
    ] as const;
    for (const [fate, share] of fates) {
      left -= share;
      if (left < 0) return fate;
    }
    left -= slow;
    if (left < 0) return 'slow';
    left -= refused;
    if (left < 0) return this.#chance.is(0.1) ? 'terminated' : 'refused';
    return 'ok';
  }

  #execute(statement: Statement, client: Client): Row[] {
    if (statement.name === 'renew-lease') client.ownerId = statement.values?.[0] as string;
    if (statement.text.startsWith('LISTEN')) {
      for (const session of this.#sessions) if (session.client === client) session.isListening = true;
    }
    const rows = this.database.execute(statement, client.ownerId);
    if (statement.name === 'hint') this.#notify(statement.values?.[0] as string, statement.values?.[1] as string);
    return rows;
  }

  /** A connection that is in a pool hears nothing; the listening one is among them all. */
  #notify(channel: string, payload: string): void {
    for (const session of this.#sessions) {
      if (!session.isListening || !session.listeners.has('notification')) continue;
      if (this.#chance.is(this.#profile.hintLossShare)) continue;
      this.#world.after(this.#travelMs(), () => {
        if (session.isBroken || this.#isCut(session.client)) return;
        session.client.deliver(() => session.emit('notification', { channel, payload }));
      });
    }
  }
}
