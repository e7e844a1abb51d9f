/** The settings that belong to the server as a whole. A module declares its own settings in its folder. */
import { MIB } from '../base/sizes.ts';
import { CONCURRENCY_MAX } from '../outbound/limits.ts';
import { PRICE_KEYS } from '../payment/prices.ts';
import { NETWORK_IDS } from '../payment/protocol/network.ts';
import { ENGINE_SETTINGS } from './engine-settings.ts';
import {
  atomicAmount,
  bearerToken,
  contactText,
  databaseAddress,
  fileOrAddress,
  filePath,
  listeningHost,
  oneOf,
  origin,
  payee,
  priceList,
  secretBytes,
  secretText,
  switchOn,
  targetList,
  webAddress,
  wholeNumber,
  wordList,
} from './parsers.ts';
import { InvalidSettingError, type Parse, setting, when } from './setting.ts';
import { defaultSurfaces, SURFACE_NAMES } from './surfaces.ts';

/** From the quietest to the most talkative. */
export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The value of STATE_DIR that keeps the state in memory only. */
export const IN_MEMORY = ':memory:';

const stateFolder: Parse<string> = (text) => {
  if (text.startsWith(':') && text !== IN_MEMORY) throw new InvalidSettingError(`a folder or ${IN_MEMORY}`);
  return filePath(text);
};

/** The value of SNAPSHOT for a process without a catalogue. */
export const NO_CATALOGUE = 'none';

/** Origin of a server that listens on this host and port; an IPv6 host is put in brackets. */
export const originOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Smallest `BODY_BYTES`: four webhooks of the greatest size, so that one client's half holds two. */
const BODY_BYTES_MIN = MIB;

const settlement = setting({
  variable: 'SETTLEMENT',
  parse: oneOf(['local', 'facilitator']),
  default: 'local',
  help: '`local`: a play ledger in this process, nothing on chain; `facilitator`: an x402 facilitator over HTTP',
  detail: 'With `local` the server still verifies every signature.',
});

const host = setting({
  variable: 'HOST',
  parse: listeningHost,
  default: '127.0.0.1',
  help: 'address to listen on',
  detail: 'The library does not listen; it uses `HOST` and `PORT` only for the default of the public addresses.',
});

const baseUrl = setting({
  variable: 'BASE_URL',
  parse: webAddress,
  default: null,
  shownDefault: 'http://HOST:PORT',
  help: 'public address of the API; every URL that the server gives out starts with it',
  detail: 'The server never takes its address from a request. A path is allowed.',
});

export const SERVER_SETTINGS = {
  host,
  port: setting({
    variable: 'PORT',
    parse: wholeNumber(0, 65_535),
    default: '8402',
    help: 'port to listen on; 0 picks a free port',
  }),
  baseUrl,
  surfaces: setting({
    variable: 'SURFACES',
    parse: wordList(SURFACE_NAMES),
    default: (read) =>
      defaultSurfaces({ settlement: read(settlement), host: read(host), baseUrl: read(baseUrl) }).join(','),
    shownDefault: SURFACE_NAMES.join(','),
    help: `products that this server has, comma-separated: ${SURFACE_NAMES.map((name) => `\`${name}\``).join(', ')}; or \`none\``,
    detail:
      'The paths of the others are 404, and no document names them. `none` leaves `/internal`, `/health`, `/ready` and `/metrics`. With `SETTLEMENT=local` and a `HOST` or `BASE_URL` that is not loopback, `retry` and `resolve` are on only when they are named here: play money must not buy outbound requests.',
  }),
  rateLimitPerMinute: setting({
    variable: 'RATE_LIMIT_PER_MINUTE',
    parse: wholeNumber(0, 100_000),
    default: '600',
    help: 'jobs requests, public requests of the Jobs Data API, and creations of retries and of resolves that a client address may make in any minute; 0 is off',
    detail: 'Counts requests that passed validation, in a sliding minute, on each surface separately.',
  }),
  keyRateLimitPerMinute: setting({
    variable: 'KEY_RATE_LIMIT_PER_MINUTE',
    parse: wholeNumber(0, 1_000_000),
    default: '600',
    help: 'requests that one API key may make in any minute; 0 is off',
    detail: 'Counts requests with a valid key and valid input, in a sliding minute, on all surfaces together.',
  }),
  trustProxy: setting({
    variable: 'TRUST_PROXY',
    parse: switchOn,
    default: 'false',
    help: '`true`: take the client address from the last entry of X-Forwarded-For',
    detail:
      'The last entry is the one that your proxy wrote. Set it behind a proxy, else all clients share one rate limit. Leave it `false` without one, else clients choose the address under which they are counted.',
  }),
  connectionsMax: setting({
    variable: 'CONNECTIONS_MAX',
    parse: wholeNumber(0, 1_000_000),
    default: '20000',
    help: 'open connections; under Bun requests in flight; 0 is off',
    detail: 'A connection above it is closed at once. The library does not listen and ignores it.',
  }),
  connectionsPerAddress: setting({
    variable: 'CONNECTIONS_PER_ADDRESS',
    parse: wholeNumber(0, 1_000_000),
    default: '1024',
    help: 'open connections of one client address (IPv6: one /64); under Bun requests in flight; 0 is off',
    detail: 'It does not apply to loopback addresses, and with `TRUST_PROXY=true` to none. The library ignores it.',
  }),
  bodyBytes: setting({
    variable: 'BODY_BYTES',
    parse: wholeNumber(BODY_BYTES_MIN, Number.MAX_SAFE_INTEGER),
    default: '67108864',
    help: 'bytes of request bodies in flight',
    detail:
      'One client address may hold half of them. A body that does not fit waits unread, and after 30 s its request is 408.',
  }),
  corsOrigin: setting({
    variable: 'CORS_ORIGIN',
    parse: origin,
    default: null,
    help: 'origin, or `*`, that browsers may call from',
    detail: 'Without it the server sends no CORS headers and answers OPTIONS with 405.',
  }),
  adminToken: setting({
    variable: 'ADMIN_TOKEN',
    parse: secretText,
    default: null,
    help: 'token, at least 32 characters, that opens `/admin/v1/*` and the pages of the operator',
    detail: 'Without it, and with `SURFACES=none`, these paths are 404.',
    isSecret: true,
  }),
  memoryLimitBytes: setting({
    variable: 'MEMORY_LIMIT_BYTES',
    parse: wholeNumber(1, Number.MAX_SAFE_INTEGER),
    default: null,
    shownDefault: "the cgroup's limit, else three quarters of the machine's memory",
    help: 'resident memory that the process may hold before it refuses new paid work',
    detail:
      'From 85 % of it the server makes no new offers, from 92 % it accepts no payments; see limits.md, "Overload".',
  }),
  shedding: setting({
    variable: 'SHEDDING',
    parse: switchOn,
    default: 'true',
    help: '`false`: never refuse new paid work because of memory or a late event loop',
    detail:
      'The pressure is still measured and shown in the metrics. For a machine on which something else sheds load.',
  }),
  drainSeconds: setting({
    variable: 'DRAIN_SECONDS',
    parse: wholeNumber(0, 600),
    default: '0',
    help: 'seconds that the server goes on serving after SIGTERM, with `/ready` 503',
    detail: 'Set it behind a proxy that checks `/ready`, to more than twice the check interval; see scaling.md.',
  }),
  logLevel: setting({
    variable: 'LOG_LEVEL',
    parse: oneOf(LOG_LEVELS),
    default: 'info',
    help: LOG_LEVELS.map((level) => `\`${level}\``).join(', '),
    detail:
      '`info` writes one JSON line for each request to stdout, without query, token, signature or payment header. The library writes no log; use its `onRequest` option.',
  }),
};

export const CATALOGUE_SETTINGS = {
  snapshot: setting({
    variable: 'SNAPSHOT',
    parse: fileOrAddress,
    default: (read) => (read(ENGINE_SETTINGS.engineUrl) === null ? 'sample' : NO_CATALOGUE),
    shownDefault: 'sample; with ENGINE_URL none',
    help: 'catalogue file or its http(s) address; `sample`: built-in synthetic jobs; `none`: no catalogue',
    detail:
      '`snapshot build` makes the file. With `none`, and without `ENGINE_URL`, the jobs routes answer 503. A file behind an address is fetched at the start and again when it has changed; see scaling.md.',
  }),
  snapshotCache: setting({
    variable: 'SNAPSHOT_CACHE',
    parse: filePath,
    default: null,
    shownDefault: 'STATE_DIR',
    help: 'folder that keeps the catalogue fetched from an address',
    detail: 'For a start at which the address does not answer.',
  }),
  snapshotPollSeconds: setting({
    variable: 'SNAPSHOT_POLL_SECONDS',
    parse: wholeNumber(1, 86_400),
    default: '60',
    help: 'seconds between checks whether the catalogue behind an address has changed',
  }),
  catalogue: setting({
    variable: 'CATALOGUE',
    parse: filePath,
    default: null,
    help: 'folder of the import catalogue behind the snapshot, whose watched boards the operator sees',
    detail:
      'Shown on `/boards` and counted in `/metrics`; the page and its routes need `ADMIN_TOKEN` too, and are 404 with `SURFACES=none`. The server only reads the folder, except that it stores the company domains that the operator states on the page.',
  }),
  snapshotWatch: setting({
    variable: 'SNAPSHOT_WATCH',
    parse: switchOn,
    default: 'true',
    help: '`true`: load the catalogue file again when another file replaces it',
    detail:
      'The server looks at the file every second, and loads it as for SIGHUP, without dropping a request. A file that it cannot use changes nothing. `sample` and `none` are not files. The library ignores the setting; call `app.reload()`.',
  }),
};

export const STATE_SETTINGS = {
  databaseUrl: setting({
    variable: 'DATABASE_URL',
    parse: databaseAddress,
    default: null,
    help: 'PostgreSQL database, `postgres://user:password@host:5432/name`, that any number of processes share, in place of `STATE_DIR`',
    detail:
      'Needs `STATE_KEY`. A host that is neither loopback nor a socket needs TLS with a valid certificate (`sslrootcert=FILE` names its root), unless the address says `sslmode=disable`. `STATE_DIR` then holds local copies only.',
    isSecret: true,
  }),
  stateDir: setting({
    variable: 'STATE_DIR',
    parse: stateFolder,
    default: '.state',
    help: `folder of the durable state; \`${IN_MEMORY}\` keeps the state in memory only`,
    detail: 'One process owns a folder at a time.',
  }),
  stateSync: setting({
    variable: 'STATE_SYNC',
    parse: oneOf(['full', 'normal']),
    default: 'full',
    help: '`full`: acknowledged writes survive a power failure; `normal`: they survive a killed process',
  }),
  stateKey: setting({
    variable: 'STATE_KEY',
    parse: secretBytes(32),
    default: null,
    shownDefault: 'made once and kept in STATE_DIR',
    help: '32 bytes as base64 that authenticate cursors and encrypt the requests of retries',
    detail:
      'Keep it: with another key the server cannot send the retries that still wait, and refuses the cursors that it gave out. With `DATABASE_URL` all processes need the same key; one with another does not start. `openssl rand -base64 32` makes one.',
    isSecret: true,
  }),
  stateReset: setting({
    variable: 'STATE_RESET',
    parse: switchOn,
    default: 'false',
    help: '`true`: replace a missing or damaged state with an empty one',
    detail: 'For 150 s after a reset the server refuses payments that the lost state may have recorded as used.',
  }),
};

export const OUTBOUND_SETTINGS = {
  outboundConcurrency: setting({
    variable: 'OUTBOUND_CONCURRENCY',
    parse: wholeNumber(1, CONCURRENCY_MAX),
    default: '64',
    help: 'requests that the server makes for customers at a time',
    detail:
      'At most 4 of them to one host, and half for one customer while others wait. The rest wait their turn; see limits.md, "Requests of the server".',
  }),
  targetAllow: setting({
    variable: 'TARGET_ALLOW',
    parse: targetList,
    default: '',
    shownDefault: 'none',
    help: 'targets that may be reached although they are not public: `host:port` or `cidr:port`, comma-separated',
    detail:
      'For tests and private networks, over http too. `host:port` is compared with the address as written, `cidr:port` with what its host resolves to: `hooks.corp.example:9000,10.1.0.0/16:8443,[::1]/128:8080`. Every customer can reach what is listed.',
  }),
  contact: setting({
    variable: 'CONTACT',
    parse: contactText,
    default: null,
    help: 'address or URL of the operator, named in the User-Agent of every outbound request',
    detail:
      'With it, people whose servers receive the requests can write to you before they block them: `https://jobs.example/about` or `mailto:ops@jobs.example`.',
  }),
};

export const PAYMENT_SETTINGS = {
  settlement,
  facilitatorUrl: setting({
    variable: 'FACILITATOR_URL',
    parse: webAddress,
    default: null,
    help: 'base address of the x402 facilitator',
    requiredWhen: when(settlement, 'facilitator'),
  }),
  facilitatorToken: setting({
    variable: 'FACILITATOR_TOKEN',
    parse: bearerToken,
    default: null,
    help: 'bearer token for the facilitator',
    isSecret: true,
  }),
  payTo: setting({
    variable: 'PAY_TO',
    parse: payee,
    default: null,
    shownDefault: 'with SETTLEMENT=local a throwaway address, kept in STATE_DIR',
    help: 'address that receives the payments',
    requiredWhen: when(settlement, 'facilitator'),
  }),
  network: setting({
    variable: 'NETWORK',
    parse: oneOf(NETWORK_IDS),
    default: 'eip155:8453',
    help: '`eip155:8453`: Base; `eip155:84532`: Base Sepolia, to try real settlement with test money',
    detail:
      'Each network has its own USDC contract and its own signatures. A payment made for one is refused on the other, and the books keep their sales apart.',
  }),
  prices: setting({
    variable: 'PRICES',
    parse: priceList,
    default: '',
    shownDefault: 'none',
    help: 'prices in USDC that differ from the usual ones: `search=0.02,company=0.05`',
    detail: `Keys: ${PRICE_KEYS.map((key) => `\`${key}\``).join(', ')}. At most six decimals, above 0. Official clients refuse to pay more than 1 USDC. A changed price holds from the restart: a payment signed for the old one gets the new offer.`,
  }),
  localBalance: setting({
    variable: 'LOCAL_BALANCE',
    parse: atomicAmount,
    default: '100000000',
    help: 'atomic USDC (6 decimals) that each payer starts with in the play ledger',
  }),
  signatures: setting({
    variable: 'SIGNATURES',
    parse: oneOf(['auto', 'wasm', 'noble']),
    default: 'auto',
    help: '`auto`: the fastest signature library that passes its self-test at start; `wasm`: the same without native code; `noble`: only noble',
    detail:
      "The fastest is the system's libsecp256k1 (Debian: `libsecp256k1-1` or `libsecp256k1-2`; with Bun, or Node 26 through its experimental `node:ffi`), then the package `secp256k1` (`npm install secp256k1`); both are native code. Without them it is the WebAssembly that the package includes.",
  }),
  salesDays: setting({
    variable: 'SALES_DAYS',
    parse: wholeNumber(1, 36_500),
    default: '400',
    help: 'days that a sale stays in the books',
  }),
  salesParameters: setting({
    variable: 'SALES_PARAMETERS',
    parse: switchOn,
    default: 'false',
    help: '`true`: the books keep the parameters of jobs questions',
    detail:
      'Without it a sale holds a keyed digest of its question: it shows that two questions are the same, not what was asked.',
  }),
  workers: setting({
    variable: 'WORKERS',
    parse: wholeNumber(0, 64),
    default: '1',
    help: 'threads that verify signatures, 0 to 64; the main thread verifies those that arrive one by one, and with 0 all of them',
  }),
};
