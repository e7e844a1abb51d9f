/** What `import` and `snapshot build` share: checks of their options, reading all inputs, and the messages about them. */
import { grouped } from '../base/grouped.ts';
import { printable } from '../base/printable.ts';
import { CutShortError, InputError, type InputFile, type Member, STDIN } from '../ingest/input/input.ts';
import type { Intake } from '../ingest/intake.ts';
import type { Rejection } from '../ingest/job-sink.ts';
import { type BoardManifest, parseBoardManifest } from '../ingest/shapes/board-manifest.ts';
import type { Shape } from '../ingest/shapes/shape.ts';
import { CommandError, quoted, type TextOption, UsageError } from './command.ts';
import { operatorText, SHOWN_COUNT_MAX } from './operator-file.ts';

/** The format that recognises each input by its content. */
export const AUTO = 'auto';

export const MANIFEST_OPTION = {
  type: 'text',
  value: 'FILE',
  help: 'boards and their companies: {"<board or file name>": {"company": "...", "domain": "..."}}',
} as const satisfies TextOption;

/** @throws UsageError when stdin is among the inputs twice */
export function requireOneStdin(paths: readonly string[]): void {
  if (paths.filter((path) => path === STDIN).length > 1) throw new UsageError(`${STDIN} (stdin) is given twice`);
}

const aboutOf = ({ field, reason }: Pick<Rejection, 'field' | 'reason'>): string =>
  printable(field === '' ? reason : `${field} ${reason}`);

/** Shows the first rejections and counts all of them by reason. */
export class Complaints {
  readonly #say: (line: string) => void;
  readonly #counts = new Map<string, { field: string; reason: string; count: number }>();
  #count = 0;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  take(rejection: Rejection): void {
    const { place, id, field, reason, detail } = rejection;
    const about = aboutOf(rejection);
    const known = this.#counts.get(about);
    if (known) known.count++;
    else this.#counts.set(about, { field, reason, count: 1 });
    if (++this.#count > SHOWN_COUNT_MAX) return;
    const where = id === undefined ? place : `${place} (id ${quoted(id)})`;
    this.#say(`${where}: ${about}${detail === undefined ? '' : `, ${detail}`}\n`);
  }

  /** Most frequent first. */
  get counts(): { field: string; reason: string; count: number }[] {
    return [...this.#counts.values()].sort((a, b) => b.count - a.count);
  }

  /** Shows the counts if some rejections were not shown in full. */
  summarise(): void {
    if (this.#count <= SHOWN_COUNT_MAX) return;
    this.#say(`and ${grouped(this.#count - SHOWN_COUNT_MAX)} more; in total:\n`);
    for (const counted of this.counts) {
      this.#say(`  ${grouped(counted.count).padStart(11)}  ${aboutOf(counted)}\n`);
    }
  }
}

/**
 * Feeds every member of every file to the intake.
 * @param leaveOut receives the error of a file or member that cannot be read or recognised, or is empty. Reading
 * continues with the next one unless `leaveOut` throws
 */
export async function takeAll(
  files: readonly InputFile[],
  intake: Intake,
  leaveOut: (error: unknown) => void,
): Promise<void> {
  for (const file of files) {
    let hasMember = false;
    try {
      for await (const member of file.members()) {
        hasMember = true;
        try {
          await intake.take(member);
        } catch (error) {
          leaveOut(error);
          // The next member of an archive starts where this one ends.
          for await (const _ of member.bytes);
        }
      }
    } catch (error) {
      if (error instanceof CutShortError) intake.breakOff(file.name);
      hasMember = true;
      leaveOut(error);
    }
    if (!hasMember) leaveOut(new InputError(`${file.name}: is empty`));
  }
}

/**
 * Reports the shape of each input; for an archive, whose members nearly always have one shape, only when it changes.
 */
export function shapeTeller(say: (line: string) => void): (member: Member, shape: Shape) => void {
  const shown = new Map<string, string>();
  return (member, shape) => {
    const name = member.archive ?? member.name;
    if (shown.get(name) === shape.name) return;
    shown.set(name, shape.name);
    say(`${member.name}: taken for ${shape.name}\n`);
  };
}

/** @returns an empty manifest without a path @throws CommandError */
export async function manifestFrom(path: string | undefined): Promise<BoardManifest> {
  if (path === undefined) return new Map();
  const text = await operatorText(path);
  const parsed = parseBoardManifest(text);
  if (!parsed.ok) throw new CommandError(`${printable(path)}: ${printable(parsed.reason)}`);
  return parsed.manifest;
}
