/** What `import` and `snapshot build` share: the manifest, the way through all inputs, and how it is told. */
import { readFile } from 'node:fs/promises';
import { grouped } from '../base/grouped.ts';
import type { InputFile, Member } from '../ingest/input/input.ts';
import type { Intake } from '../ingest/intake.ts';
import type { Rejection } from '../ingest/job-sink.ts';
import { type BoardManifest, parseBoardManifest } from '../ingest/shapes/board-manifest.ts';
import type { Shape } from '../ingest/shapes/shape.ts';
import { CommandError, quoted, type TextOption } from './command.ts';
import { systemCodeOf } from './new-file.ts';

/** The format that is told by an input's content. */
export const AUTO = 'auto';

export const MANIFEST_OPTION = {
  type: 'text',
  value: 'FILE',
  help: 'boards and their companies: {"<board or file name>": {"company": "...", "domain": "..."}}',
} as const satisfies TextOption;

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

/**
 * Every member of every file into the intake.
 * leftOut  told of what cannot be read or recognised, which is passed over; what it throws ends the reading
 */
export async function takeAll(
  files: readonly InputFile[],
  intake: Intake,
  leftOut: (error: unknown) => void,
): Promise<void> {
  for (const file of files) {
    try {
      for await (const member of file.members()) {
        try {
          await intake.take(member);
        } catch (error) {
          leftOut(error);
          // The next member of an archive comes only behind the whole of this one.
          for await (const _ of member.bytes);
        }
      }
    } catch (error) {
      leftOut(error);
    }
  }
}

/** Says what each input was taken for; members of an archive are nearly always of one shape: once, and when it changes. */
export function shapeTeller(say: (line: string) => void): (member: Member, shape: Shape) => void {
  const told = new Map<string, string>();
  return (member, shape) => {
    const name = member.archive ?? member.name;
    if (told.get(name) === shape.name) return;
    told.set(name, shape.name);
    say(`${member.name}: taken for ${shape.name}\n`);
  };
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
