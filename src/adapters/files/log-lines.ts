/**
 * Writes JSON lines to a file descriptor. Logging never delays a request: the log gathers lines for {@link GATHER_MS},
 * and the thread pool writes them, one write at a time. When the reader stops reading (a full pipe), lines wait in a
 * bounded buffer; further lines are dropped and counted, and the count is written when there is room again.
 */
import { write } from 'node:fs';
import { MIB } from '../../base/sizes.ts';

/** UTF-16 units, which count as bytes here: some ten thousand request lines. */
const PENDING_BYTES_MAX = 4 * MIB;

/** A write costs as much as ten lines, and a server that answers thousands a second would write once a turn. */
const GATHER_MS = 5;

const FLUSH_MS_MAX = 1000;
const FLUSH_STEP_MS = 5;

export interface LineLog {
  write(line: string): void;
  /** Resolves when the system has all lines, or after {@link FLUSH_MS_MAX} if the reader does not read. */
  flush(): Promise<void>;
}

export function lineLog(fileDescriptor: number): LineLog {
  let pending: string[] = [];
  let pendingBytes = 0;
  let dropped = 0;
  let busy = false;

  const takeAll = (): Buffer => {
    if (dropped > 0) {
      pending.push(`${JSON.stringify({ level: 'warn', message: 'log lines dropped', count: dropped })}\n`);
      dropped = 0;
    }
    const bytes = Buffer.from(pending.join(''));
    pending = [];
    pendingBytes = 0;
    return bytes;
  };

  const writeOut = (bytes: Buffer, offset: number): void => {
    write(fileDescriptor, bytes, offset, bytes.length - offset, null, (failure, written) => {
      if (failure?.code === 'EAGAIN') {
        setTimeout(writeOut, 50, bytes, offset).unref();
      } else if (failure === null && offset + written < bytes.length) {
        writeOut(bytes, offset + written);
      } else {
        busy = false; // written, or the reader is gone (EPIPE)
        if (pending.length > 0) start();
      }
    });
  };

  const start = (): void => {
    busy = true;
    setTimeout(() => writeOut(takeAll(), 0), GATHER_MS);
  };

  return {
    write(line) {
      if (pendingBytes + line.length > PENDING_BYTES_MAX) {
        dropped++;
        return;
      }
      pending.push(`${line}\n`);
      pendingBytes += line.length + 1;
      if (!busy) start();
    },
    async flush() {
      for (let waitedMs = 0; busy && waitedMs < FLUSH_MS_MAX; waitedMs += FLUSH_STEP_MS) {
        await new Promise((resolve) => setTimeout(resolve, FLUSH_STEP_MS));
      }
    },
  };
}
