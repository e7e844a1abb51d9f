/** Advice on a result. */
import { expect, it } from 'vitest';
import { hintsOn } from '../../src/load/hints.ts';
import type { Recorder } from '../../src/load/recorder.ts';
import { resultOf } from './load-result.ts';

it.each<[string, (recorder: Recorder) => void, RegExp]>([
  ['that all had their events', () => {}, /^every callback had its ten events .*: use more --callbacks/],
  [
    'of which some were given up',
    (recorder) => recorder.record('wait', 'ECONNRESET', false, 1, 2),
    /^no callback was left .*, or a wait or a webhook that failed$/,
  ],
])('a run without further callbacks is told of those %s', (_, fillRest, hint) => {
  const result = resultOf(
    (recorder) => {
      recorder.record('wait', '200', true, 0, 1);
      fillRest(recorder);
    },
    { ended: 'nothing left to send' },
  );
  expect(hintsOn(result, false)).toEqual([expect.stringMatching(hint)]);
});
