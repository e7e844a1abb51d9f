/**
 * A thread that takes documents and never reads them; those at `/before` hang before they are measured, those at `/end` end it after
 * that, and those at `/end-at-once` before. One at `/native` keeps it in native code, where it cannot
 * be ended: it creates the file that its query names, and goes on when the file is gone or 20 seconds have passed.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

parentPort.on('message', ({ document: { url, body } }) => {
  const { pathname, search } = new URL(url);
  if (pathname === '/end-at-once') process.exit(1);
  if (pathname !== '/before') {
    parentPort.postMessage({ kind: 'measured', sha256: hash('sha256', body), sizeBytes: body.length });
  }
  if (pathname === '/native')
    execFileSync('sh', [
      '-c',
      'touch "$0"; for _ in $(seq 400); do [ -e "$0" ] || exit 0; sleep 0.05; done',
      search.slice(1),
    ]);
  if (pathname === '/end') setTimeout(() => process.exit(1), 20);
  else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
parentPort.postMessage({ thread: 1 });
