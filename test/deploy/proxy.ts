/**
 * The proxies of `deploy/` as they stand there, in front of a real server on loopback: names, certificates and limits are those
 * of the files, and only ports, paths of certificates and the address of the server are replaced. Requests come from any
 * address of 127.0.0.0/8, so that one test can be several clients.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import {
  PROJECT,
  type RunningServer,
  type Runtime,
  type Started,
  startProcess,
  startServer,
} from '../support/server.ts';

export const API = 'api.example.com';
export const HOOKS = 'hooks.example.com';

/** What only the operator's network may ask for; 127.0.0.1 stands for it in both files. */
export const OPERATOR = '127.0.0.1';

const START_TIMEOUT_MS = 10_000;

const isThere = (program: string, ...words: string[]): boolean => spawnSync(program, words).error === undefined;

export const PROXIES = ['nginx', 'caddy'] as const;
export type ProxyName = (typeof PROXIES)[number];

/** The proxies that this machine can run; a line says which it cannot. */
export function installedProxies(): readonly ProxyName[] {
  const hasOpenssl = isThere('openssl', 'version');
  return PROXIES.filter((name) => {
    const isInstalled = hasOpenssl && isThere(name, name === 'nginx' ? '-v' : 'version');
    if (!isInstalled) console.log(`skipping ${name}: apt-get install ${name} openssl brings what its test needs`);
    return isInstalled;
  });
}

interface Ports {
  readonly http: number;
  readonly https: number;
  readonly server: number;
}

/** A certificate for both names, signed by itself. */
function makeCertificate(folder: string): { readonly certificate: string; readonly key: string } {
  const certificate = join(folder, 'certificate.pem');
  const key = join(folder, 'key.pem');
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test'.split(' ');
  const names = ['-addext', `subjectAltName=DNS:${API},DNS:${HOOKS}`];
  const { status, stderr } = spawnSync('openssl', [...words, ...names, '-keyout', key, '-out', certificate], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return { certificate, key };
}

/** Each replacement must find something, so that a changed file is noticed. */
function replaced(text: string, replacements: readonly (readonly [RegExp, string])[]): string {
  return replacements.reduce((changed, [pattern, by]) => {
    if (!pattern.test(changed)) throw new Error(`nothing to replace for ${pattern}`);
    return changed.replace(pattern, by);
  }, text);
}

/** nginx in the foreground, its site inside the smallest configuration that there can be. */
function nginxIn(folder: string, ports: Ports): { readonly check: string[]; readonly run: string[] } {
  const { certificate, key } = makeCertificate(folder);
  const site = replaced(readFileSync(join(PROJECT, 'deploy', 'nginx.conf'), 'utf8'), [
    [/server 127\.0\.0\.1:8402;/g, `server 127.0.0.1:${ports.server};`],
    [/^ *listen \[::\].*\n/gm, ''],
    [/listen 80\b/g, `listen 127.0.0.1:${ports.http}`],
    [/listen 443\b/g, `listen 127.0.0.1:${ports.https}`],
    [/(?<=ssl_certificate +)\S+;/g, `${certificate};`],
    [/(?<=ssl_certificate_key +)\S+;/g, `${key};`],
  ]);
  writeFileSync(join(folder, 'site.conf'), site);
  const file = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(
    file,
    [
      ...(process.getuid?.() === 0 ? ['user root;'] : []),
      'daemon off;',
      'worker_processes 2;',
      `pid ${join(folder, 'pid')};`,
      `error_log ${join(folder, 'error.log')} warn;`,
      'events { worker_connections 2048; }',
      'http {',
      ...temporary.map((kind) => `${kind}_temp_path ${join(folder, kind)};`),
      'include site.conf;',
      '}',
    ].join('\n'),
  );
  const words = ['-p', folder, '-e', join(folder, 'start.log'), '-c', file];
  return { check: [...words, '-t'], run: words };
}

/** Caddy with certificates of its own authority, and nothing of it outside the folder. */
function caddyIn(folder: string, ports: Ports): { readonly check: string[]; readonly run: string[] } {
  const options = [
    '{',
    '\tadmin off',
    '\tskip_install_trust',
    '\tlocal_certs',
    `\thttp_port ${ports.http}`,
    `\thttps_port ${ports.https}`,
    '\tdefault_bind 127.0.0.1',
    `\tstorage file_system ${join(folder, 'storage')}`,
    '',
  ].join('\n');
  const text = replaced(readFileSync(join(PROJECT, 'deploy', 'Caddyfile'), 'utf8'), [
    [/^\{\n/m, options],
    [/127\.0\.0\.1:8402/g, `127.0.0.1:${ports.server}`],
  ]);
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, text);
  const words = ['--config', file, '--adapter', 'caddyfile'];
  return { check: ['validate', ...words], run: ['run', ...words] };
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The client's own address, within 127.0.0.0/8. */
  readonly from?: string;
}

export interface Fronted {
  readonly server: RunningServer;
  /** What `nginx -t` or `caddy validate` said. */
  readonly checkOutput: string;
  /** A request by HTTPS to one of the two names. Certificates are not checked: each proxy signs its own. */
  send(name: string, target: string, sent?: Sent): Promise<Response>;
  /** The same by plain HTTP. */
  sendPlain(name: string, target: string, sent?: Sent): Promise<Response>;
  /** As the global `fetch`, for clients that pay: the names are found on loopback. */
  readonly fetch: typeof fetch;
  stop(): Promise<void>;
}

function overWire(secure: boolean, port: number, name: string, target: string, sent: Sent): Promise<Response> {
  const { method = 'GET', headers = {}, body, from = '127.0.0.9' } = sent;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const options: RequestOptions = {
    host: '127.0.0.1',
    port,
    path: target,
    method,
    localAddress: from,
    headers: { host: name, ...length, ...headers },
    agent: false,
    ...(secure ? { servername: name, rejectUnauthorized: false } : {}),
  };
  return new Promise((resolve, reject) => {
    const outgoing = (secure ? httpsRequest : httpRequest)(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const answered = new Headers();
        for (const [key, value] of Object.entries(incoming.headers)) answered.set(key, String(value));
        const status = incoming.statusCode ?? 0;
        resolve(new Response(status === 204 ? null : Buffer.concat(chunks), { status, headers: answered }));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function untilAnswering(ask: () => Promise<Response>, proxy: Started): Promise<void> {
  const start = performance.now();
  while (performance.now() - start < START_TIMEOUT_MS) {
    const isAnswering = await ask().then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isAnswering) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the proxy does not answer\n${proxy.stdout()}\n${proxy.stderr()}`);
}

/** A server with the variables that both files ask for, and the proxy in front of it. */
export async function startFronted(
  name: ProxyName,
  runtime: Runtime,
  variables: Readonly<Record<string, string>> = {},
): Promise<Fronted> {
  const folder = mkdtempSync(join(tmpdir(), `paygrade-${name}-`));
  mkdirSync(join(folder, 'storage'));
  const http = await freePort();
  const https = await freePort();
  const server = await startServer(runtime, {
    TRUST_PROXY: 'true',
    BASE_URL: `https://${API}`,
    HOOK_BASE_URL: `https://${HOOKS}`,
    ...variables,
  });
  const ports = { http, https, server: server.port };
  const words = name === 'nginx' ? nginxIn(folder, ports) : caddyIn(folder, ports);
  const checked = spawnSync(name, words.check, { encoding: 'utf8' });
  if (checked.status !== 0) throw new Error(checked.stdout + checked.stderr);
  const proxy = startProcess(name, words.run);
  const send: Fronted['send'] = (host, target, sent = {}) => overWire(true, https, host, target, sent);
  await untilAnswering(() => send(API, '/health'), proxy);
  return {
    server,
    checkOutput: checked.stdout + checked.stderr,
    send,
    sendPlain: (host, target, sent = {}) => overWire(false, http, host, target, sent),
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { hostname, pathname, search } = new URL(request.url);
      const body = new Uint8Array(await request.arrayBuffer());
      return send(hostname, pathname + search, {
        method: request.method,
        headers: Object.fromEntries(request.headers),
        ...(body.length === 0 ? {} : { body }),
      });
    },
    async stop() {
      proxy.child.kill('SIGTERM');
      await proxy.exited;
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
