/** Hints between processes, over a database that only listens and notifies. */
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { CallbackId } from '../../../src/callback/identifier.ts';
import { Hints } from '../../../src/storage/postgres/callbacks/hints.ts';
import type { Connection, Statement } from '../../../src/storage/postgres/connections.ts';
import type { Database } from '../../../src/storage/postgres/database.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

const CHANNEL = 'paygrade_events';
const SECOND_MS = 1000;
const idOf = (number: number): CallbackId => `cb_${String(number).padStart(24, '0')}` as CallbackId;

/** A connection whose answers come at once, fail, or wait for the test. */
class Link extends EventEmitter {
  readonly sent: Statement[] = [];
  answer: (statement: Statement) => Promise<void> = async () => {};
  /** How it was given back. */
  released: boolean | undefined;

  async query(statement: Statement) {
    this.sent.push(statement);
    await this.answer(statement);
    return { rows: [], rowCount: 0 };
  }

  release(isBroken: boolean): void {
    this.released = isBroken;
  }

  get payloads(): unknown[] {
    return this.sent.filter(({ name }) => name === 'hint').map(({ values = [] }) => values[1]);
  }

  hear(payload: string, channel = CHANNEL): void {
    this.emit('notification', { channel, payload });
  }
}

/** @param answer of every connection's statements; a rejection refuses the connection itself where it is asked without one */
function opened(answer: (statement?: Statement) => Promise<void> = async () => {}) {
  const time = new ManualTime();
  const links: Link[] = [];
  const heard: (readonly CallbackId[] | null)[] = [];
  const database = {
    async connect() {
      await answer();
      const link = new Link();
      link.answer = answer;
      links.push(link);
      return link as unknown as Connection;
    },
  } as unknown as Database;
  const hints = new Hints({ timers: time, database, processId: 'one', onHint: (ids) => heard.push(ids) });
  hints.start();
  return { time, links, heard, hints };
}

describe('hints', () => {
  it('of one turn go together, those that come meanwhile with the next, and too many as one of any callback', async () => {
    const { hints, links } = opened();
    hints.send(idOf(0));
    await settle();
    const [link] = links as [Link];
    expect(link.sent.map(({ text }) => text)).toEqual(['SET synchronous_commit = off', `LISTEN ${CHANNEL}`]);
    const answered = Promise.withResolvers<void>();
    link.answer = () => answered.promise;
    for (const number of [1, 2, 1]) hints.send(idOf(number));
    await settle();
    for (const number of [2, 3]) hints.send(idOf(number));
    await settle();
    expect(link.payloads).toEqual([`one:${idOf(1)},${idOf(2)}`]);
    answered.resolve();
    await settle();
    const both = `one:${idOf(2)},${idOf(3)}`;
    expect(link.payloads.slice(1)).toEqual([both]);
    for (let number = 0; number < 250; number++) hints.send(idOf(number));
    await settle();
    expect(link.payloads.at(-1)).toHaveLength('one:'.length + 250 * (idOf(0).length + 1) - 1);
    for (let number = 0; number < 251; number++) hints.send(idOf(number));
    await settle();
    expect(link.payloads.at(-1)).toBe('one:*');
  });

  it('are heard from other processes, of some callbacks or of any', async () => {
    const { heard, links } = opened();
    await settle();
    const [link] = links as [Link];
    // What went past it before it listened.
    expect(heard.splice(0)).toEqual([null]);
    link.hear(`two:${idOf(1)},${idOf(2)}`);
    link.hear('two:*');
    link.hear(`one:${idOf(3)}`);
    link.hear(`two:${idOf(4)}`, 'another');
    expect(heard).toEqual([[idOf(1), idOf(2)], null]);
  });

  it.each([
    ['error', true],
    ['end', false],
  ])('go on over another connection after the %s of one, with none that was not sent', async (event, isFailed) => {
    const { heard, hints, links, time } = opened();
    await settle();
    const [first] = links as [Link];
    const answered = Promise.withResolvers<void>();
    first.answer = () => answered.promise;
    hints.send(idOf(1));
    await settle();
    hints.send(idOf(2));
    first.emit(event);
    first.emit(event);
    expect(first.released).toBe(true);
    hints.send(idOf(3));
    time.pass(SECOND_MS - 1);
    await settle();
    expect(links).toHaveLength(1);
    time.pass(1);
    await settle();
    const [, second] = links as [Link, Link];
    // Its sender still waits for the first connection.
    hints.send(idOf(4));
    if (isFailed) answered.reject(new Error('lost'));
    else answered.resolve();
    await settle();
    expect(first.payloads).toHaveLength(1);
    expect(heard).toEqual([null, null]);
    hints.send(idOf(5));
    await settle();
    expect(second.payloads).toEqual([`one:${idOf(4)},${idOf(5)}`]);
    // What the first says late is not about the second.
    first.emit('end');
    expect(second.released).toBeUndefined();
    time.pass(60 * SECOND_MS);
    await settle();
    expect(links).toHaveLength(2);
  });

  it('go on over another connection after one that could not be sent', async () => {
    const { hints, links, time } = opened();
    await settle();
    const [first] = links as [Link];
    first.answer = async () => {
      throw new Error('lost');
    };
    hints.send(idOf(1));
    await settle();
    expect(first.released).toBe(true);
    time.pass(SECOND_MS);
    await settle();
    hints.send(idOf(2));
    await settle();
    expect(links[1]!.payloads).toEqual([`one:${idOf(2)}`]);
  });

  it.each(['the connection', 'LISTEN'])(
    'wait twice as long, up to a minute, each time that %s is refused',
    async (what) => {
      let tries = 0;
      let isRefused = true;
      const { links, time } = opened(async (statement) => {
        if ((statement === undefined) !== (what === 'the connection') || statement?.text.startsWith('SET')) return;
        tries++;
        if (isRefused) throw new Error('refused');
      });
      const pauses = [1, 2, 4, 8, 16, 32, 60, 60];
      for (const [index, seconds] of pauses.entries()) {
        await settle();
        expect([tries, time.pendingCount]).toEqual([index + 1, 1]);
        time.pass(seconds * SECOND_MS - 1);
        await settle();
        expect(tries).toBe(index + 1);
        if (index === pauses.length - 1) isRefused = false;
        time.pass(1);
      }
      await settle();
      for (const { released } of links.slice(0, -1)) expect(released).toBe(true);
      // One that worked makes the next pause short again.
      links.at(-1)!.emit('end');
      const before = tries;
      time.pass(SECOND_MS);
      await settle();
      expect(tries).toBe(before + 1);
    },
  );

  it('leave no connection and no timer once they are closed, also while they connect', async () => {
    const whileOpen = opened();
    await settle();
    await whileOpen.hints.close();
    expect(whileOpen.links.map(({ released }) => released)).toEqual([true]);
    whileOpen.links[0]!.emit('end');
    expect(whileOpen.time.pendingCount).toBe(0);

    const whileAway = opened(async () => {
      throw new Error('away');
    });
    await settle();
    await whileAway.hints.close();
    expect(whileAway.time.pendingCount).toBe(0);

    const answered = Promise.withResolvers<void>();
    const whileConnecting = opened(() => answered.promise);
    let isClosed = false;
    const closing = whileConnecting.hints.close().then(() => {
      isClosed = true;
    });
    await settle();
    expect(isClosed).toBe(false);
    answered.resolve();
    await closing;
    expect(whileConnecting.links.map(({ released }) => released)).toEqual([true]);
    expect(whileConnecting.heard).toEqual([]);

    const refused = Promise.withResolvers<void>();
    const whileRefused = opened(() => refused.promise);
    const ending = whileRefused.hints.close();
    refused.reject(new Error('refused'));
    await ending;
    expect(whileRefused.time.pendingCount).toBe(0);
  });
});
