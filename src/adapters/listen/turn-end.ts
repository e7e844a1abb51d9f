/**
 * What a turn of the loop leaves for its end: answers, and tasks that need all input of the turn consumed first. Answers
 * written one after the other cost less: reading, handling and writing then run in a row each, with their code in the
 * processor's caches, and a client on the same machine is woken once for several of them (docs/benchmarks.md, "Answers
 * written together"). Where turns have few answers each is written at once.
 */
import type { Clock } from '../../base/clock.ts';
import { AT_ONCE_COUNT, GATHERED_COUNT_MAX, GATHERED_MS } from './limits.ts';

export class TurnEnd<Answer> {
  readonly #write: (answer: Answer) => void;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #tasks: (() => void)[] = [];
  #answers: Answer[] = [];
  /** Answers of this turn, and whether the last one had more than are written at once. */
  #turnCount = 0;
  #hasMany = false;
  /** When the first of the gathered answers came. */
  #sinceMs = 0;
  #isScheduled = false;

  /** @param write never throws */
  constructor(write: (answer: Answer) => void, clock: Pick<Clock, 'monotonicMs'>) {
    this.#write = write;
    this.#clock = clock;
  }

  /** Runs a task at the end of the turn, before its answers are written. @param task never throws */
  run(task: () => void): void {
    this.#tasks.push(task);
    this.#schedule();
  }

  /**
   * Writes an answer: at once if it is among the first few of this turn and of the last; otherwise at the end of the turn,
   * or now, with those before it, if they are many or the first has waited.
   */
  write(answer: Answer): void {
    this.#schedule();
    if (++this.#turnCount <= AT_ONCE_COUNT && !this.#hasMany) {
      this.#write(answer);
      return;
    }
    const count = this.#answers.push(answer);
    if (count === 1) this.#sinceMs = this.#clock.monotonicMs();
    else if (count >= GATHERED_COUNT_MAX) this.flush();
    else this.look();
  }

  /** Writes the answers gathered so far if the first has waited. To be called after each handler that leaves no answer. */
  look(): void {
    if (this.#answers.length === 0 || this.#clock.monotonicMs() - this.#sinceMs < GATHERED_MS) return;
    this.flush();
  }

  /** Writes the answers gathered so far. */
  flush(): void {
    const answers = this.#answers;
    if (answers.length === 0) return;
    this.#answers = [];
    for (const answer of answers) this.#write(answer);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    this.#isScheduled = false;
    const tasks = this.#tasks;
    if (tasks.length > 0) {
      this.#tasks = [];
      for (const task of tasks) task();
    }
    this.flush();
    this.#hasMany = this.#turnCount > AT_ONCE_COUNT;
    this.#turnCount = 0;
  };
}
