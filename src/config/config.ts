/**
 * The operator's variables (decisions §2), read once from text and frozen. The names are a contract: each variable has a
 * flag of the same meaning (`PORT`, `--port`) and an option of `createPaygrade` in camel case (`port`); all three pass
 * through the one table below, so they cannot differ in what they accept.
 */
import { type Address, parseAddress, ZERO_ADDRESS } from '../payment/protocol/network.ts';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const STATE_SYNCS = ['full', 'normal'] as const;

/** `auto`: the fastest library that proves itself. */
export const SIGNATURES = ['auto', 'noble'] as const;

export const SETTLEMENTS = ['local', 'facilitator'] as const;

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Origin (and path prefix) of the management API, no trailing slash; null = made from host and the real port. */
  readonly baseUrl: string | null;
  readonly hookBaseUrl: string | null;
  /** A file's path, `sample` or `none`. */
  readonly snapshot: string;
  /** A folder, or `:memory:`. */
  readonly stateDir: string;
  /** What a commit waits for: the disk, or the system only. */
  readonly stateSync: (typeof STATE_SYNCS)[number];
  /** A missing or damaged state is given up and begun anew. */
  readonly stateReset: boolean;
  readonly payTo: Address | null;
  readonly settlement: (typeof SETTLEMENTS)[number];
  readonly facilitatorUrl: string | null;
  readonly facilitatorToken: string | null;
  readonly localBalanceAtomic: bigint;
  readonly signatures: (typeof SIGNATURES)[number];
  /** Threads that verify signatures; 0 = the main thread does it. */
  readonly workers: number;
  readonly rateLimitPerMinute: number;
  readonly trustProxy: boolean;
  readonly callbackBytes: number;
  readonly corsOrigin: string | null;
  readonly logLevel: LogLevel;
}

/** A value that cannot be used; the message is one line that names the variable and the reason. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Parse<T> = (text: string) => T;

/** Says what a value must be; `variable()` puts the name in front. */
class Unfit extends Error {}

const unfit = (must: string): never => {
  throw new Unfit(must);
};

const oneOf =
  <T extends string>(values: readonly T[]): Parse<T> =>
  (text) =>
    values.find((value) => value === text) ?? unfit(`one of ${values.join(', ')}`);

const wholeNumber =
  (min: number, max: number): Parse<number> =>
  (text) => {
    const value = /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : unfit(`a whole number from ${min} to ${max}`);
  };

const atomicAmount: Parse<bigint> = (text) =>
  /^(0|[1-9][0-9]{0,29})$/.test(text) ? BigInt(text) : unfit('a whole number of atomic USDC (6 decimals)');

const switchOn: Parse<boolean> = (text) => oneOf(['true', 'false'])(text) === 'true';

const notBlank: Parse<string> = (text) => (text.trim() === '' ? unfit('not blank') : text);

/** Longest public address: it stands in the header of every offer. */
const WEB_ADDRESS_LENGTH_MAX = 200;

/** An http(s) address without credentials, query or fragment; the trailing slash goes. */
const webAddress: Parse<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : unfit('an http or https address');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') unfit('an http or https address');
  if (url.username !== '' || url.password !== '' || text.includes('?') || text.includes('#')) {
    unfit('an address without user, query and fragment');
  }
  if (url.href.length > WEB_ADDRESS_LENGTH_MAX) unfit(`an address of at most ${WEB_ADDRESS_LENGTH_MAX} characters`);
  return url.href.replace(/\/+$/, '');
};

const origin: Parse<string> = (text) => {
  if (text === '*') return text;
  if (!URL.canParse(text) || new URL(text).origin !== text) unfit('`*` or an origin such as https://app.example.com');
  return text;
};

const payee: Parse<Address> = (text) => {
  const address = parseAddress(text);
  if (address === undefined) {
    return unfit('an address of 0x and 40 hex digits; mixed case must carry a right checksum (EIP-55)');
  }
  return address === ZERO_ADDRESS ? unfit('an address that can be paid, not the zero address') : address;
};

/** Origin of a server that listens there; an IPv6 address is bracketed. */
export const originOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

export interface Variable {
  /** Environment name. */
  readonly name: string;
  /** Name of the option of `createPaygrade`. */
  readonly option: string;
  /** Shown in `--help`. */
  readonly help: string;
  /** Shown in `--help`; the default itself is `fallback`. */
  readonly shownDefault: string;
  readonly fallback: string | null;
  readonly parse: Parse<unknown>;
}

const variable = (
  name: string,
  parse: Parse<unknown>,
  fallback: string | null,
  help: string,
  shownDefault: string = fallback ?? 'none',
): Variable => ({
  name,
  option: name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  help,
  shownDefault,
  fallback,
  parse,
});

const CALLBACK_BYTES_ON_DISK = '21474836480';
const CALLBACK_BYTES_IN_MEMORY = '1073741824';
export const IN_MEMORY = ':memory:';

export const VARIABLES: readonly Variable[] = [
  variable('HOST', notBlank, '127.0.0.1', 'address to listen on'),
  variable('PORT', wholeNumber(0, 65_535), '8402', 'port to listen on; 0 takes a free one'),
  variable('BASE_URL', webAddress, null, 'public address of the API, used in every URL given out', 'http://HOST:PORT'),
  variable('HOOK_BASE_URL', webAddress, null, 'public address of the webhook host', 'http://HOST:PORT'),
  variable('SNAPSHOT', notBlank, 'sample', 'catalogue file; `sample` = synthetic jobs; `none` = callbacks only'),
  variable('STATE_DIR', notBlank, '.state', 'folder of the durable state; `:memory:` keeps none'),
  variable(
    'STATE_SYNC',
    oneOf(STATE_SYNCS),
    'full',
    '`full`: what was acknowledged survives lost power; `normal`: it survives a killed process',
  ),
  variable(
    'STATE_RESET',
    switchOn,
    'false',
    '`true`: begin anew where the state is missing or damaged, refusing for 150 s what may have been used before',
  ),
  variable('PAY_TO', payee, null, 'recipient of the payments', 'with local a throwaway address kept in STATE_DIR'),
  variable('SETTLEMENT', oneOf(SETTLEMENTS), 'local', '`local` (a play ledger, nothing on a chain) or `facilitator`'),
  variable('FACILITATOR_URL', webAddress, null, 'base address of the x402 facilitator'),
  variable('FACILITATOR_TOKEN', notBlank, null, 'bearer token for the facilitator'),
  variable('LOCAL_BALANCE', atomicAmount, '100000000', 'atomic USDC that each payer starts with in the play ledger'),
  variable('SIGNATURES', oneOf(SIGNATURES), 'auto', '`auto`: the fastest library that proves itself at start; `noble`'),
  variable('WORKERS', wholeNumber(0, 64), '1', 'threads that verify signatures; 0 = the main thread does it'),
  variable(
    'RATE_LIMIT_PER_MINUTE',
    wholeNumber(0, 100_000),
    '600',
    'jobs requests per client address in any minute; 0 = off',
  ),
  variable('TRUST_PROXY', switchOn, 'false', '`true`: take the client address from X-Forwarded-For'),
  variable(
    'CALLBACK_BYTES',
    wholeNumber(0, Number.MAX_SAFE_INTEGER),
    null,
    'bytes that live callbacks may claim at their worst',
    `${CALLBACK_BYTES_ON_DISK}; with STATE_DIR=${IN_MEMORY} ${CALLBACK_BYTES_IN_MEMORY}`,
  ),
  variable('CORS_ORIGIN', origin, null, 'origin (or `*`) that browsers may call from'),
  variable('LOG_LEVEL', oneOf(LOG_LEVELS), 'info', LOG_LEVELS.join(', ')),
];

interface Read {
  readonly values: ReadonlyMap<string, unknown>;
  /** One line for each variable that cannot be used. */
  readonly faults: readonly string[];
}

function read(variables: Readonly<Record<string, string | undefined>>): Read {
  const values = new Map<string, unknown>();
  const faults: string[] = [];
  for (const { name, fallback, parse } of VARIABLES) {
    const text = variables[name] ?? fallback;
    if (text === null || text === undefined) {
      values.set(name, null);
      continue;
    }
    try {
      values.set(name, parse(text));
    } catch (failure) {
      if (!(failure instanceof Unfit)) throw failure;
      // A token is a secret, and so may be what stands before an `@`.
      const isSecret = name.endsWith('_TOKEN') || text.includes('@');
      const shown = isSecret ? '' : `, not ${JSON.stringify(text.slice(0, 80))}`;
      faults.push(`${name} must be ${failure.message}${shown}`);
    }
  }
  return { values, faults };
}

/** Everything that is wrong with single variables, one line each. */
export const configFaults = (variables: Readonly<Record<string, string | undefined>>): readonly string[] =>
  read(variables).faults;

/**
 * The configuration that the variables spell out.
 * @param variables environment names to text; absent = default
 * @throws ConfigError one line
 */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): Config {
  const { values, faults } = read(variables);
  const [fault] = faults;
  if (fault !== undefined) throw new ConfigError(fault);
  const get = <T>(name: string): T => values.get(name) as T;
  const stateDir = get<string>('STATE_DIR');
  const settlement = get<Config['settlement']>('SETTLEMENT');
  const callbackBytes = get<number | null>('CALLBACK_BYTES');
  const config: Config = {
    host: get('HOST'),
    port: get('PORT'),
    baseUrl: get('BASE_URL'),
    hookBaseUrl: get('HOOK_BASE_URL'),
    snapshot: get('SNAPSHOT'),
    stateDir,
    stateSync: get('STATE_SYNC'),
    stateReset: get('STATE_RESET'),
    payTo: get('PAY_TO'),
    settlement,
    facilitatorUrl: get('FACILITATOR_URL'),
    facilitatorToken: get('FACILITATOR_TOKEN'),
    localBalanceAtomic: get('LOCAL_BALANCE'),
    signatures: get('SIGNATURES'),
    workers: get('WORKERS'),
    rateLimitPerMinute: get('RATE_LIMIT_PER_MINUTE'),
    trustProxy: get('TRUST_PROXY'),
    callbackBytes: callbackBytes ?? Number(stateDir === IN_MEMORY ? CALLBACK_BYTES_IN_MEMORY : CALLBACK_BYTES_ON_DISK),
    corsOrigin: get('CORS_ORIGIN'),
    logLevel: get('LOG_LEVEL'),
  };
  if (settlement === 'facilitator') {
    if (config.facilitatorUrl === null)
      throw new ConfigError('FACILITATOR_URL is required with SETTLEMENT=facilitator');
    if (config.payTo === null) throw new ConfigError('PAY_TO is required with SETTLEMENT=facilitator');
  }
  return Object.freeze(config);
}

/**
 * The same from `createPaygrade`'s options, whose values may be text, numbers, bigints or booleans.
 * @throws ConfigError for an unknown option too
 */
export function configOf(options: Readonly<Record<string, unknown>>): Config {
  const variables: Record<string, string> = {};
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    const found = VARIABLES.find((candidate) => candidate.option === option);
    if (found === undefined) throw new ConfigError(`unknown option ${JSON.stringify(option)}`);
    if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) {
      throw new ConfigError(`${option} must be text, a number or a boolean`);
    }
    variables[found.name] = String(value);
  }
  return readConfig(variables);
}
