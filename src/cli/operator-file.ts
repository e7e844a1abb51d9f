/** Files that an operator writes by hand: read whole, and refused whole with every bad line named. */
import { readFile } from 'node:fs/promises';
import { errorCodeOf } from '../base/failure.ts';
import { quantity } from '../base/grouped.ts';
import { printable } from '../base/printable.ts';
import type { RefusedLine } from '../ingest/input/csv-rows.ts';
import { CommandError } from './command.ts';
import type { Io } from './io.ts';

/** Bad lines that are shown; the others are only counted, so that a broken file of a million lines stays readable. */
export const SHOWN_COUNT_MAX = 1000;

/** @throws CommandError (rejects) */
export const operatorText = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`${printable(path)} cannot be read (${errorCodeOf(error) ?? 'unknown'})`);
  });

/** @param nothing completes the refusal: "nothing was kept" @throws CommandError (rejects) for a bad line or file */
export async function operatorFile<Parsed extends { readonly refused: readonly RefusedLine[] }>(
  path: string,
  parse: (text: string) => Parsed,
  nothing: string,
  stderr: Io['stderr'],
): Promise<Parsed> {
  const parsed = parse(await operatorText(path));
  const { refused } = parsed;
  if (refused.length === 0) return parsed;
  for (const { line, field, reason } of refused.slice(0, SHOWN_COUNT_MAX)) {
    stderr.write(`line ${line}: ${field} ${reason}\n`);
  }
  throw new CommandError(`${printable(path)}: ${quantity(refused.length, 'bad line')}; ${nothing}`);
}
