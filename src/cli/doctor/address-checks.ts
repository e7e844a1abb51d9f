/** Checks of the listening address and the public address. They only send requests and listen on a free port. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { type Config, publicAddressesOf } from '../../app/configuration.ts';
import { isLoopbackHost } from '../../base/ip-address.ts';
import { objectOf, parseJson } from '../../base/json-value.ts';
import { printable } from '../../base/printable.ts';
import { IN_MEMORY, NO_CATALOGUE, originOf } from '../../config/settings.ts';
import { hookNotices } from '../../config/surfaces.ts';
import { closedFolder } from '../../storage/folder-fault.ts';
import { lockHolder } from '../../storage/sqlite/inspect.ts';
import { LOCK_FILE } from '../../storage/sqlite/lock.ts';
import { type Asked, ask } from './ask.ts';
import { type Findings, oneLine } from './finding.ts';

const LOCAL_TIMEOUT_MS = 2000;
const PUBLIC_TIMEOUT_MS = 5000;

/** Tries to listen on the host. @returns undefined when that works, else the system's code */
function listenFault(host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (failure: NodeJS.ErrnoException) => resolve(failure.code ?? failure.message));
    server.listen({ host, port: 0 }, () => server.close(() => resolve(undefined)));
  });
}

/** An address that reaches a server listening on `host` from this machine. */
const reachable = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host);

/** The first port that needs no privilege (Linux; 1024 elsewhere). */
function unprivilegedFrom(): number {
  const path = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
  return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 1024;
}

const isPaygrade = (asked: Asked): boolean => {
  const { status, version } =
    (asked.kind === 'answer' && asked.status === 200 && objectOf(parseJson(asked.text))) || {};
  return status === 'ok' && typeof version === 'string';
};

/** What keeps a server from being ready, by its own `/ready`. */
function unreadyIn(ready: Asked): readonly string[] {
  if (ready.kind === 'failed') return [`no answer to /ready (${ready.code})`];
  const components = objectOf(parseJson(ready.text)) ?? {};
  const unready = Object.keys(components).filter((name) => components[name] === false);
  return unready.length > 0 || ready.status === 200 ? unready : [`status ${ready.status}`];
}

async function checkRunning(findings: Findings, origin: string): Promise<void> {
  const unready = unreadyIn(await ask(`${origin}/ready`, { timeoutMs: LOCAL_TIMEOUT_MS }));
  if (unready.length === 0) findings.ok(`a paygrade server runs at ${origin} and is ready`);
  else
    findings.mend(
      `a paygrade server runs at ${origin}; not ready: ${oneLine(unready.join(', '))}`,
      'see the other findings and the log of the server',
    );
}

/** A server that works on another folder has other settings than these. A database and memory have no lock to look at. */
function checkWhose(findings: Findings, { stateDir, databaseUrl }: Config): void {
  if (databaseUrl !== null || stateDir === IN_MEMORY || closedFolder(stateDir, LOCK_FILE) !== undefined) return;
  if (lockHolder(stateDir).kind === 'none') {
    findings.note(
      `no server that this process can see works on STATE_DIR ${printable(stateDir)}: the one at the port seems to have other settings`,
      'give doctor the variables of that server; for a second server, set PORT to another port',
    );
  }
}

/** Checks HOST and PORT. @returns whether a paygrade server runs there */
export async function checkPort(findings: Findings, config: Config): Promise<boolean> {
  const { host, port } = config;
  const fault = await listenFault(host);
  if (fault !== undefined) {
    findings.mend(`nothing can listen on HOST ${host}: ${fault}`, 'set HOST to an address of this machine, or 0.0.0.0');
    return false;
  }
  if (port === 0) {
    findings.ok('PORT=0: each start takes a free port');
    return false;
  }
  const origin = originOf(reachable(host), port);
  const health = await ask(`${origin}/health`, { timeoutMs: LOCAL_TIMEOUT_MS });
  const isRunning = isPaygrade(health);
  if (isRunning) {
    await checkRunning(findings, origin);
    checkWhose(findings, config);
  } else if (health.kind === 'failed' && /refused/i.test(health.code)) {
    const isPrivileged = port < unprivilegedFrom() && process.getuid?.() !== 0;
    if (isPrivileged)
      findings.mend(
        `PORT ${port} needs a privilege that this user does not have`,
        'set PORT above 1023 and put a proxy in front',
      );
    else findings.ok(`${host}:${port} is free`);
  } else {
    const what = health.kind === 'failed' ? health.code : `status ${health.status}`;
    findings.mend(`something else is at ${host}:${port} (${what})`, 'stop it, or set PORT to another port');
  }
  return isRunning;
}

/** Compares the answer to an unpaid request at the public address with the expected offer. */
function checkOfferThrough(
  findings: Findings,
  asked: Asked & { kind: 'answer' },
  baseUrl: string,
  payTo: string | null,
): void {
  const { status, headers } = asked;
  const header = headers.get('payment-required');
  if (status === 502) {
    findings.mend(
      'the proxy answers an offer with 502: its buffer for response headers is too small',
      'nginx: proxy_buffer_size 16k; proxy_buffers 8 16k',
    );
  } else if (status !== 402) {
    findings.mend(
      `BASE_URL answers an unpaid request with ${status}, not 402`,
      'make BASE_URL lead to this server, with unchanged paths',
    );
  } else if (header === null) {
    findings.mend(
      'the offer arrives without its PAYMENT-REQUIRED header: a proxy removes it',
      'configure the proxy to pass PAYMENT-* headers',
    );
  } else {
    const offer = objectOf(parseJson(Buffer.from(header, 'base64').toString('utf8')));
    const [entry] = (Array.isArray(offer?.accepts) ? offer.accepts : []) as { payTo?: unknown }[];
    const { url } = (offer?.resource ?? {}) as { url?: unknown };
    if (payTo !== null && entry?.payTo !== payTo)
      findings.mend(
        `the offer at BASE_URL asks for payment to ${oneLine(String(entry?.payTo))}, not to PAY_TO`,
        'restart the server with this configuration, or make BASE_URL lead to it',
      );
    else if (typeof url !== 'string' || !url.startsWith(`${baseUrl}/`))
      findings.mend(
        `the offer names ${oneLine(String(url))}, not BASE_URL`,
        'restart the server with this configuration',
      );
    else findings.ok('an unpaid request through BASE_URL gets the whole offer');
  }
}

/** Customers pay for callbacks, and one whose address points to this machine would receive nothing. */
function checkHooks(findings: Findings, config: Config): void {
  const mend = 'it is the public https address of webhooks, and may be that of BASE_URL';
  for (const notice of hookNotices({ ...config, hookBaseUrl: publicAddressesOf(config, config.port).hookBaseUrl })) {
    if (config.settlement === 'facilitator') findings.mend(notice, mend);
    else findings.note(notice, mend);
  }
}

export async function checkPublic(findings: Findings, config: Config, isRunning: boolean): Promise<void> {
  const { baseUrl, trustProxy, settlement, surfaces, payTo, host, snapshot, engineUrl } = config;
  const isLocal = isLoopbackHost(host);
  if (trustProxy && !isLocal) {
    findings.note(
      `TRUST_PROXY=true and HOST ${host}: a client that reaches the port without the proxy can choose the address it is rate-limited by`,
      'listen on 127.0.0.1, or let only the proxy connect',
    );
  }
  if (baseUrl === null) {
    const found = 'BASE_URL is not set: offers and callbacks name an address of this machine';
    if (settlement === 'facilitator') findings.mend(found, 'set BASE_URL to the public https address');
    else findings.ok(found);
    return;
  }
  checkHooks(findings, config);
  if (settlement === 'facilitator' && !baseUrl.startsWith('https://')) {
    findings.note(
      'BASE_URL is not https: payments and read tokens travel unencrypted, and indexers do not list the server',
      'put a proxy with a certificate in front',
    );
  }
  if (isLocal && !trustProxy && baseUrl.startsWith('https://')) {
    findings.note(
      'a proxy is in front, and TRUST_PROXY is false: all customers share one rate limit',
      'set TRUST_PROXY=true if the proxy writes X-Forwarded-For',
    );
  }
  if (!surfaces.includes('jobs') && !surfaces.includes('callbacks')) {
    findings.ok('SURFACES has nothing for the public');
    return;
  }
  const hasJobs = surfaces.includes('jobs') && (snapshot !== NO_CATALOGUE || engineUrl !== null);
  const path = hasJobs ? '/v1/jobs/search' : '/v1/callbacks';
  const asked = await ask(baseUrl + path, {
    method: hasJobs ? 'GET' : 'POST',
    timeoutMs: PUBLIC_TIMEOUT_MS,
  });
  if (asked.kind === 'answer' && (isRunning || asked.status === 402))
    checkOfferThrough(findings, asked, baseUrl, payTo);
  else if (isRunning && asked.kind === 'failed')
    findings.mend(`BASE_URL cannot be reached from here: ${asked.code}`, 'check its DNS name, certificate and proxy');
  else findings.skipped('no paygrade server runs here that BASE_URL could lead to');
}
