/**
 * How much memory this process may hold if the operator sets nothing: the limit of its cgroup, else three quarters of
 * the machine's memory (decisions §4).
 */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { posix } from 'node:path';

const MACHINE_SHARE = 0.75;
const ROOT = '/sys/fs/cgroup';

/** The text of a file, or undefined where it cannot be read. */
export type ReadText = (path: string) => string | undefined;

const readText: ReadText = (path) => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
};

/** A memory controller: where it is mounted, the path of this process in it, and the file with a group's limit. */
interface Controller {
  readonly root: string;
  readonly path: string;
  readonly file: string;
}

/** The memory controllers of cgroup v2 and v1 in a line of `/proc/self/cgroup`: `0::/path` or `4:memory:/path`. */
function controllerOf(line: string): Controller | undefined {
  const [id = '', names = '', ...rest] = line.split(':');
  const path = rest.join(':');
  if (id === '0' && names === '') return { root: ROOT, path, file: 'memory.max' };
  if (names.split(',').includes('memory')) return { root: `${ROOT}/memory`, path, file: 'memory.limit_in_bytes' };
  return undefined;
}

/**
 * The limits of a group and of all its parent groups, which apply to it too. In a container the path may be the host's,
 * which is not mounted; the root is then the container's own group.
 */
function* limitsOf({ root, path, file }: Controller, read: ReadText): Generator<number> {
  const names = path.split('/').filter((name) => name !== '' && name !== '..');
  for (let depth = names.length; depth >= 0; depth--) {
    const text = read(posix.join(root, ...names.slice(0, depth), file))?.trim();
    if (text !== undefined && /^[0-9]+$/.test(text)) yield Number(text); // "max" = none
  }
}

/** The lowest limit of the process's cgroups, bytes; undefined if none is below the machine's memory. */
export function cgroupLimitBytes(totalBytes: number, read: ReadText = readText): number | undefined {
  const controllers = (read('/proc/self/cgroup') ?? '').split('\n').map(controllerOf);
  let leastBytes = totalBytes; // cgroup v1 writes "no limit" as a number near 2^63
  for (const controller of controllers) {
    if (controller === undefined) continue;
    for (const limitBytes of limitsOf(controller, read)) {
      if (limitBytes > 0) leastBytes = Math.min(leastBytes, limitBytes);
    }
  }
  return leastBytes < totalBytes ? leastBytes : undefined;
}

export function defaultMemoryLimitBytes(): number {
  const totalBytes = totalmem();
  return cgroupLimitBytes(totalBytes) ?? Math.floor(totalBytes * MACHINE_SHARE);
}
