import { describe, expect, it } from 'vitest';
import { parseHosts } from '../../../src/adapters/outbound/resolver.ts';

describe('a hosts file', () => {
  it('gives each name its addresses in order, without comments and twice the same', () => {
    const hosts = parseHosts(`# made by hand
127.0.0.1 localhost
::1\tlocalhost ip6-localhost # both
10.0.0.1   DB.example.com db
10.0.0.1 db
  10.0.0.2 db
#10.0.0.3 db

10.0.0.4`);
    expect(Object.fromEntries(hosts)).toEqual({
      localhost: ['127.0.0.1', '::1'],
      'ip6-localhost': ['::1'],
      'db.example.com': ['10.0.0.1'],
      db: ['10.0.0.1', '10.0.0.2'],
    });
  });
});
