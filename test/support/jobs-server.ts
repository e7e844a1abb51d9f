/** A started server, for customers of its jobs routes. */
import { companyDomainFrom, JobsClient } from './jobs-client.ts';
import { type RunningServer, type Runtime, startServer } from './server.ts';
import { overSocket } from './transport.ts';

export class JobsServer extends JobsClient {
  readonly server: RunningServer;

  constructor(server: RunningServer, domain: string) {
    super(overSocket(server.url), domain);
    this.server = server;
  }

  get port(): number {
    return this.server.port;
  }
}

/** Starts a server without rate limits; the test sets all other variables. */
export async function startJobsServer(
  runtime: Runtime,
  variables: Readonly<Record<string, string>> = {},
): Promise<JobsServer> {
  const server = await startServer(runtime, {
    RATE_LIMIT_PER_MINUTE: '0',
    CALLBACK_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'error',
    ...variables,
  });
  return new JobsServer(server, await companyDomainFrom(overSocket(server.url), variables));
}
