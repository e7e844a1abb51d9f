/** Three processes whose connections to the database can be cut, and a target for what they send out. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OwnServer } from '../support/postgres.ts';
import { TcpLink } from '../support/tcp-link.ts';
import { Fleet } from './fleet.ts';

export const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';

export interface LinkedFleet {
  readonly fleet: Fleet;
  /** Between the processes and the database. */
  readonly link: TcpLink;
  /** Answers everything with `{}`. */
  readonly targetUrl: string;
  /** Ends the database as well. */
  close(): Promise<void>;
}

/** @param server gets a new database for it */
export async function openLinkedFleet(server: OwnServer): Promise<LinkedFleet> {
  const target = createServer((request, response) => request.resume().on('end', () => response.end('{}')));
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  const targetUrl = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
  const url = await server.freshUrl();
  const link = await TcpLink.to(url);
  const fleet = await new Fleet(url, ['node', 'node', 'bun'], {
    DATABASE_URL: link.url,
    LOCAL_BALANCE: '1000000000000',
    SURFACES: 'jobs,callbacks,data,retry',
    TARGET_ALLOW: new URL(targetUrl).host,
    ADMIN_TOKEN,
  }).start();
  return {
    fleet,
    link,
    targetUrl,
    async close() {
      console.log(`${link.cutCount} connections were cut`);
      await fleet.stop();
      await link.end();
      target.closeAllConnections();
      target.close();
      await server.close();
    },
  };
}
