/** The app in this process, for customers of its jobs routes. */
import type { AppPorts } from '../../src/app/app.ts';
import { companyDomainFrom, JobsClient } from './jobs-client.ts';
import { type OpenedApp, openedApp } from './opened-app.ts';

export class JobsApp extends JobsClient {
  readonly opened: OpenedApp;

  constructor(opened: OpenedApp, domain: string) {
    super(opened, domain);
    this.opened = opened;
  }

  close(): Promise<void> {
    return this.opened.close();
  }
}

export async function openJobsApp(
  variables: Readonly<Record<string, string>> = {},
  ports: Partial<AppPorts> = {},
): Promise<JobsApp> {
  const opened = await openedApp(variables, ports);
  return new JobsApp(opened, await companyDomainFrom(opened, variables));
}
