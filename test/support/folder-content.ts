import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The contents of all files under a folder, as Latin-1, so that bytes can be found as text. */
export function contentOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n');
}
