/** What `import` and `snapshot build` share: the manifest, and how refused records are told. */
import { readFile } from 'node:fs/promises';
import { grouped } from '../base/grouped.ts';
import { type BoardManifest, parseBoardManifest } from '../ingest/board-manifest.ts';
import type { Rejection } from '../ingest/build-snapshot.ts';
import { CommandError, quoted } from './command.ts';
import { systemCodeOf } from './new-file.ts';

/** The format that is told by an input's content. */
export const AUTO = 'auto';

/** Rejections told in full; past them only counts, so that a broken file of a million lines stays readable. */
const REJECTIONS_TOLD = 20;

/** Rejections as they come, and by reason. */
export class Complaints {
  readonly #told: (line: string) => void;
  readonly #counts = new Map<string, { field: string; reason: string; count: number }>();
  #seen = 0;

  constructor(told: (line: string) => void) {
    this.#told = told;
  }

  take({ place, id, field, reason, detail }: Rejection): void {
    const about = field === '' ? reason : `${field} ${reason}`;
    const known = this.#counts.get(about);
    if (known) known.count++;
    else this.#counts.set(about, { field, reason, count: 1 });
    if (++this.#seen > REJECTIONS_TOLD) return;
    const where = id === undefined ? place : `${place} (id ${quoted(id)})`;
    this.#told(`${where}: ${about}${detail === undefined ? '' : `, ${detail}`}\n`);
  }

  /** Most frequent first. */
  get counts(): { field: string; reason: string; count: number }[] {
    return [...this.#counts.values()].sort((a, b) => b.count - a.count);
  }

  /** The counts, when not everything was told in full. */
  summarise(): void {
    if (this.#seen <= REJECTIONS_TOLD) return;
    this.#told(`and ${grouped(this.#seen - REJECTIONS_TOLD)} more; in all:\n`);
    for (const { field, reason, count } of this.counts) {
      this.#told(`  ${grouped(count).padStart(11)}  ${field === '' ? '' : `${field} `}${reason}\n`);
    }
  }
}

export async function manifestFrom(path: string | undefined): Promise<BoardManifest> {
  if (path === undefined) return new Map();
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`${path} cannot be read (${systemCodeOf(error)})`);
  });
  const parsed = parseBoardManifest(text);
  if (!parsed.ok) throw new CommandError(`${path}: ${parsed.reason}`);
  return parsed.manifest;
}
