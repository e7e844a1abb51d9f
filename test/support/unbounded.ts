/** For listeners of tests that are not about the bounds on connections. */
import type { ListenOptions } from '../../src/adapters/listen/listen.ts';

export const UNBOUNDED: Pick<ListenOptions, 'bounds' | 'crowded'> = {
  bounds: { connectionsMax: 0, connectionsPerAddress: 0 },
  crowded: () => new Response(null, { status: 503 }),
};
