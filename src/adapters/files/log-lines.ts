/**
 * JSON lines to a file descriptor, without ever holding a request up: lines are gathered for one turn and written by the
 * thread pool, one write at a time. A reader that has stopped reading (a full pipe) fills a bounded buffer; past it lines are
 * dropped and counted, and the count is written when there is room again.
 */
import { write } from 'node:fs';

/** Some ten thousand request lines. */
const PENDING_BYTES_MAX = 4 * 1024 * 1024;

const FLUSH_MS_MAX = 1000;
const FLUSH_STEP_MS = 5;

export interface LineLog {
  write(line: string): void;
  /** Resolves when everything has been handed to the system, or after a second of a reader that does not read. */
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
        busy = false; // written, or nobody will ever read it (EPIPE)
        if (pending.length > 0) start();
      }
    });
  };

  const start = (): void => {
    busy = true;
    setImmediate(() => writeOut(takeAll(), 0));
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
