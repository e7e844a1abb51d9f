import { describe, expect, it, vi } from 'vitest';
import { Deadlines, TimerEntry } from '../../src/base/deadlines.ts';
import { ManualTime } from '../support/manual-time.ts';

class Entry extends TimerEntry {
  readonly name: string;
  readonly ended: string[];

  constructor(name: string, ended: string[]) {
    super();
    this.name = name;
    this.ended = ended;
  }

  override onDue(): void {
    this.ended.push(this.name);
  }
}

function setUp(keepsTimers: boolean) {
  const time = new ManualTime();
  const deadlines = new Deadlines(time, time, keepsTimers);
  const ended: string[] = [];
  const add = (name: string, lengthMs: number): Entry => {
    const entry = new Entry(name, ended);
    deadlines.add(entry, lengthMs);
    return entry;
  };
  return { time, deadlines, ended, add };
}

describe.each([[false], [true]])('deadlines of many things, timers kept: %s', (keepsTimers) => {
  it('end each at exactly its time, whatever came and went before it', () => {
    const { time, deadlines, ended, add } = setUp(keepsTimers);
    const gone = add('gone', 1000);
    time.pass(400);
    deadlines.remove(gone);
    deadlines.remove(gone);
    add('late', 1000);
    add('short', 500);
    time.pass(499);
    expect(ended).toEqual([]);
    time.pass(1);
    expect(ended).toEqual(['short']);
    time.pass(499);
    expect(ended).toEqual(['short']);
    time.pass(1);
    expect(ended).toEqual(['short', 'late']);
  });

  it('end those that are left, in order, when others of their length are gone or put again', () => {
    const { time, deadlines, ended, add } = setUp(keepsTimers);
    const [, b, c, d] = ['a', 'b', 'c', 'd', 'e'].map((name) => add(name, 1000));
    for (const entry of [c, b, b, d]) deadlines.remove(entry!);
    time.pass(500);
    deadlines.add(c!, 1000);
    time.pass(500);
    expect(ended).toEqual(['a', 'e']);
    time.pass(500);
    expect(ended).toEqual(['a', 'e', 'c']);
  });

  it('have one timer a length at most, however many come and go, and none once its length is over', () => {
    const { time, deadlines, ended, add } = setUp(keepsTimers);
    for (let i = 0; i < 100; i++) deadlines.remove(add('gone', 1000));
    expect(time.pendingCount).toBe(keepsTimers ? 1 : 0);
    time.pass(1000);
    expect([ended, time.pendingCount]).toEqual([[], 0]);
    add('next', 1000);
    time.pass(1000);
    expect([ended, time.pendingCount]).toEqual([['next'], 0]);
  });

  it('end all that are due at one time, a part a turn', () => {
    const { time, ended, add } = setUp(keepsTimers);
    for (let i = 0; i < 1000; i++) add(`${i}`, 1000);
    const turns = vi.spyOn(time, 'after');
    time.pass(1000);
    expect(turns).toHaveBeenCalledTimes(3);
    expect(ended).toEqual(Array.from({ length: 1000 }, (_, i) => `${i}`));
    expect(time.pendingCount).toBe(0);
  });

  it('end all that is left, once, when they are closed, and have no timer then', () => {
    const { time, deadlines, ended, add } = setUp(keepsTimers);
    const entry = add('a', 1000);
    add('b', 1000);
    add('c', 50);
    deadlines.close();
    expect(ended.toSorted()).toEqual(['a', 'b', 'c']);
    deadlines.remove(entry);
    expect(time.pendingCount).toBe(0);
    time.pass(2000);
    expect(ended).toHaveLength(3);
  });
});
