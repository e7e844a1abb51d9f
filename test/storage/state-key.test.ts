import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/base/random.ts';
import { keptStateKey } from '../../src/storage/state-key.ts';

const folders: string[] = [];
const folder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'paygrade-state-key-')));
  return folders.at(-1)!;
};
afterEach(() => {
  for (const one of folders.splice(0)) rmSync(one, { recursive: true });
});

describe('the key of a state', () => {
  it('is made once, for the owner of the folder alone', () => {
    const stateDir = join(folder(), 'state');
    const first = keptStateKey(stateDir, systemRandom);
    expect(first).toHaveLength(32);
    expect(keptStateKey(stateDir, systemRandom)).toEqual(first);
    expect(statSync(join(stateDir, 'state-key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(stateDir, 'state-key'), 'utf8').trim()).toBe(Buffer.from(first).toString('base64'));
  });

  it('is another one for each state, and for each start in memory', () => {
    const keys = [keptStateKey(folder(), systemRandom), keptStateKey(folder(), systemRandom)];
    keys.push(keptStateKey(null, systemRandom), keptStateKey(null, systemRandom));
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(4);
  });

  it.each(['', 'AAAA', 'not base64 at all, but of a fitting length!', `${'A'.repeat(43)}=x`])(
    'is not what a damaged file holds: %j',
    (text) => {
      const stateDir = folder();
      writeFileSync(join(stateDir, 'state-key'), text);
      expect(() => keptStateKey(stateDir, systemRandom)).toThrow(/state-key holds no key of 32 bytes as base64/);
      expect(readFileSync(join(stateDir, 'state-key'), 'utf8')).toBe(text);
    },
  );
});
