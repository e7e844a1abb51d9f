/** The result of a check: a verdict, the fact, and the remedy. Verdicts and members are those of `--json`. */
export type Verdict =
  | 'ok'
  /** Works, but the operator should know. */
  | 'note'
  /** Does not work, or must not stay as it is: the operator has to fix it. */
  | 'mend'
  /** Could not or need not be checked. */
  | 'skipped';

export interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  /** One line. */
  readonly found: string;
  /** What to do, one line; null when there is nothing to do. */
  readonly mend: string | null;
}

/** Collects the findings of one check. */
export class Findings {
  readonly #check: string;
  readonly all: Finding[];

  constructor(check: string, all: Finding[] = []) {
    this.#check = check;
    this.all = all;
  }

  /** Findings of another check, behind those of this one. */
  of(check: string): Findings {
    return new Findings(check, this.all);
  }

  ok(found: string): void {
    this.#add('ok', found, null);
  }

  skipped(found: string): void {
    this.#add('skipped', found, null);
  }

  note(found: string, mend: string | null = null): void {
    this.#add('note', found, mend);
  }

  mend(found: string, mend: string): void {
    this.#add('mend', found, mend);
  }

  #add(verdict: Verdict, found: string, mend: string | null): void {
    this.all.push({ check: this.#check, verdict, found: oneLine(found), mend });
  }
}

/** Text of other programs, cut short and on one line. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 400);

const KIB = 1024;

/** 1536 -> `1.5 KiB`. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = bytes;
  let unit = 0;
  for (; size >= KIB && unit < units.length - 1; unit++) size /= KIB;
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}
