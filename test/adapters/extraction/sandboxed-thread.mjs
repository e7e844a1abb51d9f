/** An extraction thread in a sandbox that forbids setpriority(2), as `SystemCallFilter=~@resources` of systemd does. */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

os.setPriority = () => {
  throw Object.assign(new Error('operation not permitted'), { code: 'ERR_SYSTEM_ERROR' });
};
syncBuiltinESMExports();
await import('../../../src/adapters/extraction/extraction-worker.ts');
