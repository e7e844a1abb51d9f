/**
 * Runs once before the tests that start processes: bundles the program that they start, as `npm run build` does, and builds the
 * catalogue that their servers open.
 */
import { rmSync } from 'node:fs';
import { bundle } from '../../tools/bundle.ts';
import { BUNDLE, PROJECT } from './server-paths.ts';
import { smallSample } from './small-sample.ts';

const state = globalThis as { paygradeBundled?: Promise<void> };

/** Projects are set up one by one, in one process. */
export function setup(): Promise<void> {
  state.paygradeBundled ??= (async () => {
    rmSync(BUNDLE, { recursive: true, force: true });
    await bundle(PROJECT, BUNDLE);
    process.env.PAYGRADE_SMALL_SAMPLE = smallSample();
  })();
  return state.paygradeBundled;
}
