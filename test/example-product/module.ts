/**
 * The example product: a second surface with two operations, one behind a key and one for a payment, a background task,
 * settings, readiness and metrics. docs/design.md walks through it; example-product.test.ts serves it.
 */
import type { SurfaceDefinition } from '../../src/app/modules.ts';
import type { Timers } from '../../src/base/timers.ts';
import { bind } from '../../src/http/operation.ts';
import { defineModule } from '../../src/modules/module.ts';
import { type SearchServices, searchJobs } from './search.ts';
import { EXAMPLE_SETTINGS } from './settings.ts';
import { countTicks, type TickServices } from './ticks.ts';

export const TICK_MS = 1000;

/** Runs every second from the start to the shutdown. */
class Ticks {
  count = 0;
  readonly #timers: Timers;
  #cancel: () => void = () => {};

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  start(): void {
    this.#cancel = this.#timers.after(TICK_MS, () => {
      this.count++;
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
  }
}

export const example = defineModule({
  tag: 'example',
  summary: 'Two operations that show how a product is added',
  settings: EXAMPLE_SETTINGS,
  componentNames: ['example'],
  routes: [searchJobs, countTicks],
  open({ config, catalogue, paid, shedding, timers }) {
    const pairs = (config.exampleKeys ?? '').split(',').map((pair) => pair.split('=') as [string, string]);
    const ticks = new Ticks(timers);
    const search: SearchServices = { keys: new Map(pairs), catalogue };
    const counting: TickServices = { paid, shedding, ticks };
    return {
      operations: [...bind('example', [searchJobs], search), ...bind('example', [countTicks], counting)],
      readiness: () => ({ example: true }),
      metrics: (page) => page.single('example_ticks_total', 'counter', 'Runs of the background task.', ticks.count),
      start: () => ticks.start(),
      drain: () => ticks.stop(),
    };
  },
});

/** The line in the list of surfaces. */
export const EXAMPLE: SurfaceDefinition = {
  name: 'example',
  title: 'example',
  description: 'A product on a surface of its own.',
  path: '/example',
  urlSetting: 'exampleUrl',
  modules: [example],
};
