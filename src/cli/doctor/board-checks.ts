/**
 * The check of the watched boards (`CATALOGUE`): boards that are stale, shrinking or gone, and a watch that does not run.
 */
import type { Config } from '../../app/configuration.ts';
import { DAY_MS } from '../../base/durations.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import {
  BoardsUnavailableError,
  isOverdue,
  type ShownBoard,
  type WatchedBoardsView,
} from '../../catalogue/watched-boards.ts';
import { WatchedBoardsFile } from '../../storage/history/watched-boards-file.ts';
import type { Findings } from './finding.ts';

/** A board without a believable feed for this time is stale: three times the default of the longest pause between fetches. */
const STALE_MS = 3 * DAY_MS;
/** Boards that a finding names. */
const NAMED_MAX = 5;

function namesOf(boards: readonly ShownBoard[]): string {
  const names = boards.slice(0, NAMED_MAX).map(({ name, reason }) => (reason === null ? name : `${name} (${reason})`));
  return boards.length > NAMED_MAX
    ? `${names.join(', ')} and ${grouped(boards.length - NAMED_MAX)} more`
    : names.join(', ');
}

const countText = (boards: readonly ShownBoard[]): string => quantity(boards.length, 'board');

export function checkBoards(findings: Findings, { catalogue }: Pick<Config, 'catalogue'>, nowMs: number): void {
  if (catalogue === null) {
    findings.skipped('CATALOGUE is not set: no watched boards to check');
    return;
  }
  let view: WatchedBoardsView;
  try {
    view = new WatchedBoardsFile(catalogue).read(nowMs);
  } catch (failure) {
    if (!(failure instanceof BoardsUnavailableError)) throw failure;
    findings.note(failure.message, 'set CATALOGUE to the folder that `watch` or `import` fills');
    return;
  }
  judge(findings, view.boards, nowMs);
}

function judge(findings: Findings, boards: readonly ShownBoard[], nowMs: number): void {
  const having = (health: ShownBoard['health']): readonly ShownBoard[] =>
    boards.filter((board) => board.health === health);
  const gone = having('gone');
  const shrinking = having('unhealthy');
  const isSick = ({ health }: ShownBoard): boolean => health === 'gone' || health === 'unhealthy';
  const stale = boards.filter((board) => {
    return board.lastFetchMs !== null && !isSick(board) && nowMs - (board.lastOkMs ?? 0) > STALE_MS;
  });
  const partial = having('partial').filter((board) => !stale.includes(board));
  const overdue = boards.filter((board) => isOverdue(board, nowMs));
  findings.ok(`${countText(boards)}, ${grouped(having('ok').length)} of them well at the last fetch`);
  if (overdue.length > 0) {
    findings.note(
      `${countText(overdue)} due for an hour or more: ${namesOf(overdue)}`,
      'see that `watch` runs on CATALOGUE',
    );
  }
  if (gone.length > 0) {
    findings.note(
      `${countText(gone)} gone: ${namesOf(gone)}`,
      'look where the company lists its jobs now: `boards add` its new address, `boards remove` the old one',
    );
  }
  if (shrinking.length > 0) {
    findings.note(
      `${countText(shrinking)} shrinking, left as they were: ${namesOf(shrinking)}`,
      '`boards check BOARD` says what it lists now; when the fall is real, `import --complete --force` takes the file of its list',
    );
  }
  if (stale.length > 0) {
    findings.note(
      `${countText(stale)} stale, without a whole list for three days: ${namesOf(stale)}`,
      '`boards check BOARD` asks it now and says what is wrong',
    );
  }
  if (partial.length > 0) {
    findings.note(`${countText(partial)} never whole, so none of their jobs is closed: ${namesOf(partial)}`);
  }
}
