/** Servers that sell as one: real processes on one database, with a database server that a test can kill. */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { JobsClient } from '../support/jobs-client.ts';
import { type RunningServer, type Runtime, startServer } from '../support/server.ts';
import { overSocket } from '../support/transport.ts';
import { until } from '../support/until.ts';

/** One public address for all, as behind a proxy: an offer of one is an offer of each. */
const BASE_URL = 'http://gate.test';

export interface Member {
  readonly server: RunningServer;
  readonly client: JobsClient;
}

export class Fleet {
  readonly members: Member[] = [];
  readonly databaseUrl: string;
  readonly #runtimes: readonly Runtime[];
  readonly #variables: Readonly<Record<string, string>>;

  /** @param runtimes one for each member */
  constructor(databaseUrl: string, runtimes: readonly Runtime[], variables: Readonly<Record<string, string>> = {}) {
    this.databaseUrl = databaseUrl;
    this.#runtimes = runtimes;
    this.#variables = {
      DATABASE_URL: databaseUrl,
      STATE_KEY: randomBytes(32).toString('base64'),
      BASE_URL,
      RATE_LIMIT_PER_MINUTE: '0',
      CALLBACK_LIMIT_PER_MINUTE: '0',
      STATE_SYNC: 'normal',
      LOG_LEVEL: 'error',
      ...variables,
    };
  }

  async start(): Promise<this> {
    await Promise.all(this.#runtimes.map((_, place) => this.startMember(place)));
    return this;
  }

  /** Starts a member, or starts one that has ended again, at the port that it had. */
  async startMember(place: number): Promise<void> {
    const port = this.members[place]?.server.port ?? 0;
    const server = await startServer(this.#runtimes[place] as Runtime, { ...this.#variables, PORT: String(port) });
    this.members[place] = { server, client: new JobsClient(overSocket(server.url), '') };
  }

  client(place: number): JobsClient {
    return (this.members[place % this.members.length] as Member).client;
  }

  /** Resolves when every member is ready. @throws Error with what one said that is not in time */
  async ready(timeoutMs?: number): Promise<void> {
    for (const { server, client } of this.members) {
      let said = '';
      const isReady = async (): Promise<boolean> => {
        const { status, text } = await client.get('/ready');
        said = `${text}\n${server.stderr()}`;
        return status === 200;
      };
      await until('a process is ready again', isReady, timeoutMs).catch((failure: unknown) => {
        throw new Error(`${failure}: ${said}`);
      });
    }
  }

  /** The exit codes of all. */
  stop(): Promise<(number | null)[]> {
    return Promise.all(this.members.map(({ server }) => server.stop()));
  }

  /** Rows of a statement, straight from the database. */
  async rows<T>(text: string): Promise<T[]> {
    const client = new Client({ connectionString: this.databaseUrl });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(text)).rows as T[];
    } finally {
      await client.end();
    }
  }
}
