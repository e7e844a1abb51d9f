/**
 * Functions of the C library in whose place a process calls ours (LD_PRELOAD): for what no setting of the system brings about, such
 * as a sync that fails or a clock that is set while a server runs.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HEAD = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
/* Looked up once: dlsym takes a lock, and a collector may stop the thread that holds it. */
#define ORIGINAL(type, name) ({ static void *found; if (!found) found = dlsym(RTLD_NEXT, name); (type)found; })
/* The number that stands in INTERPOSED_FILE; 0 without one. */
static long number(void) {
  char text[32] = {0};
  int file = open(getenv("INTERPOSED_FILE"), O_RDONLY);
  if (file < 0) return 0;
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  return count > 0 ? atol(text) : 0;
}
`;

export interface Interposed {
  /** For the environment of the process. */
  readonly variables: Readonly<Record<string, string>>;
  /** Holds the number that the functions go by. */
  readonly file: string;
}

/** @param source C, in which `number()` is what the test last wrote to `file` @returns undefined where nothing compiles C */
export function interposed(source: string): Interposed | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-interposed-'));
  const [library, file] = [join(folder, 'interposed.so'), join(folder, 'number')];
  const words = ['-shared', '-fPIC', '-o', library, '-x', 'c', '-', '-ldl'];
  if (spawnSync('cc', words, { input: HEAD + source }).status !== 0) {
    console.warn('skipping what takes the place of system calls: no C compiler (Debian: gcc)');
    return undefined;
  }
  return { variables: { LD_PRELOAD: library, INTERPOSED_FILE: file }, file };
}
