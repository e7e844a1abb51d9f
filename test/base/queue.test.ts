import { describe, expect, it } from 'vitest';
import { Queue } from '../../src/base/queue.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';

describe('a queue', () => {
  it.each([1, 2, 3])('gives what it took in the same order, as an array does (seed %i)', (seed) => {
    const random = new SeededRandom(seed);
    const queue = new Queue<number>();
    const model: number[] = [];
    const [given, wanted]: [unknown[], unknown[]] = [[], []];
    for (let i = 0; i < 5000; i++) {
      if (random.below(100) < (i < 2500 ? 60 : 40)) {
        queue.push(i);
        model.push(i);
      } else {
        given.push(queue.shift());
        wanted.push(model.shift());
      }
      given.push(queue.length, queue.first);
      wanted.push(model.length, model[0]);
    }
    expect(given).toEqual(wanted);
  });
});
