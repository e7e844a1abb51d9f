/** Jobs for recoveries with noble's answers, and programs for recovery threads that fail as real ones may. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf, STRUCT_BYTES } from '../../../src/payment/protocol/typed-data.ts';
import { recoverWithNoble } from '../../../src/payment/signature/noble-recovery.ts';
import type { RecoveryJob } from '../../../src/payment/signature/recovery-queue.ts';
import { formFault } from '../../../src/payment/signature/signature.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { until } from '../../support/until.ts';
import { mutatedSignatures } from './mutated-signatures.ts';

export const jobs: readonly RecoveryJob[] = [...mutatedSignatures(7, 400, 100)]
  .filter(({ signature }) => formFault(signature) === undefined)
  .map(({ digest, signature }) => {
    const struct = new Uint8Array(STRUCT_BYTES);
    struct.set(digest, 0);
    return { struct, signature };
  });

/** Noble's answers to the jobs. */
export const expected = jobs.map(({ struct, signature }) => recoverWithNoble(digestOf(struct), signature));

const program = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

/** Keeps a thread alive and never ready. */
export const HANG = 'setInterval(() => {}, 1000);';

const REAL = new URL('../../../src/adapters/verification/recovery-worker.ts', import.meta.url);

/** A program of recovery threads of which only the first `count` do what `fault` says, in place of their work. */
export function failing(fault: string, count: number) {
  const folder = testFolder();
  for (let i = 0; i < count; i++) mkdirSync(join(folder, String(i)));
  const entry = program(`
    import { readdirSync, rmdirSync } from 'node:fs';
    const fails = readdirSync(${JSON.stringify(folder)}).some((name) => {
      try {
        rmdirSync(${JSON.stringify(folder)} + '/' + name);
        return true;
      } catch {
        return false; // another thread took it
      }
    });
    if (fails) {
      ${fault}
    } else await import(${JSON.stringify(REAL.href)});
  `);
  /** Waits until all of them have come to it. */
  const areFailing = () => until(`the fault of ${count} threads`, () => readdirSync(folder).length === 0);
  return { entry, areFailing };
}
