/** Checks of the paths that a command writes, before it begins. */
import { realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCodeOf } from '../base/failure.ts';
import { CommandError, UsageError } from './command.ts';
import { NewFile } from './new-file.ts';

/** Fails before an hour's work rather than after it. @throws CommandError */
export async function requireWritable(path: string): Promise<void> {
  const folder = await stat(dirname(path)).catch((failure: unknown) => {
    if (errorCodeOf(failure) === 'EACCES') throw new CommandError(`${path} cannot be written (EACCES)`);
    return undefined;
  });
  if (!folder?.isDirectory()) throw new CommandError(`${path} cannot be written: its folder does not exist`);
  new NewFile(path).discard();
}

/** The file that a rename to the path would replace, with all links resolved. */
export function realPathOf(path: string): string {
  const whole = resolve(path);
  try {
    return join(realpathSync(dirname(whole)), basename(whole));
  } catch {
    return whole; // its folder does not exist
  }
}

/** An output that is also an input, or the other output, would overwrite its own source. @throws UsageError */
export function requireApart(out: string | undefined, rejects: string | undefined, inputs: readonly string[]): void {
  const inputPlaces = new Set(inputs.map(realPathOf));
  if (out !== undefined && inputPlaces.has(realPathOf(out))) throw new UsageError('--out names an input file');
  if (rejects === undefined) return;
  if (inputPlaces.has(realPathOf(rejects))) throw new UsageError('--rejects names an input file');
  if (out !== undefined && realPathOf(rejects) === realPathOf(out))
    throw new UsageError('--rejects and --out name the same file');
}
