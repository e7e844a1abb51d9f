/** Adds boards to the list of a catalogue: looks at each address and reports which board it found. */
import type { BoardLook, Looked } from '../../adapters/boards/board-look.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import { printable } from '../../base/printable.ts';
import { withoutUser } from '../../base/without-secrets.ts';
import { boardOfAddress } from '../../ingest/boards/address-rules.ts';
import { type Board, nameOfBoard } from '../../ingest/boards/board.ts';
import type { StatedBoard } from '../../ingest/boards/board-file.ts';
import { loadCompanyList } from '../../ingest/companies/company-list.ts';
import { type OperatorWord, OperatorWords } from '../../ingest/companies/operator-words.ts';
import type { BoardTables } from '../../storage/history/board-tables.ts';
import { storedWords, storeWords } from '../../storage/history/company-tables.ts';
import { EXIT_FAILED, EXIT_OK } from '../command.ts';
import type { Io } from '../io.ts';
import { changeBoards, LOOKS_AT_ONCE } from './board-options.ts';

/** Boards stored together: a killed run loses at most this many. */
const KEPT_AT_ONCE = 25;

/** The outcome for one address. */
export type Addition =
  | {
      readonly address: string;
      readonly board: Board;
      readonly jobs: number | null;
      /** `jobs` counts the first page of several, which state no total. */
      readonly isFirstPage?: boolean;
      readonly word: OperatorWord | null;
    }
  | { readonly address: string; readonly error: string };

/** As `--json` prints it: no password either, which only a refused address can have. */
export const additionJson = (addition: Addition): string =>
  'error' in addition
    ? JSON.stringify({ address: withoutUser(addition.address), error: addition.error })
    : JSON.stringify({
        address: addition.address,
        shape: addition.board.shape,
        board: nameOfBoard(addition.board),
        company: addition.board.company,
        domain: addition.board.domain,
        jobs: addition.jobs,
        ...(addition.isFirstPage === true && { is_first_page: true }),
      });

const companyText = ({ company, domain }: Board): string =>
  `${company === null ? 'a company named by its postings' : printable(company, 80)}, ${domain ?? 'domain unknown'}`;

/** How many jobs a board has, if it was asked. */
export const jobsText = ({ jobs, isFirstPage }: Extract<Addition, { board: Board }>): string =>
  `${quantity(jobs ?? 0, 'job')} ${isFirstPage === true ? 'on its first page' : 'now'}`;

function lineOf(addition: Addition, outcome: string): string {
  if ('error' in addition)
    return `${printable(withoutUser(addition.address), 200)}: ${printable(addition.error, 400)}\n`;
  const { board, jobs } = addition;
  const count = jobs === null ? 'not asked' : jobsText(addition);
  return `${printable(nameOfBoard(board), 120)}: ${companyText(board)}; ${count}; ${outcome}\n`;
}

/** The operator's word about a board's company: as stated, or with the domain of the company's own page. */
function wordOf(board: Board, stated: StatedBoard, siteDomain: Board['domain']): OperatorWord | null {
  const domain = stated.domain ?? siteDomain;
  if (stated.company === null && domain === null) return null;
  return { kind: 'board', key: nameOfBoard(board), name: stated.company, domain, url: null, aliases: [] };
}

function additionOf(stated: StatedBoard, looked: Looked): Addition {
  const { address } = stated;
  if (!looked.ok) return { address, error: looked.reason };
  const { isFirstPage, jobs, siteDomain } = looked;
  const board = withStated(looked.board, stated);
  return { address, board, jobs, isFirstPage, word: wordOf(board, stated, siteDomain) };
}

const withStated = (board: Board, { company, domain }: StatedBoard): Board => ({
  ...board,
  company: company ?? board.company,
  domain: domain ?? board.domain,
});

/** Identifies the board without a request, by the address alone or an earlier look at it. */
function uncheckedAddition(stated: StatedBoard, { isFromPackage = false, known }: AddPlan): Addition {
  const { address, company, domain } = stated;
  const before = known?.get(address);
  if (before !== undefined) {
    return { address, board: withStated(before, stated), jobs: null, word: wordOf(before, stated, null) };
  }
  const verdict = boardOfAddress(address);
  if (verdict.kind === 'refused') return { address, error: verdict.reason };
  if (verdict.kind === 'page')
    return { address, error: 'the address alone does not tell the board: leave --unchecked out' };
  const { shape, token } = verdict;
  const board: Board = { shape, token, address: verdict.address, company, domain };
  return { address, board, jobs: null, word: isFromPackage ? null : wordOf(board, stated, null) };
}

/** Looks at addresses, several at a time, and yields the results in their order. */
export async function* looksOf<Item, Result>(
  items: readonly Item[],
  look: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const started: Promise<Result>[] = [];
  for (let at = 0; at < items.length; at++) {
    while (started.length < items.length && started.length < at + LOOKS_AT_ONCE) {
      started.push(look(items[started.length]!));
    }
    yield await started[at]!;
  }
}

export interface AddPlan {
  readonly folder: string;
  readonly boards: readonly StatedBoard[];
  /** null: send no requests. */
  readonly look: BoardLook | null;
  readonly isJson: boolean;
  /**
   * True: companies and domains come from the package. Every build knows these, so they are no words of the operator.
   */
  readonly isFromPackage?: boolean;
  /** Boards of addresses that were looked at before. */
  readonly known?: ReadonlyMap<string, Board>;
  /** Ends the run, keeping what was found by then. */
  readonly signal?: AbortSignal;
}

/** @returns the exit code @throws CommandError */
export async function addBoards(plan: AddPlan, io: Io): Promise<number> {
  const { boards, folder, isJson, look, signal } = plan;
  const totals = { added: 0, changed: 0, known: 0, failed: 0 };
  let waiting: Addition[] = [];
  const keep = async (): Promise<void> => {
    const kept = waiting;
    waiting = [];
    if (kept.length === 0) return;
    const hasBoards = kept.some((addition) => 'board' in addition);
    const stored = hasBoards
      ? await store(folder, kept, io.clock.nowMs())
      : kept.map((addition) => [addition, 'failed'] as const);
    for (const [addition, outcome] of stored) {
      totals[outcome]++;
      const said = outcome === 'known' ? 'known already' : outcome;
      if (isJson) io.stdout.write(`${additionJson(addition)}\n`);
      else if (boards.length <= 100 || 'error' in addition) io.stderr.write(lineOf(addition, said));
    }
  };
  const additions =
    look === null
      ? boards.map((stated) => uncheckedAddition(stated, plan))
      : looksOf(boards, async (stated) => additionOf(stated, await look.look(stated.address)));
  for await (const addition of additions) {
    if (signal?.aborted) break;
    waiting.push(addition);
    if (waiting.length === KEPT_AT_ONCE || (look !== null && boards.length < KEPT_AT_ONCE)) await keep();
  }
  await keep();
  const { added, changed, known, failed } = totals;
  const next = added > 0 ? `; \`watch --catalogue ${printable(folder)}\` fetches them` : '';
  io.stderr.write(
    `${quantity(added, 'board')} added, ${grouped(changed)} changed, ${grouped(known)} known already, ` +
      `${grouped(failed)} not taken${next}\n`,
  );
  return failed > 0 ? EXIT_FAILED : EXIT_OK;
}

type Outcome = 'added' | 'changed' | 'known' | 'failed';

/**
 * With the board as it is watched, which may have another spelling, and the company and domain that a build will give to it, as
 * far as its postings do not decide.
 */
function asBuilt(addition: Addition, tables: BoardTables, words: OperatorWords): Addition {
  if ('error' in addition) return addition;
  const board = tables.find(nameOfBoard(addition.board)) ?? addition.board;
  const employer = { shape: board.shape, board: board.token, names: [] };
  const word = words.wordOf(employer);
  const company = word?.name ?? board.company;
  const domain = word?.domain ?? loadCompanyList().domainOf(employer) ?? board.domain;
  return { ...addition, board: { ...board, company, domain } };
}

/** Stores additions. @returns each as a build will show it, with its outcome; one that would replace another page of its host is an error */
function store(
  folder: string,
  additions: readonly Addition[],
  nowMs: number,
): Promise<(readonly [Addition, Outcome])[]> {
  return changeBoards(folder, (tables, history) => {
    const words: OperatorWord[] = [];
    const outcomes = additions.map((addition) => {
      if ('error' in addition) return [addition, 'failed'] as const;
      const { address, board, word } = addition;
      const known = board.shape === 'jsonld' ? tables.find(nameOfBoard(board)) : undefined;
      if (known !== undefined && known.address !== board.address) {
        const error = `${known.name} is watched already at ${known.address}: remove that first, to watch this page instead`;
        return [{ address, error }, 'failed'] as const;
      }
      if (word !== null) words.push(word);
      if (boardOfAddress(address).kind === 'page') tables.putPage(address, nameOfBoard(board));
      return [addition, tables.put(board, nowMs)] as const;
    });
    storeWords(history, words);
    const known = new OperatorWords(storedWords(history));
    return outcomes.map(([addition, outcome]) => [asBuilt(addition, tables, known), outcome] as const);
  });
}
