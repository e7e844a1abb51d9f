/** Which addresses may be put under load. */
import { describe, expect, it } from 'vitest';
import { isLoopback } from '../../src/base/ip-address.ts';
import { addressesOf, LoadError, parseTarget, TargetError } from '../../src/load/target.ts';

describe('a target', () => {
  it.each([
    ['http://127.0.0.1:8402', { hostname: '127.0.0.1', port: 8402, hostHeader: '127.0.0.1:8402', basePath: '' }],
    ['http://localhost/', { hostname: 'localhost', port: 80, basePath: '', isSecure: false }],
    ['https://[::1]/api/', { hostname: '::1', port: 443, hostHeader: '[::1]', basePath: '/api', isSecure: true }],
    ['http://0x7f000001:1', { hostname: '127.0.0.1', port: 1 }],
  ])('is read from %s', (text, target) => {
    expect(parseTarget(text)).toMatchObject(target);
  });

  it.each([
    '',
    'localhost:8402',
    '127.0.0.1',
    'ftp://localhost',
    'http://',
    'http://a@localhost',
    'http://:b@localhost',
    'http://localhost/?a=1',
    'http://localhost/#a',
  ])('is not read from %j', (text) => {
    expect(() => parseTarget(text)).toThrow(TargetError);
  });
});

describe('loopback', () => {
  it('is required of every address, unless the server is one’s own', async () => {
    expect(await addressesOf(parseTarget('http://127.0.0.2'), false)).toEqual(['127.0.0.2']);
    for (const address of await addressesOf(parseTarget('http://localhost'), false)) {
      expect(isLoopback(address)).toBe(true);
    }
    const foreign = parseTarget('http://192.0.2.1:8402');
    await expect(addressesOf(foreign, false)).rejects.toThrow(
      new TargetError('http://192.0.2.1:8402 is not this machine: --i-own-this-server says that you may load it'),
    );
    expect(await addressesOf(foreign, true)).toEqual(['192.0.2.1']);
    await expect(addressesOf(parseTarget('http://nobody.invalid'), true)).rejects.toThrow(LoadError);
  });
});
