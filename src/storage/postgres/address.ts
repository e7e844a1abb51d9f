/**
 * `DATABASE_URL` (siblings §9): where the database is and how it is reached. A host that is neither loopback nor a socket needs
 * TLS with a checked certificate, unless the address says `sslmode=disable`. The password stays inside {@link DatabaseAddress}
 * and appears in no message.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { bareHostOf, isLoopbackHost } from '../../base/ip-address.ts';
import { StateError } from '../state-error.ts';

export interface DatabaseAddress {
  /** Name or IP address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** false: no TLS. */
  readonly ssl: false | ConnectionOptions;
  /** For messages: `host:port/database`, without user and password. */
  readonly shown: string;
}

const PORT = 5432;
/** The libpq parameters that this server supports; it refuses any other rather than ignore it. */
const PARAMETERS: ReadonlySet<string> = new Set(['sslmode', 'sslrootcert', 'host']);
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

const decoded = (text: string): string | undefined => (text === '' ? undefined : decodeURIComponent(text));

function certificateOf(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new StateError(`${name}: sslrootcert ${JSON.stringify(file)} cannot be read`);
  }
}

function tlsOf(name: string, host: string, mode: string | null, rootFile: string | null): false | ConnectionOptions {
  if (mode !== null && !(SSL_MODES as readonly string[]).includes(mode)) {
    throw new StateError(`${name}: sslmode must be one of ${SSL_MODES.join(', ')}`);
  }
  if (mode === 'disable') return false;
  if (mode === null && (host.startsWith('/') || isLoopbackHost(host))) return false;
  const ca = rootFile === null ? undefined : certificateOf(name, rootFile);
  return { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) };
}

/**
 * @param name of the setting or option, for messages
 * @param text `postgres://user:password@host:port/database?sslmode=...&sslrootcert=...`; `?host=/folder` names a socket
 * @throws StateError one line without the address, when the address has another form
 */
export function parseDatabaseUrl(text: string, name = 'DATABASE_URL'): DatabaseAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new StateError(`${name} must be an address like postgres://user:password@host:5432/database`);
  }
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') {
    throw new StateError(`${name} must begin with postgres:// or postgresql://`);
  }
  for (const parameter of url.searchParams.keys()) {
    if (!PARAMETERS.has(parameter)) {
      throw new StateError(
        `${name}: unknown parameter ${JSON.stringify(parameter)}; known are ${[...PARAMETERS].join(', ')}`,
      );
    }
  }
  try {
    const host = url.searchParams.get('host') ?? decoded(bareHostOf(url.hostname)) ?? 'localhost';
    const port = url.port === '' ? PORT : Number(url.port);
    const database = decoded(url.pathname.slice(1));
    return {
      host,
      port,
      user: decoded(url.username),
      password: decoded(url.password),
      database,
      ssl: tlsOf(name, host, url.searchParams.get('sslmode'), url.searchParams.get('sslrootcert')),
      shown: `${host}${host.startsWith('/') ? '' : `:${port}`}/${database ?? ''}`,
    };
  } catch (failure) {
    if (failure instanceof URIError) throw new StateError(`${name} holds a broken percent encoding`);
    throw failure;
  }
}
