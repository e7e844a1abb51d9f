/** Cursors of the Jobs Data API: bound to route and filters, authenticated, good after a restart (siblings §4). */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { smallSample } from '../support/small-sample.ts';

const folder = suiteFolder();

interface Listed {
  readonly data: { readonly jobs: readonly { readonly id: string }[]; readonly next_cursor: string | null };
}

const STATE_KEY = Buffer.alloc(32, 7).toString('base64');

const open = (variables: Readonly<Record<string, string>>): Promise<OpenedApp> =>
  openedApp({ SNAPSHOT: smallSample(), KEY_RATE_LIMIT_PER_MINUTE: '0', ...variables });

const asker = (app: OpenedApp, key: string) => async (path: string) => {
  const response = await app.fetch(`/data${path}`, { headers: { authorization: `Bearer ${key}` } });
  const { data, error } = (await response.json()) as Partial<Listed> & { error?: { code: string } };
  return {
    status: response.status,
    code: error?.code,
    ids: data?.jobs?.map(({ id }) => id),
    cursor: data?.next_cursor,
  };
};

describe(`cursors, under ${RUNTIME}`, () => {
  it('go on for another limit, and for nothing but their own question', async () => {
    const app = await open({ STATE_DIR: ':memory:' });
    const ask = asker(app, app.app.demoKey!);
    const whole = await ask('/v1/jobs?limit=10');
    const first = await ask('/v1/jobs?limit=4');
    const { cursor } = first;
    expect(cursor).toMatch(/^[A-Za-z0-9_-]{1,300}$/);
    const rest = await ask(`/v1/jobs?limit=6&cursor=${cursor}`);
    expect([...first.ids!, ...rest.ids!]).toEqual(whole.ids);
    expect((await ask(`/v1/jobs?status=active&cursor=${cursor}`)).status).toBe(200);
    const filtered = await ask('/v1/jobs?status=any&observed_since=2020-01-01&limit=1');
    const turned = `/v1/jobs?cursor=${filtered.cursor}&observed_since=2020-01-01T00:00:00Z&status=any`;
    expect((await ask(turned)).status).toBe(200);
    const strangers = [
      `/v1/jobs?status=any&cursor=${cursor}`,
      `/v1/jobs?observed_since=2020-01-01&cursor=${cursor}`,
      `/v1/jobs/search?cursor=${cursor}`,
      `/v1/history?cursor=${cursor}`,
      `/v1/skills?cursor=${cursor}`,
      `/v1/companies/none.example/jobs?cursor=${cursor}`,
    ];
    for (const path of strangers) {
      // The cursor that was read last is remembered.
      expect((await ask(`/v1/jobs?cursor=${cursor}`)).status).toBe(200);
      const { status, code } = await ask(path);
      expect([path, status, code]).toEqual([path, 400, 'INVALID_CURSOR']);
    }
    await app.close();
  });

  it('go on when the domain of the path is written in another case', async () => {
    const app = await open({ STATE_DIR: ':memory:' });
    const ask = asker(app, app.app.demoKey!);
    const { data } = (await (
      await app.fetch('/data/v1/metrics/hiring', { headers: { authorization: `Bearer ${app.app.demoKey}` } })
    ).json()) as { data: { top_companies: { company: { domain: string | null } }[] } };
    const domain = data.top_companies.flatMap(({ company }) => company.domain ?? [])[0]!;
    const { cursor, status } = await ask(`/v1/companies/${domain}/jobs?status=any&limit=1`);
    expect([status, typeof cursor]).toEqual([200, 'string']);
    const lower = await ask(`/v1/companies/${domain}/jobs?status=any&limit=1&cursor=${cursor}`);
    const upper = await ask(`/v1/companies/${domain.toUpperCase()}/jobs?status=any&limit=1&cursor=${cursor}`);
    expect(upper).toEqual(lower);
    expect(upper.status).toBe(200);
    await app.close();
  });

  it('are refused with any one character changed, left out or added', async () => {
    const app = await open({ STATE_DIR: ':memory:' });
    const ask = asker(app, app.app.demoKey!);
    const { cursor } = await ask('/v1/jobs?limit=1');
    const text = cursor!;
    const bent = [...text].flatMap((letter, place) => [
      text.slice(0, place) + (letter === 'A' ? 'B' : 'A') + text.slice(place + 1),
      text.slice(0, place) + text.slice(place + 1),
    ]);
    for (const one of [
      ...bent,
      `${text}A`,
      `${text}=`,
      `${text}%0A`,
      'A'.repeat(300),
      'A'.repeat(301),
      'AAAA',
      '%2B',
      '%00',
      '',
    ]) {
      const { status, code } = await ask(`/v1/jobs?limit=1&cursor=${one}`);
      expect([one, status, code]).toEqual([one, 400, 'INVALID_CURSOR']);
    }
    await app.close();
  });

  it('hold after a restart on the same folder, and on every server with the same STATE_KEY', async () => {
    const STATE_DIR = join(folder, 'state');
    const one = await open({ STATE_DIR });
    const key = one.app.demoKey!;
    const { cursor } = await asker(one, key)('/v1/jobs?limit=2');
    await one.close();
    const again = await open({ STATE_DIR });
    expect((await asker(again, key)(`/v1/jobs?cursor=${cursor}`)).status).toBe(200);
    await again.close();

    const shared = await Promise.all([1, 2].map(() => open({ STATE_DIR: ':memory:', STATE_KEY })));
    const [left, right] = shared.map((app) => asker(app, app.app.demoKey!));
    const given = await left!('/v1/jobs?limit=2');
    expect((await right!(`/v1/jobs?cursor=${given.cursor}`)).status).toBe(200);
    expect((await right!(`/v1/jobs?cursor=${cursor}`)).code).toBe('INVALID_CURSOR');
    for (const app of shared) await app.close();
  });
});
