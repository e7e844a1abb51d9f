/** `up`, as real processes: it watches and serves, and waits for no page before it serves. */
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BoardStub } from '../support/board-stub.ts';
import { greenhouseBoard as boardOf, greenhouseListing as listing } from '../support/greenhouse-listing.ts';
import { testFolder } from '../support/scratch-folder.ts';
import { binaryOf, listeningPort, MAIN, startProcess } from '../support/server.ts';
import { until } from '../support/until.ts';
import { run } from './captured-io.ts';

let folder: string;
let stub: BoardStub;
beforeEach(async () => {
  folder = testFolder();
  stub = await BoardStub.open();
});
afterEach(() => {
  stub.close();
});

const at = (name: string): string => join(folder, name);

/** Starts it in the folder. `names` gives what the catalogue says of companies. */
async function startUp(...words: readonly string[]) {
  const started = startProcess(
    binaryOf('node'),
    [MAIN, 'up', '--host-pause-ms', '0', ...words],
    { ...stub.env, PORT: '0', STATE_DIR: at('state'), LOG_LEVEL: 'error' },
    '',
    folder,
  );
  const port = await listeningPort(started);
  const names = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/v1/companies?q=firm`)).text();
  return { started, names };
}

describe('up', () => {
  it('adds the boards of a file, serves at once and then what the watch finds, and ends both', async () => {
    stub.list(boardOf('acme'), listing('acme', 5, 'Acme Firm'));
    writeFileSync(at('boards.csv'), 'address\nhttps://job-boards.greenhouse.io/acme\n');
    const { names, started } = await startUp('--boards', 'boards.csv', '--catalogue=-looks-like-an-option');
    await until('the jobs of the board', async () => (await names()).includes('Acme Firm'), 20_000);
    expect(started.stdout()).toMatch(/"board":"greenhouse:acme","status":"ok"/);
    started.child.kill('SIGTERM');
    expect((await started.ended).exitCode).toBe(0);
    // The watch has let go of the catalogue.
    const words = ['watch', '--catalogue', at('-looks-like-an-option'), '--out', at('jobs.snapshot'), '--once'];
    const again = startProcess(binaryOf('node'), [MAIN, ...words], stub.env);
    expect((await again.ended).exitCode).toBe(0);
  }, 60_000);

  it('makes nothing with a setting that the server refuses', async () => {
    writeFileSync(at('boards.csv'), 'greenhouse:acme\n');
    const words = ['up', '--boards', at('boards.csv'), '--catalogue', at('catalogue')];
    const { exitCode, stderr } = await run(words, { env: { PORT: 'abc' } });
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^paygrade: PORT [^\n]+\n$/)]);
    expect(existsSync(at('catalogue'))).toBe(false);
  });

  it('starts no watch again that a signal to the whole group has ended', async () => {
    stub.list(boardOf('acme'), listing('acme', 5, 'Acme Firm'));
    writeFileSync(at('boards.csv'), 'address\nhttps://job-boards.greenhouse.io/acme\n');
    const { names, started } = await startUp('--boards', 'boards.csv', '--drain-seconds', '2');
    await until('the jobs of the board', async () => (await names()).includes('Acme Firm'), 20_000);
    const { pid } = started.child;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    for (const one of [pid!, ...children]) process.kill(one, 'SIGTERM');
    expect(await started.ended).toMatchObject({ exitCode: 0 });
    expect(started.stderr()).not.toContain('starts again');
  }, 60_000);

  it('ends at a SIGTERM that comes before it serves', async () => {
    const mute = createServer().listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const database = `postgres://a:b@127.0.0.1:${(mute.address() as AddressInfo).port}/x`;
    const started = startProcess(
      binaryOf('node'),
      [MAIN, 'up'],
      { ...stub.env, PORT: '0', DATABASE_URL: database, STATE_KEY: Buffer.alloc(32).toString('base64') },
      '',
      folder,
    );
    await until('the watch', () => /this waits for some/.test(started.stderr()), 20_000);
    started.child.kill('SIGTERM');
    expect(await started.ended).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining('listening') });
    mute.close();
  }, 60_000);

  it('serves before the pages of the file have answered, and looks at none again at the next start', async () => {
    const page = '/slow.example/careers';
    let answerPage = (): void => {};
    let asked = 0;
    stub.searches.set(page, () => (_: unknown, response: ServerResponse) => {
      asked++;
      answerPage = () => void response.end('<iframe src="https://boards.greenhouse.io/embed/job_board?for=slow">');
    });
    for (const token of ['acme', 'slow']) stub.list(boardOf(token), listing(token, 5, `Firm ${token}`));
    writeFileSync(at('boards.csv'), 'address\nhttps://job-boards.greenhouse.io/acme\nhttps://slow.example/careers\n');
    const first = await startUp('--boards', 'boards.csv', '--every-min', '1m');
    await until('the jobs of the board', async () => (await first.names()).includes('Firm acme'), 20_000);
    await until('a request for the page', () => asked === 1, 20_000);
    expect(await first.names()).not.toContain('Firm slow');
    answerPage();
    await until('the board of the page', () => /greenhouse:slow/.test(first.started.stderr()), 20_000);
    first.started.child.kill('SIGTERM');
    expect((await first.started.ended).exitCode).toBe(0);
    const second = await startUp('--boards', 'boards.csv');
    await until('the jobs of the page’s board', async () => (await second.names()).includes('Firm slow'), 20_000);
    second.started.child.kill('SIGTERM');
    expect((await second.started.ended).exitCode).toBe(0);
    expect(asked).toBe(1);
  }, 60_000);

  it('looks at no page any more when it is killed', async () => {
    let isAsked = false;
    let hasEnded = false;
    stub.searches.set('/slow.example/careers', () => (_: unknown, response: ServerResponse) => {
      isAsked = true;
      response.once('close', () => {
        hasEnded = true;
      });
    });
    writeFileSync(at('boards.csv'), 'address\nhttps://slow.example/careers\n');
    const { started } = await startUp('--boards', 'boards.csv');
    await until('a request for the page', () => isAsked, 20_000);
    expect(hasEnded).toBe(false);
    started.child.kill('SIGKILL');
    await started.exited;
    await until('its end', () => hasEnded, 10_000);
  }, 60_000);

  it('says that a page of the file was not taken, and serves the rest', async () => {
    stub.list(boardOf('acme'), listing('acme', 5, 'Firm acme'));
    writeFileSync(at('boards.csv'), 'address\nhttps://job-boards.greenhouse.io/acme\nhttps://none.example/careers\n');
    const { names, started } = await startUp('--boards', 'boards.csv');
    await until('the jobs of the board', async () => (await names()).includes('Firm acme'), 20_000);
    await until('the report', () => /not every board of the file was added/.test(started.stderr()), 20_000);
    expect(started.stderr()).toMatch(/https:\/\/none\.example\/careers: the page cannot be read: status 404/);
    started.child.kill('SIGTERM');
    expect((await started.ended).exitCode).toBe(0);
  }, 60_000);

  it('builds its first snapshot as the options of builds say', async () => {
    const job = { id: 'a', title: 'Cook', company: 'Old Firm', source_url: 'https://old.example/a' };
    const times = { first_observed_at: '2020-01-01', last_observed_at: '2020-01-02' };
    writeFileSync(at('jobs.jsonl'), JSON.stringify({ ...job, ...times }));
    const imported = startProcess(
      binaryOf('node'),
      [MAIN, 'import', '--catalogue', at('catalogue'), at('jobs.jsonl')],
      {},
    );
    expect((await imported.ended).exitCode).toBe(0);
    const { names, started } = await startUp('--max-age-days', '30');
    expect(await names()).not.toContain('Old Firm');
    started.child.kill('SIGTERM');
    expect((await started.ended).exitCode).toBe(0);
  }, 60_000);
});
