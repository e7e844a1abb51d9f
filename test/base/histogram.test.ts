import { expect, it } from 'vitest';
import { Histogram } from '../../src/base/histogram.ts';
import { Exposition } from '../../src/base/prometheus.ts';

it('counts a duration in its own bucket and in every larger one, and shows seconds', () => {
  const histogram = new Histogram([0.5, 1, 2500]);
  for (const durationMs of [0, 0.5, 0.6, 1, 2500, 2501]) histogram.add(durationMs);
  const page = new Exposition().family('wait_seconds', 'histogram', 'Waits.');
  histogram.write(page, { address: 'a' });
  expect(page.text.split('\n').slice(2, -1)).toEqual([
    'wait_seconds_bucket{address="a",le="0.0005"} 2',
    'wait_seconds_bucket{address="a",le="0.001"} 4',
    'wait_seconds_bucket{address="a",le="2.5"} 5',
    'wait_seconds_bucket{address="a",le="+Inf"} 6',
    `wait_seconds_sum{address="a"} ${(0.5 + 0.6 + 1 + 2500 + 2501) / 1000}`,
    'wait_seconds_count{address="a"} 6',
  ]);
});
