import { expect, it } from 'vitest';
import { EMPTY_BALANCE } from '../../../src/accounts/balance.ts';
import { GRANT_COUNT_MAX } from '../../../src/accounts/limits.ts';
import { MemoryAccounts } from '../../../src/storage/memory/accounts.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';

it('an organization gets the last grant that fits, and no other', () => {
  const time = new ManualTime();
  const onboarding = Array.from({ length: GRANT_COUNT_MAX - 1 }, (_, serial) => ({
    serial,
    amount: 1,
    remaining: 1,
    expiresAtMs: null,
  }));
  const accounts = new MemoryAccounts(
    { clock: time, timers: time, random: new Chance(1) },
    {
      isPlay: false,
      loaded: { organizations: [['acme', { ...EMPTY_BALANCE, onboarding }]], keys: [], damage: undefined },
    },
  );
  const grant = () => accounts.grant({ organization: 'acme', kind: 'onboarding', amount: 1, expiresAtMs: null });
  expect([grant(), grant()]).toMatchObject([{ kind: 'granted' }, { kind: 'full' }]);
});
