import { expect, it } from 'vitest';
import { RecordInDoubtError } from '../../../src/payment/reservations.ts';
import { Journal, StateRefusedError } from '../../../src/storage/sqlite/journal.ts';
import { ANSWERS } from '../../../src/storage/sqlite/tables/answers.ts';
import { PROBE } from '../../../src/storage/sqlite/tables/probe.ts';
import type { OpenWriter, WriterReply } from '../../../src/storage/sqlite/writer-messages.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

it('a journal closes although the system gives its writer no thread', async () => {
  const time = new ManualTime();
  const ports = {
    clock: time,
    timers: time,
    onFault() {},
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
    { clock: time, timers: time, onFault() {}, openWriter },
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
    { clock: time, timers: time, onFault() {}, openWriter, soon: (run) => run() },
  );
  const reading = journal.read({ table: ANSWERS });
  const closing = journal.close();
  await settle();
  expect(posted).toEqual(['read', 'close']);
  reply({ kind: 'read', id: 1, found: 'an answer' });
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
      onFault: (fault) => void faults.push(fault),
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
    { clock: time, timers: time, onFault() {}, openWriter, soon: (run) => run() },
  );
  await expect(journal.write(PROBE)).rejects.toBeInstanceOf(RecordInDoubtError);
  await expect(journal.write(PROBE)).rejects.toBeInstanceOf(StateRefusedError);
  expect(journal.fault()).toContain('disk I/O error');
});
