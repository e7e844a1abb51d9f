/** The attackers' process, as the one that starts it sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { binaryOf, processEnvironment } from '../support/server.ts';
import type { Figures, Target } from './attack.ts';
import type { FromAttacker, ToAttacker } from './attacker.ts';
import type { AttackOrder } from './attacks.ts';

const ENTRY = fileURLToPath(new URL('attacker.ts', import.meta.url));

export class AttackerProcess {
  readonly #child: ChildProcess;
  #answer: ((message: FromAttacker) => void) | undefined;
  #fail: ((failure: Error) => void) | undefined;

  constructor() {
    this.#child = fork(ENTRY, [], {
      execPath: binaryOf('node'),
      execArgv: [],
      env: processEnvironment({}),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromAttacker) => this.#answer?.(message));
    this.#child.on('exit', (code) => this.#fail?.(new Error(`the attackers' process ended with ${code}`)));
  }

  #ask(message: ToAttacker): Promise<FromAttacker> {
    return new Promise((resolve, reject) => {
      this.#answer = resolve;
      this.#fail = reject;
      this.#child.send(message);
    });
  }

  /** Resolves when every attack has begun; with a seed, when they are about to. @throws Error when one cannot */
  async start(target: Target, orders: readonly AttackOrder[], seed?: number): Promise<void> {
    const answer = await this.#ask({ kind: 'start', target, orders, seed });
    if (answer.kind === 'failed') throw new Error(`the attack cannot begin: ${answer.why}`);
  }

  /** Figures by attack. */
  async figures(): Promise<Readonly<Record<string, Figures>>> {
    const answer = await this.#ask({ kind: 'figures' });
    return answer.kind === 'figures' ? answer.figures : {};
  }

  /** Ends all attacks; the process stays until `close`. */
  async stop(): Promise<Readonly<Record<string, Figures>>> {
    const answer = await this.#ask({ kind: 'stop' });
    return answer.kind === 'figures' ? answer.figures : {};
  }

  close(): void {
    this.#answer = undefined;
    this.#fail = undefined;
    this.#child.kill('SIGKILL');
  }
}
