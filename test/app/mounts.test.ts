/** Which surface answers a request, by its host and path. */
import { describe, expect, it } from 'vitest';
import type { SurfaceDefinition } from '../../src/app/modules.ts';
import { type MountedSurface, mountNotices, mountsOf, surfaceFinder } from '../../src/app/mounts.ts';
import { ConfigError } from '../../src/config/config.ts';
import type { Target } from '../../src/http/target.ts';

const surface = (path: '' | `/${string}`): SurfaceDefinition => ({
  name: path === '' ? null : path.slice(1),
  title: path,
  description: path,
  path,
  urlSetting: path,
  modules: [],
});

/** @param urls path of each surface, to its public address or null */
function finderOf(urls: Record<'' | `/${string}`, string | null>) {
  const definitions = (Object.keys(urls) as ('' | `/${string}`)[]).map(surface);
  const mounts = mountsOf(definitions, { baseUrl: 'https://base.test', ...urls });
  const mounted = mounts.map((mount): MountedSurface<Response> => {
    const handle = (_: unknown, { path, search }: Target, below: unknown): Response =>
      Response.json({ surface: mount.definition.path, below, path, search });
    return { ...mount, surface: { find: (path: string) => path, handle } as never };
  });
  const find = surfaceFinder(mounted);
  const ask = async (url: string, host: string): Promise<unknown> =>
    (await find(new Request(url, { headers: { host } }), { address: '' }, 0)).json();
  return async (url: string, host = 'base.test'): Promise<string> => {
    const answer = await ask(url, host);
    const { pathname: path, search } = new URL(url);
    expect(answer).toMatchObject({ path, search });
    // What is known of an address from earlier requests changes nothing.
    expect(await ask(`${url}?a=1`, host)).toEqual({ ...(answer as object), search: '?a=1' });
    for (let i = 0; i < 3; i++) expect(await ask(url, host)).toEqual(answer);
    const { surface: of, below } = answer as Record<string, string>;
    return `${of} ${below}`;
  };
}

const BASE = 'https://base.test';

describe('the surface of a request', () => {
  it.each([
    ['/data/v1', '/data /v1'],
    ['/data', '/data /'],
    ['/data/', '/data /'],
    ['/database', ' /database'],
    ['/', ' /'],
    ['/data/deep/v1', '/data/deep /v1'],
    ['/data/deeper', '/data /deeper'],
  ])('by its path, the longest mount first: %s', async (path, expected) => {
    const find = finderOf({ '': null, '/data': null, '/data/deep': null });
    expect(await find(`${BASE}${path}`)).toBe(expected);
  });

  it.each([
    ['shop.test', '/a', '/data /a'],
    ['SHOP.test:443', '/a', '/data /a'],
    ['shop.test:80', '/a', '/data /a'],
    ['shop.test.', '/a', '/data /a'],
    ['shop.test.:443', '/a', '/data /a'],
    ['shop.test', '/deep/a', '/data/deep /a'],
    ['shop.test', '/data/a', '/data /a'],
    ['shop.test', '/data/deep/a', '/data/deep /a'],
    ['shop.test', '/database', '/data /database'],
    ['shop.test:8443', '/a', ' /a'],
    ['other.test', '/a', ' /a'],
    ['other.test', '/data/a', '/data /a'],
    ['base.test', '/deep/a', ' /deep/a'],
  ])('by its host, as clients may write it: %s%s', async (host, path, expected) => {
    const find = finderOf({ '': null, '/data': 'https://shop.test', '/data/deep': 'https://shop.test/deep' });
    expect(await find(`${BASE}${path}`, host)).toBe(expected);
  });

  it('is one only: two at one path, or at one address, are refused at start', () => {
    const at = (path: '' | `/${string}`): SurfaceDefinition => surface(path);
    const config = { baseUrl: BASE, '': null, '/a': 'https://shop.test/x', '/b': 'https://SHOP.test:443/x' };
    expect(() => mountsOf([at('/a'), at('/a')], config)).toThrow('two surfaces are mounted at /a');
    expect(() => mountsOf([at(''), at('')], config)).toThrow('two surfaces are mounted at the root');
    expect(() => mountsOf([at('/a'), at('/b')], config)).toThrow('two surfaces are mounted at shop.test/x');
    expect(() => mountsOf([at('/a'), at('/b')], { ...config, baseUrl: 'https://shop.test' })).not.toThrow();
    // The path of one is the address of the other.
    const crossed = { ...config, '/a': 'https://shop.test/x', '/b': 'https://shop.test/a' };
    expect(() => mountsOf([at('/a'), at('/b')], crossed)).toThrow('two surfaces are mounted at shop.test/a');
  });

  it('is not the address of the base, whose operations stand there', () => {
    const config = { baseUrl: BASE, '': null, '/data': BASE };
    expect(() => mountsOf([surface(''), surface('/data')], config)).toThrow(ConfigError);
    expect(() => mountsOf([surface(''), surface('/data')], { ...config, '/data': `${BASE}/other` })).not.toThrow();
  });

  it.each([
    ['https://base.test/rr', BASE, true],
    ['https://base.test:443/', `${BASE}/api`, true],
    ['https://base.test/retry', BASE, false],
    ['http://base.test/retry', `${BASE}/api`, false],
    ['https://base.test/api/retry', `${BASE}/api`, false],
    ['https://retry.test/rr', BASE, false],
    [null, `${BASE}/api`, false],
  ])(
    'at %s, with the base %s, leads elsewhere without a proxy that changes the path: %j',
    (retryUrl, baseUrl, isSaid) => {
      const definition = { ...surface('/retry'), title: 'Retry API', urlSetting: 'retryUrl' };
      const mounts = mountsOf([surface(''), definition], { baseUrl, '': null, retryUrl });
      const said = expect.stringMatching(/^Retry API: its address .* below \/retry alone: change RETRY_URL, or /);
      expect(mountNotices(mounts, baseUrl)).toEqual(isSaid ? [said] : []);
    },
  );

  it('takes its address from a setting that exists', () => {
    expect(() => mountsOf([surface('/data')], { baseUrl: BASE })).toThrow(
      'the surface data takes its address from /data, which is no setting in the list of src/app/configuration.ts',
    );
  });

  it('needs a base', () => {
    expect(() => surfaceFinder([])).toThrow('no surface is mounted at the root');
  });
});
