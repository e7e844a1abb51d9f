import { describe, expect, it } from 'vitest';
import { Progress, progressLine } from '../../src/cli/progress.ts';
import { capturedIo } from './captured-io.ts';

describe('progress', () => {
  it('shows a bar, the share done, rows, rate and the time left', () => {
    const state = { rows: 50_000, done: 1, total: 4 };
    expect(progressLine(state, 2000)).toBe('[######..................] 25%  50,000 rows  25,000/s  6 s left');
  });

  it('shows rows and rate when the end is not known', () => {
    expect(progressLine({ rows: 5, done: 9, total: null }, 2000)).toBe('5 rows  3/s');
    expect(progressLine({ rows: 5, done: 9, total: 0 }, 0)).toBe('5 rows');
  });

  it('never passes the end of its bar or of the terminal', () => {
    expect(progressLine({ rows: 1, done: 9, total: 4 }, 0)).toBe('[########################] 100%  1 rows');
    const { io, written } = capturedIo({ isTerminal: true });
    new Progress({ ...io.stderr, columns: 11 }, io.clock).show({ rows: 1, done: 9, total: 4 });
    expect(written.stderr).toBe('\r\u001b[K[#########');
  });

  it('draws ten times a second at most, and takes its line away', () => {
    const { io, written } = capturedIo({ isTerminal: true }, 40);
    const progress = new Progress(io.stderr, io.clock);
    for (let i = 0; i < 6; i++) progress.show({ rows: i, done: i, total: null });
    progress.clear();
    progress.clear();
    expect(written.stderr).toBe('\r\u001b[K2 rows\r\u001b[K5 rows\r\u001b[K');
  });

  it('writes nothing at all in a pipe', () => {
    const { io, written } = capturedIo({ isTerminal: false });
    const progress = new Progress(io.stderr, io.clock);
    for (let i = 0; i < 9; i++) progress.show({ rows: i, done: i, total: 9 });
    progress.clear();
    expect(written.stderr).toBe('');
  });
});
