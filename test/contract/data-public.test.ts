/** The two public operations of the Jobs Data API: caching, the fixed pool, the rate by address (siblings §4). */
import { describe, expect, it } from 'vitest';
import { answerOf, expectError } from '../support/answers.ts';
import { openedApp, RUNTIME } from '../support/opened-app.ts';
import { smallSample } from '../support/small-sample.ts';

const CACHE_CONTROL = 'max-age=60, s-maxage=300, stale-while-revalidate=600';
const PATHS = ['/data/v1/public/overview', '/data/v1/public/search?q=engineer'] as const;

describe(`public operations, under ${RUNTIME}`, () => {
  it.each(PATHS)('%s has its cache header, a weak entity tag, and 304 without a body', async (path) => {
    const app = await openedApp({ SNAPSHOT: smallSample() });
    const first = await app.fetch(path);
    const tag = first.headers.get('etag')!;
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, CACHE_CONTROL]);
    expect(tag).toMatch(/^W\/"[A-Za-z0-9_-]{22}"$/);
    expect((await app.fetch(path)).headers.get('etag')).toBe(tag);
    for (const listed of [tag, tag.slice(2), `"other", ${tag}`, '*', `${tag},"other"`]) {
      const known = await app.fetch(path, { headers: { 'if-none-match': listed } });
      expect([listed, known.status, await known.text()]).toEqual([listed, 304, '']);
      expect([known.headers.get('etag'), known.headers.get('cache-control')]).toEqual([tag, CACHE_CONTROL]);
    }
    for (const other of ['"other"', 'W/"other"', tag.slice(0, -1), '']) {
      expect((await app.fetch(path, { headers: { 'if-none-match': other } })).status).toBe(200);
    }
    await app.close();
  });

  it('the entity tag is that of catalogue and question', async () => {
    const [one, other] = await Promise.all([openedApp({ SNAPSHOT: smallSample() }), openedApp({ SNAPSHOT: 'sample' })]);
    const tags = await Promise.all(
      [one, other].flatMap((app) =>
        [...PATHS, '/data/v1/public/search?q=manager'].map(async (path) => (await app.fetch(path)).headers.get('etag')),
      ),
    );
    expect(new Set(tags).size).toBe(tags.length);
    await one.close();
    await other.close();
  });

  it('needs a question, takes nothing else, and counts by address', async () => {
    const app = await openedApp({ SNAPSHOT: smallSample(), RATE_LIMIT_PER_MINUTE: '2' });
    const get = async (path: string) => answerOf(await app.fetch(path));
    expectError(await get('/data/v1/public/search'), 400, 'MISSING_PARAMETER');
    expectError(await get('/data/v1/public/search?q=a'), 400, 'INVALID_PARAMETER');
    expectError(await get('/data/v1/public/search?q=a+b+c+d+e+f+g+h+i'), 400, 'INVALID_PARAMETER');
    expectError(await get('/data/v1/public/search?q=engineer&limit=1'), 400, 'UNKNOWN_PARAMETER');
    expectError(await get('/data/v1/public/overview?q=x'), 400, 'UNKNOWN_PARAMETER');
    expect((await get('/data/v1/public/overview')).status).toBe(200);
    expect((await get('/data/v1/public/search?q=engineer')).status).toBe(200);
    expectError(await get('/data/v1/public/overview'), 429, 'RATE_LIMIT_EXCEEDED');
    await app.close();
    const none = await openedApp({ SNAPSHOT: 'none' });
    expectError(await answerOf(await none.fetch('/data/v1/public/overview')), 503, 'CATALOGUE_UNAVAILABLE');
    await none.close();
  });
});
