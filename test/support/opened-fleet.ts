/**
 * Replaces a test's app by three processes on one PostgreSQL, behind the proxy of `paygrade fleet`, so that the
 * contract suite runs unchanged against a fleet. Tests that bring ports (a clock, targets, a facilitator) get three
 * apps in this process on one PostgreSQL, which receive the requests in turn.
 */
import { type App, type AppConfig, type AppPorts, openApp } from '../../src/app/app.ts';
import { startProxy } from '../../src/cli/fleet/proxy.ts';
import { openPostgresBackend } from '../../src/storage/postgres/backend.ts';
import type { Opener } from './opened-app.ts';
import { SERVER, testDatabase } from './postgres-database.ts';
import { faultOf } from './published.ts';
import { type RunningServer, startServer } from './server.ts';
import { inProcess, type Transport } from './transport.ts';

const RUNTIMES = ['node', 'node', 'bun'] as const;
const STATE_KEY = Buffer.alloc(32, 17).toString('base64');
const DEMO_KEY = /svc_key_[A-Za-z0-9_-]{43}/;

type Opened = Awaited<ReturnType<Opener['open']>>;

const freshDatabase = (clock?: AppPorts['clock']): ReturnType<typeof testDatabase> => {
  if (SERVER === undefined) throw new Error('there is no PostgreSQL');
  return testDatabase(SERVER, clock);
};

/** Refuses whatever a test asks of the app object itself, because other processes cannot provide it. */
const appOf = (servers: readonly RunningServer[]): App =>
  new Proxy({} as App, {
    get(_, name) {
      if (name !== 'demoKey') throw new Error(`the app is in other processes: no ${String(name)}`);
      return servers.map((one) => DEMO_KEY.exec(one.stdout() + one.stderr())?.[0]).find((key) => key !== undefined);
    },
  });

/** Sends requests to `url` over the proxy's socket; each answer is checked against the published contract. */
const behindProxy = (url: string, port: number): Transport => ({
  url,
  async fetch(target, init = {}) {
    const address = new URL(target.startsWith('/') ? url + target : target);
    const headers = new Headers(init.headers);
    if (!headers.has('host')) headers.set('host', address.host);
    // A reused connection may be one that the proxy is about to close.
    headers.set('connection', 'close');
    const at = `http://127.0.0.1:${port}${address.pathname}${address.search}`;
    const response = await fetch(at, { redirect: 'manual', ...init, headers });
    const bytes = new Uint8Array(await response.clone().arrayBuffer());
    const { status } = response;
    const method = init.method ?? 'GET';
    const fault = faultOf({ method, path: address.pathname, status, headers: response.headers, bytes });
    if (fault !== undefined) throw new Error(`not as the contract publishes it:\n${fault}`);
    return response;
  },
});

/** @param variables as in `openedApp`, with the public address. @param url the address to which requests are sent */
async function openProcesses(variables: Readonly<Record<string, string>>, url: string): Promise<Opened> {
  const database = await freshDatabase();
  const environment = { STATE_KEY, STATE_SYNC: 'normal', ...variables, DATABASE_URL: database.url };
  const servers: RunningServer[] = [];
  // The first creates the tables that the others find.
  for (const runtime of RUNTIMES) servers.push(await startServer(runtime, environment, true));
  const proxy = await startProxy(0);
  await proxy.take(servers.map(({ port }) => port));
  return {
    ...behindProxy(url, proxy.port),
    app: appOf(servers),
    async close() {
      await proxy.close();
      const codes = await Promise.all(servers.map((one) => one.stop()));
      await database.remove();
      if (codes.some((code) => code !== 0)) throw new Error(`processes ended with ${codes}`);
    },
  };
}

/** @param portsOf the ports of each app. @param url the address to which requests are sent */
async function openInTurn(config: AppConfig, portsOf: () => AppPorts, url: string): Promise<Opened> {
  const database = await freshDatabase(portsOf().clock);
  const settings = { ...config, stateKey: Buffer.from(STATE_KEY, 'base64'), databaseUrl: database.url };
  const apps: App[] = [];
  for (const _ of RUNTIMES) {
    const app = await openApp(settings, {
      ...portsOf(),
      openBackend: (options, own) =>
        openPostgresBackend(
          { ...options, databaseUrl: database.url, sync: 'normal' },
          { ...own, openConnections: () => database.connections(database.gateUrl) },
        ),
    });
    apps.push(app);
  }
  let turn = 0;
  const next = (): App => apps[turn++ % apps.length] as App;
  const [first] = apps as [App];
  const drain = (): void => {
    for (const app of apps) app.drain();
  };
  return {
    ...inProcess({ fetch: (request, peer) => next().fetch(request, peer) }, url),
    app: { ...first, drain },
    async close() {
      drain();
      for (const app of apps) await app.close();
      await database.remove();
    },
  };
}

export const open: Opener['open'] = (url, wanted) =>
  'variables' in wanted ? openProcesses(wanted.variables, url) : openInTurn(wanted.config, wanted.portsOf, url);
