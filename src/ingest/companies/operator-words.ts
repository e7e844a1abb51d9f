/**
 * The operator's words about companies: entries of manifests, of `companies set` and of `companies import`. A word
 * about a board beats one about a name.
 */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import { comparedText } from '../../catalogue/terms.ts';
import { ownerOf } from '../shapes/board.ts';
import { boardNameOf, type Employer, hasToken } from './employer.ts';

export interface OperatorWord {
  /** `board`: the key is `shape:token`, a token of any shape, or a file's name. `name`: the key is a compared name. */
  readonly kind: 'board' | 'name';
  readonly key: string;
  /** The company's name; null: the jobs' own names hold. */
  readonly name: string | null;
  /** null: the entry names the company only. */
  readonly domain: CompanyDomain | null;
  /** Address of the board, for feeds whose postings have only paths. */
  readonly url: string | null;
  readonly aliases: readonly CompanyDomain[];
}

export class OperatorWords {
  readonly #ofBoards = new Map<string, OperatorWord>();
  /** By `shape:token` in lower case: case does not count in a token named with its platform. */
  readonly #ofComparedBoards = new Map<string, OperatorWord>();
  readonly #ofNames = new Map<string, OperatorWord>();
  readonly #filesOfBoard: ReadonlyMap<string, readonly string[]>;

  /** @param filesOfBoard `shape:token` -> names of files that held the board, as keys of words */
  constructor(words: Iterable<OperatorWord>, filesOfBoard: ReadonlyMap<string, readonly string[]> = new Map()) {
    for (const word of words) {
      (word.kind === 'board' ? this.#ofBoards : this.#ofNames).set(word.key, word);
      if (word.kind === 'board' && hasToken(word.key.split(':', 1)[0]!))
        this.#ofComparedBoards.set(word.key.toLowerCase(), word);
    }
    this.#filesOfBoard = filesOfBoard;
  }

  /** The words that hold for an employer, the most specific first. */
  #all(employer: Pick<Employer, 'shape' | 'board' | 'names'>): OperatorWord[] {
    const board = boardNameOf(employer);
    const owner = ownerOf(employer.board);
    const keys = new Set([board, employer.board, `${employer.shape}:${owner}`, owner]);
    for (const file of this.#filesOfBoard.get(board) ?? []) keys.add(file);
    return [
      ...[...keys].map((key) => this.#ofBoards.get(key) ?? this.#ofComparedBoards.get(key.toLowerCase())),
      ...employer.names.map((name) => this.#ofNames.get(name)),
    ].filter((word) => word !== undefined);
  }

  /** The operator's word about an employer: each field from the most specific word that has it. */
  wordOf(
    employer: Pick<Employer, 'shape' | 'board' | 'names'>,
  ): Pick<OperatorWord, 'name' | 'domain' | 'aliases'> | undefined {
    const all = this.#all(employer);
    if (all.length === 0) return undefined;
    const domain = all.find((word) => word.domain !== null)?.domain ?? null;
    // Excludes words with another domain, because their aliases belong to that domain.
    const aliases = all.filter((word) => word.domain === domain).flatMap((word) => word.aliases);
    return { name: all.find((word) => word.name !== null)?.name ?? null, domain, aliases };
  }

  /** The words that apply to none of the employers, with keys as the operator wrote them. */
  unfitting(employers: Iterable<Pick<Employer, 'shape' | 'board' | 'names'>>): OperatorWord[] {
    const unused = new Set([...this.#ofBoards.values(), ...this.#ofNames.values()]);
    for (const employer of employers) for (const word of this.#all(employer)) unused.delete(word);
    return [...unused];
  }
}

/** Two words with the same one are about the same: case does not count in a board that is named with its platform. */
export const identityOf = ({ kind, key }: Pick<OperatorWord, 'kind' | 'key'>): string =>
  `${kind}\n${kind === 'board' && hasToken(key.split(':', 1)[0]!) ? key.toLowerCase() : key}`;

/** The key of a word about a company by its name. */
export const nameKeyOf = (name: string): string => comparedText(name);
