/** The invariants of a simulator, as its sources name them: none of them may go without its situation (`World.met`). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param folder of sources, without the folders in it @returns sorted names */
export function invariantsOf(folder: string): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && !/(\.test|sabotages)\.ts$/.test(file));
  const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  return [...new Set([...text.matchAll(/'([A-Z][0-9]+ [a-z][^'\n]*)'/g)].map(([, name]) => name as string))].sort();
}

/** Those whose situation never came in some runs. @param counts of the runs */
export const neverMet = (folder: string, counts: ReadonlyMap<string, number>): string[] =>
  invariantsOf(folder).filter((name) => !counts.has(`met: ${name}`));
