/**
 * Entry of an extraction thread: it reads one document after another, and the main thread terminates it when one takes
 * too long.
 */
import { hash } from 'node:crypto';
import { getPriority, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { stackOf } from '../../base/failure.ts';
import { UNPACKED_BYTES_MAX } from '../../outbound/limits.ts';
import { extract } from '../../resolve/extraction/extract.ts';
import { nothingOf } from '../../resolve/result.ts';
import type { Document } from '../../resolve/work.ts';
import { BodyTooLargeError, unpackAtOnce } from '../outbound/unpack.ts';
import { ownThreadNumber } from '../process/thread-time.ts';
import type { ThreadReady, ThreadReply, ThreadTask } from './extraction-wire.ts';

if (parentPort === null) throw new Error('this file is the entry of a worker');
const port = parentPort;
const reply = (message: ThreadReply): void => port.postMessage(message);

/** Added to the process's niceness: where processors are few, the event loop that answers goes before extraction. */
const NICENESS_MORE = 10;
const NICENESS_MAX = 19;

// On Linux each thread has its own niceness (setpriority(2)); elsewhere this would change the whole process.
if (platform() === 'linux') {
  try {
    setPriority(Math.min(NICENESS_MAX, getPriority() + NICENESS_MORE));
  } catch {
    // A sandbox may forbid the call; pages are read all the same.
  }
}

const UNKNOWN_CODING = 'The page came in a coding that was not asked for: nothing was extracted.';

/** undefined: a reply says why not. */
function unpackedOf({ body, codings, isTruncated }: Document): Uint8Array | undefined {
  try {
    return unpackAtOnce(body, codings, { bytesMax: UNPACKED_BYTES_MAX, isWhole: !isTruncated });
  } catch (failure) {
    reply({ kind: failure instanceof BodyTooLargeError ? 'too-large' : 'broken' });
    return undefined;
  }
}

port.on('message', ({ document, isLate }: ThreadTask) => {
  const body = unpackedOf(document);
  if (body === undefined) return;
  reply({ kind: 'measured', sha256: hash('sha256', body), sizeBytes: body.length });
  if (isLate) return;
  try {
    const content = document.isUnreadable ? nothingOf([UNKNOWN_CODING]) : extract({ ...document, body });
    reply({ kind: 'content', content });
  } catch (failure) {
    reply({ kind: 'failed', detail: stackOf(failure) });
  }
});
port.postMessage({ thread: ownThreadNumber() } satisfies ThreadReady);
