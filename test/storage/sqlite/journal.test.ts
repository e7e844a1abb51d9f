import { expect, it } from 'vitest';
import { RecordInDoubtError } from '../../../src/base/outage.ts';
import { Journal } from '../../../src/storage/sqlite/journal.ts';
import { StateRefusedError } from '../../../src/storage/sqlite/refused.ts';
import { ANSWERS } from '../../../src/storage/sqlite/tables/answers.ts';
import { PROBE } from '../../../src/storage/sqlite/tables/probe.ts';
import type { OpenWriter, WriterReply } from '../../../src/storage/sqlite/writer-messages.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

it('a journal closes although the system gives its writer no thread', async () => {
  const time = new ManualTime();
  const ports = {
    clock: time,
    timers: time,
    onStateFault() {},
    openWriter() {
      throw new Error('spawn EAGAIN');
    },
  };
  const journal = new Journal({ path: '/nowhere', sync: 'full' }, ports);
  const reading = journal.read({ table: ANSWERS });
  const closing = journal.close();
  await expect(reading).rejects.toThrow('EAGAIN');
  await closing;
});

it('a journal opens one writer for all that is asked before it is open', async () => {
  const time = new ManualTime();
  const posted: string[] = [];
  const soon: (() => void)[] = [];
  let openedCount = 0;
  const openWriter: OpenWriter = (_, { onReply }) => {
    openedCount++;
    return {
      post(request) {
        posted.push(request.kind);
        if (request.kind === 'read') onReply({ ...request, result: { kind: 'found', found: request.id } });
        else if (request.kind === 'close') onReply({ kind: 'closed' });
      },
      setAwaited() {},
      terminate: async () => {},
    };
  };
  const journal = new Journal(
    { path: '/nowhere', sync: 'full' },
    { clock: time, timers: time, onStateFault() {}, openWriter, soon: (run) => void soon.push(run) },
  );
  journal.open();
  const readings = [1, 2].map(() => journal.read({ table: ANSWERS }));
  for (const run of soon) run();
  expect(await Promise.all(readings)).toEqual([1, 2]);
  await journal.close();
  expect([openedCount, posted]).toEqual([1, ['read', 'read', 'close']]);
});

it('a journal closes that was about to open its writer, with what was written meanwhile', async () => {
  const time = new ManualTime();
  const posted: string[] = [];
  const openWriter: OpenWriter = (_, { onReply }) => ({
    post(request) {
      posted.push(request.kind);
      if (request.kind === 'batch') onReply({ kind: 'batch', result: { kind: 'done', refused: [] } });
      else if (request.kind === 'close') onReply({ kind: 'closed' });
    },
    setAwaited() {},
    terminate: async () => {},
  });
  const journal = new Journal(
    { path: '/nowhere', sync: 'full' },
    { clock: time, timers: time, onStateFault() {}, openWriter },
  );
  journal.open();
  const writing = journal.write(PROBE);
  await journal.close();
  await writing;
  expect(posted).toEqual(['batch', 'close']);
});

it('a journal keeps its process alive until its writer has closed, also when a read is answered before', async () => {
  const time = new ManualTime();
  const posted: string[] = [];
  const awaited: boolean[] = [];
  let reply = (_: WriterReply): void => {};
  const openWriter: OpenWriter = (_, { onReply }) => {
    reply = onReply;
    return {
      post: ({ kind }) => void posted.push(kind),
      setAwaited: (isAwaited) => void awaited.push(isAwaited),
      terminate: async () => {},
    };
  };
  const journal = new Journal(
    { path: '/nowhere', sync: 'full' },
    { clock: time, timers: time, onStateFault() {}, openWriter, soon: (run) => run() },
  );
  const reading = journal.read({ table: ANSWERS });
  const closing = journal.close();
  await settle();
  expect(posted).toEqual(['read', 'close']);
  reply({ kind: 'read', id: 1, result: { kind: 'found', found: 'an answer' } });
  expect(await reading).toBe('an answer');
  expect(awaited.at(-1)).toBe(true);
  reply({ kind: 'closed' });
  await closing;
});

it('a journal that closes before it has opened its writer opens none', async () => {
  const time = new ManualTime();
  const soon: (() => void)[] = [];
  const openWriter: OpenWriter = () => {
    throw new Error('opened');
  };
  const faults: unknown[] = [];
  const journal = new Journal(
    { path: '/nowhere', sync: 'full' },
    {
      clock: time,
      timers: time,
      onStateFault: (fault) => void faults.push(fault),
      openWriter,
      soon: (run) => void soon.push(run),
    },
  );
  journal.open();
  await journal.close();
  for (const run of soon) run();
  expect([soon.length, faults]).toEqual([1, []]);
});

it('a journal whose disk has failed refuses every later record at once', async () => {
  const time = new ManualTime();
  const openWriter: OpenWriter = (_, { onReply }) => ({
    post({ kind }) {
      const result = { kind: 'broken', detail: 'disk I/O error', isInDoubt: true } as const;
      if (kind === 'batch') onReply({ kind: 'batch', result });
    },
    setAwaited() {},
    terminate: async () => {},
  });
  const journal = new Journal(
    { path: '/nowhere', sync: 'full' },
    { clock: time, timers: time, onStateFault() {}, openWriter, soon: (run) => run() },
  );
  await expect(journal.write(PROBE)).rejects.toBeInstanceOf(RecordInDoubtError);
  await expect(journal.write(PROBE)).rejects.toBeInstanceOf(StateRefusedError);
  expect(journal.fault()).toContain('disk I/O error');
});

/** A journal over a writer that does nothing by itself. */
function still(soon: (run: () => void) => void = (run) => run()) {
  const time = new ManualTime();
  const posted: string[] = [];
  const faults: (string | undefined)[] = [];
  const writer = { reply(_: WriterReply): void {}, end(_: string): void {} };
  const openWriter: OpenWriter = (_, { onReply, onEnd }) => {
    Object.assign(writer, { reply: onReply, end: onEnd });
    return { post: ({ kind }) => void posted.push(kind), setAwaited() {}, terminate: async () => {} };
  };
  const onStateFault = (fault: string | undefined): void => void faults.push(fault);
  const ports = { clock: time, timers: time, onStateFault, openWriter, soon };
  return { journal: new Journal({ path: '/nowhere', sync: 'full' }, ports), writer, posted, faults, time };
}

it('a journal that is closed refuses records and reads, and leaves no timer', async () => {
  const { journal, posted, time, writer } = still();
  const refused = journal.write(PROBE);
  writer.reply({ kind: 'batch', result: { kind: 'refused', detail: 'disk full' } });
  await expect(refused).rejects.toThrow('disk full');
  expect(time.pendingCount).toBe(2);
  const closing = journal.close();
  expect(time.pendingCount).toBe(0);
  await expect(journal.write(PROBE)).rejects.toThrow('closed');
  await expect(journal.read({ table: ANSWERS })).rejects.toThrow('closed');
  writer.reply({ kind: 'closed' });
  await closing;
  expect(posted).toEqual(['batch', 'close']);
});

it('a journal says once what is wrong with its disk, and says so too when a slow one turns out to be full', () => {
  const { faults, journal, time, writer } = still();
  const slow = 'the disk takes longer than 2000 ms for a write to the state';
  const full = 'the state cannot be written: disk full';
  journal.write(PROBE).catch(() => {});
  /** Ends the commit in flight; behind one that was slow or failed the journal sends a probe. */
  const ends = (isLate: boolean, isFull: boolean): void => {
    if (isLate) time.pass(2_001);
    const done = { kind: 'done', refused: [] } as const;
    writer.reply({ kind: 'batch', result: isFull ? { kind: 'refused', detail: 'disk full' } : done });
    time.pass(1_000);
  };
  ends(true, false);
  ends(true, false);
  expect(faults).toEqual([slow]);
  ends(false, true);
  expect(faults).toEqual([slow, full]);
  ends(true, true);
  ends(true, false);
  ends(false, true);
  expect(faults).toEqual([slow, full]);
  ends(false, false);
  expect(faults).toEqual([slow, full, undefined]);
});

it('a journal takes no time for a slow disk in which its process stood still, whatever comes first after that', () => {
  const { faults, journal, time, writer } = still();
  const standStill = (): void => {
    time.areTimersStopped = true;
    time.pass(10_000);
    time.areTimersStopped = false;
  };
  const done: WriterReply = { kind: 'batch', result: { kind: 'done', refused: [] } };
  // The reply.
  void journal.write(PROBE);
  standStill();
  expect(journal.fault()).toBeUndefined();
  writer.reply(done);
  // The timer.
  void journal.write(PROBE);
  time.pass(400);
  standStill();
  time.pass(1_000);
  expect([journal.fault(), faults]).toEqual([undefined, []]);
  time.pass(1);
  expect(journal.fault()).toBe('the disk takes longer than 2000 ms for a write to the state');
  standStill();
  writer.reply(done);
  expect(faults).toHaveLength(1);
});

it('a journal finds a slow disk in time while its loop is so busy that each look is late', () => {
  const { faults, journal, time } = still();
  void journal.write(PROBE);
  const turn = (): void => {
    time.areTimersStopped = true;
    time.pass(499);
    time.areTimersStopped = false;
    time.pass(0);
  };
  for (let turns = 0; turns < 4; turns++) turn();
  expect([journal.fault(), faults]).toEqual([undefined, []]);
  turn();
  const slow = 'the disk takes longer than 2000 ms for a write to the state';
  expect(journal.fault()).toBe(slow);
  turn();
  expect(faults).toEqual([slow]);
});

it('a journal whose writer has ended refuses records and reads, and closes', async () => {
  const { faults, journal, writer } = still();
  const reading = journal.read({ table: ANSWERS });
  const writing = journal.write(PROBE);
  writer.end('killed');
  await expect(reading).rejects.toThrow('killed');
  await expect(writing).rejects.toBeInstanceOf(RecordInDoubtError);
  await expect(journal.read({ table: ANSWERS })).rejects.toThrow('ended');
  await expect(journal.write(PROBE)).rejects.toBeInstanceOf(StateRefusedError);
  expect(faults).toHaveLength(1);
  await journal.close();
});

it('a journal closes whose disk fails meanwhile, and whose writer then ends under a read', async () => {
  const { journal, writer } = still();
  const reading = journal.read({ table: ANSWERS });
  const writing = journal.write(PROBE);
  const closing = journal.close();
  writer.reply({ kind: 'batch', result: { kind: 'broken', detail: 'disk I/O error', isInDoubt: true } });
  await expect(writing).rejects.toBeInstanceOf(RecordInDoubtError);
  writer.end('killed');
  await expect(reading).rejects.toThrow('killed');
  await closing;
});

it('a journal refuses records beyond those that may wait', async () => {
  const { journal } = still(() => {});
  const waiting = Array.from({ length: 16_384 }, () => journal.write(PROBE));
  await expect(journal.write(PROBE)).rejects.toThrow('too many');
  expect(waiting).toHaveLength(16_384);
});

it('a journal whose writer cannot be opened refuses records and reads, and opens another after a pause', async () => {
  const time = new ManualTime();
  const faults: (string | undefined)[] = [];
  let openings = 0;
  const openWriter: OpenWriter = (_, { onReply, onUnopened }) => {
    openings++;
    if (openings === 1) throw new Error('EMFILE: too many open files');
    const isOpen = openings > 2;
    return {
      post({ kind }) {
        if (!isOpen) onUnopened('the writer failed: unable to open database file');
        else if (kind === 'batch') onReply({ kind: 'batch', result: { kind: 'done', refused: [] } });
      },
      setAwaited() {},
      terminate: async () => {},
    };
  };
  const onStateFault = (fault: string | undefined): void => void faults.push(fault);
  const ports = { clock: time, timers: time, onStateFault, openWriter, soon: (run: () => void) => run() };
  const journal = new Journal({ path: '/nowhere', sync: 'full' }, ports);
  await expect(journal.write(PROBE)).rejects.toThrow('EMFILE');
  await expect(journal.read({ table: ANSWERS })).rejects.toThrow('unable to open');
  expect(faults).toEqual([expect.stringContaining('EMFILE')]);
  time.pass(1000);
  expect([openings, faults[1], journal.fault()]).toEqual([3, undefined, undefined]);
  await journal.write(PROBE);
  expect(faults).toHaveLength(2);
});
