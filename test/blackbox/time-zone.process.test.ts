/** The machine's time zone and language change nothing in an answer (reliability 273). */
import { describe, expect, it } from 'vitest';
import { createCallback } from '../support/callback-client.ts';
import { oneRuntime, startServer } from '../support/server.ts';
import { buy } from '../support/wallet.ts';

/** Far from UTC and with a half hour; and a language in which the small form of I is another letter. */
const ELSEWHERE = { TZ: 'Pacific/Marquesas', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };

interface Counted {
  readonly data: { readonly returned_jobs?: number; readonly jobs: readonly { readonly title: string }[] };
  readonly meta: { readonly generated_at: string };
}

describe.each(oneRuntime('bun'))('a server under %s with an odd time zone and language', (runtime) => {
  it('gives times in UTC, lifetimes of ten minutes, and the same matches in either case (reliability 273)', async () => {
    const server = await startServer(runtime, ELSEWHERE);
    const search = async (keyword: string): Promise<Counted> =>
      (await (await buy(`${server.url}/v1/jobs/search?keyword=${keyword}&limit=10`)).json()) as Counted;
    const beforeMs = Date.now();
    const [upper, lower] = [await search('ENGINEERING'), await search('engineering')];
    expect(lower.data.jobs.length).toBeGreaterThan(0);
    expect(upper.data).toEqual(lower.data);
    expect(upper.meta.generated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Math.abs(Date.parse(upper.meta.generated_at) - beforeMs)).toBeLessThan(10_000);
    const { expires_at } = await createCallback(server);
    expect(expires_at).toMatch(/Z$/);
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 600_000)).toBeLessThan(10_000);
    expect(await server.stop()).toBe(0);
  });
});
