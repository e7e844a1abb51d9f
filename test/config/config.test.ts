import { describe, expect, it } from 'vitest';
import { CONFIGURATION, type ConfigOptions } from '../../src/app/configuration.ts';
import { ConfigError } from '../../src/config/config.ts';
import { NOTHING_ALLOWED } from '../support/nothing-allowed.ts';

const readConfig = CONFIGURATION.read;

const TEN_SLASH_EIGHT = { family: 4, bits: 10n << 24n, length: 8 };

describe('the configuration', () => {
  it('has the defaults of the contract', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 8402,
      adminToken: null,
      connectionsMax: 20_000,
      connectionsPerAddress: 1024,
      bodyBytes: 67_108_864,
      drainSeconds: 0,
      baseUrl: null,
      hookBaseUrl: null,
      dataUrl: null,
      retryUrl: null,
      resolveUrl: null,
      surfaces: ['jobs', 'callbacks', 'data', 'retry', 'resolve'],
      keyRateLimitPerMinute: 600,
      stateKey: null,
      snapshot: 'sample',
      snapshotWatch: true,
      snapshotCache: null,
      snapshotPollSeconds: 60,
      engineUrl: null,
      engineToken: null,
      engineTimeoutMs: 5000,
      databaseUrl: null,
      stateDir: '.state',
      stateSync: 'full',
      stateReset: false,
      outboundConcurrency: 64,
      payTo: null,
      settlement: 'local',
      facilitatorUrl: null,
      facilitatorToken: null,
      localBalance: 100_000_000n,
      signatures: 'auto',
      workers: 1,
      rateLimitPerMinute: 600,
      shedding: true,
      salesDays: 400,
      salesParameters: false,
      callbackLimitPerMinute: 600,
      targetAllow: NOTHING_ALLOWED,
      trustProxy: false,
      callbackBytes: 21_474_836_480,
      catalogue: null,
      contact: null,
      corsOrigin: null,
      memoryLimitBytes: null,
      network: 'eip155:8453',
      prices: {},
      logLevel: 'info',
    });
  });

  it('lets callbacks claim less where they live in memory', () => {
    expect(readConfig({ STATE_DIR: ':memory:' }).callbackBytes).toBe(1_073_741_824);
    expect(readConfig({ STATE_DIR: ':memory:', CALLBACK_BYTES: '9000000' }).callbackBytes).toBe(9_000_000);
  });

  it('takes trailing slashes off addresses and keeps a path', () => {
    expect(readConfig({ BASE_URL: 'https://api.example.com/pay//' }).baseUrl).toBe('https://api.example.com/pay');
  });

  it('takes a list of jobs services, with blanks and trailing slashes', () => {
    const list = 'https://a.example/, https://b.example/jobs/';
    expect(readConfig({ SNAPSHOT: 'none', ENGINE_URL: list, ENGINE_TOKEN: 'x'.repeat(32) }).engineUrl).toEqual([
      'https://a.example',
      'https://b.example/jobs',
    ]);
  });

  it('takes the longest contact', () => {
    const contact = 'x'.repeat(200);
    expect(readConfig({ CONTACT: contact }).contact).toBe(contact);
  });

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(readConfig({}))).toBe(true);
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '08402'],
    ['PORT', ''],
    ['HOST', ' '],
    ['HOST', '[::1]'],
    ['HOST', '::1%eth0'],
    ['HOST', '::zz'],
    ['HOST', '*'],
    ['HOST', 'http://localhost'],
    ['SURFACES', ''],
    ['SURFACES', 'jobs,'],
    ['SURFACES', 'jobs,jobs'],
    ['SURFACES', 'jobs,none'],
    ['SURFACES', 'Jobs'],
    ['DATA_URL', 'data.example.com'],
    ['RESOLVE_URL', 'resolve.example.com'],
    ['KEY_RATE_LIMIT_PER_MINUTE', '-1'],
    ['STATE_KEY', 'c2hvcnQ='],
    ['STATE_KEY', 'not base64'],
    ['BASE_URL', 'api.example.com'],
    ['BASE_URL', 'ftp://api.example.com'],
    ['BASE_URL', 'https://user:pass@api.example.com'],
    ['BASE_URL', 'https://:pass@api.example.com'],
    ['BASE_URL', 'https://api.example.com?x=1'],
    ['BASE_URL', 'https://api.example.com#x'],
    ['HOOK_BASE_URL', 'nonsense'],
    ['SNAPSHOT', ''],
    ['SNAPSHOT', 'https://['],
    ['SNAPSHOT', 'https://user@files.example/jobs'],
    ['SNAPSHOT', 'https://:pass@files.example/jobs'],
    ['SNAPSHOT', 'https://files.example/jobs#1'],
    ['ENGINE_URL', 'https://a.example,https://a.example/'],
    ['STATE_DIR', ''],
    ['CONTACT', ''],
    ['CONTACT', 'me@shop.example (Ann)'],
    ['CONTACT', 'shop\\me'],
    ['CONTACT', 'x'.repeat(201)],
    ['PAY_TO', '0x1234'],
    ['PAY_TO', '0x0000000000000000000000000000000000000000'],
    ['BASE_URL', `https://${'a'.repeat(60)}.example/${'b'.repeat(200)}`],
    ['PAY_TO', '0x209693bc6afc0C5328bA36FaF03C514EF312287C'],
    ['SETTLEMENT', 'Local'],
    ['FACILITATOR_URL', 'x'],
    ['LOCAL_BALANCE', '1.5'],
    ['SIGNATURES', 'native'],
    ['WORKERS', '-1'],
    ['WORKERS', '65'],
    ['WORKERS', '1.5'],
    ['LOCAL_BALANCE', '-1'],
    ['RATE_LIMIT_PER_MINUTE', '1e3'],
    ['TRUST_PROXY', 'yes'],
    ['CALLBACK_BYTES', '-1'],
    ['CORS_ORIGIN', 'https://a.example/'],
    ['CORS_ORIGIN', 'a.example'],
    ['LOG_LEVEL', 'loud'],
    ['HOST', '10.0.0.256'],
    ['HOST', '10.0.0'],
    ['HOST', 'my host'],
    ['HOST', ' localhost'],
    ['HOST', 'localhost '],
    ['LOCAL_BALANCE', '1'.repeat(31)],
    ['TARGET_ALLOW', 'nonsense'],
    ['TARGET_ALLOW', ','],
    ['TARGET_ALLOW', 'a.example:1,'],
    ['ENGINE_URL', ','],
    ['PRICES', ','],
    ['PRICES', 'search=free'],
    ['FACILITATOR_TOKEN', ' token'],
    ['ADMIN_TOKEN', `${'x'.repeat(32)} x`],
    ['ADMIN_TOKEN', ` ${'x'.repeat(32)}`],
    ['ADMIN_TOKEN', `${'x'.repeat(32)}\n`],
    ['BASE_URL', 'https://user@api.example.com'],
    ['BASE_URL', `https://a.example/${'b'.repeat(183)}`],
    ['SNAPSHOT', 'HTTPS://user@files.example/jobs'],
    ['SNAPSHOT', '~/jobs.snapshot'],
    ['SNAPSHOT_CACHE', '~'],
    ['CATALOGUE', '~/boards'],
    ['STATE_DIR', '~/state'],
    ['STATE_DIR', ':Memory:'],
    ['STATE_DIR', ':memory'],
    ['DATABASE_URL', 'nonsense'],
    ['DATABASE_URL', 'https://h/database'],
  ])('refuses %s=%j in one line that names it', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} must be [^\\n]*$`));
  });

  it.each([
    ['LOCAL_BALANCE', String(2n ** 256n), 'at most 30 digits'],
    ['SNAPSHOT', 'ftp://files.example/jobs', 'a file, or an http or https address, not "ftp:'],
    [
      'PAY_TO',
      '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      'PAY_TO must be an address other than the contract of USDC',
    ],
    [
      'PAY_TO',
      '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      'PAY_TO must be an address other than the contract of USDC',
    ],
    ['PAY_TO', `0x${'0'.repeat(40)}`, 'not the zero address'],
  ])('says what is wrong with %s=%j', (name, value, words) => {
    expect(CONFIGURATION.faults({ [name]: value })).toEqual([expect.stringContaining(words)]);
  });

  it.each([
    ['HOST', 'my-host_2', 'my-host_2'],
    ['HOST', '255.249.199.0', '255.249.199.0'],
    ['HOST', '::', '::'],
    ['PORT', '65535', 65_535],
    ['LOCAL_BALANCE', '9'.repeat(30), BigInt('9'.repeat(30))],
    ['FACILITATOR_TOKEN', '!~', '!~'],
    ['ADMIN_TOKEN', 'x,'.repeat(16).slice(1).concat('x'), 'x,'.repeat(16).slice(1).concat('x')],
    ['SURFACES', 'data, jobs', ['jobs', 'data']],
    ['BASE_URL', `https://a.example/${'b'.repeat(182)}`, `https://a.example/${'b'.repeat(182)}`],
    ['SNAPSHOT', 'HTTPS://files.example/jobs', 'https://files.example/jobs'],
    ['SNAPSHOT', './https:/jobs', './https:/jobs'],
    ['CORS_ORIGIN', '*', '*'],
    ['CORS_ORIGIN', 'https://app.example', 'https://app.example'],
    ['PAY_TO', '0x209693Bc6afc0C5328bA36FaF03C514EF312287C', '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'],
    ['TARGET_ALLOW', '10.0.0.0/8:443', { hosts: new Set(), ranges: [{ range: TEN_SLASH_EIGHT, port: 443 }] }],
    ['TARGET_ALLOW', ' ', NOTHING_ALLOWED],
  ])('takes %s=%j', (name, value, expected) => {
    expect(Object.values(readConfig({ [name]: value }))).toContainEqual(expected);
  });

  it.each(['postgres://u:p@h/d', 'postgresql:///d?host=/run'])('takes DATABASE_URL=%j with STATE_KEY alone', (url) => {
    const STATE_KEY = Buffer.alloc(32).toString('base64');
    expect(readConfig({ DATABASE_URL: url, STATE_KEY }).databaseUrl).toBe(url);
    expect(CONFIGURATION.faults({ DATABASE_URL: url })).toEqual([
      expect.stringMatching(/^STATE_KEY is required with DATABASE_URL/),
    ]);
  });

  it('quotes what it refuses once, a wrong entry of a list beside the list', () => {
    const [target] = CONFIGURATION.faults({ TARGET_ALLOW: 'banana' });
    expect(target).toMatch(/; "banana" is neither$/);
    expect(CONFIGURATION.faults({ TARGET_ALLOW: 'a:1,banana' })[0]).toMatch(/"banana" is neither, not "a:1,banana"$/);
    expect(CONFIGURATION.faults({ PRICES: 'banana=1' })[0]?.match(/banana/g)).toHaveLength(1);
  });

  it('does not print a token or a password that it refuses', () => {
    expect(() => readConfig({ DATABASE_URL: 'mysql:secret' })).toThrow(/^DATABASE_URL must be ((?!secret).)*$/);
    expect(() => readConfig({ BASE_URL: 'https://user:secret@h' })).toThrow(/^((?!secret).)*$/);
    expect(() => readConfig({ FACILITATOR_URL: 'https://h/?key=secret' })).toThrow(/^((?!secret).)*$/);
    expect(() => readConfig({ SNAPSHOT: 'https://h/jobs?signature=secret#x' })).toThrow(/^((?!secret).)*$/);
    expect(() => readConfig({ TARGET_ALLOW: 'user:secret@h:1' })).toThrow(/^TARGET_ALLOW must be ((?!secret).)*$/);
    expect(() => readConfig({ TARGET_ALLOW: 'user:sec,ret@h:1' })).toThrow(/^((?!sec).)*$/);
    expect(() => readConfig({ PRICES: 'search=0.02,user:secret@h' })).toThrow(/^PRICES must be ((?!secret).)*$/);
    const privateKey = `0x${'a1'.repeat(32)}`;
    expect(() => readConfig({ PAY_TO: privateKey })).toThrow(/^PAY_TO must be ((?!a1).)*$/);
    expect(() => readConfig({ FACILITATOR_TOKEN: 'secret\n' })).toThrow(
      /^FACILITATOR_TOKEN must be visible ASCII without blanks, at least one character$/,
    );
  });

  it('wants a facilitator and a recipient when it is to use one', () => {
    expect(() => readConfig({ SETTLEMENT: 'facilitator' })).toThrow('FACILITATOR_URL');
    expect(() => readConfig({ SETTLEMENT: 'facilitator', FACILITATOR_URL: 'http://f.example' })).toThrow('PAY_TO');
  });

  it('reads options in camel case by the same rules', () => {
    expect(CONFIGURATION.fromOptions({ port: 0, snapshot: 'none', localBalance: 5n, trustProxy: true })).toMatchObject({
      port: 0,
      snapshot: 'none',
      localBalance: 5n,
      trustProxy: true,
    });
    const untyped: object[] = [{ prot: 1 }, { port: [] }];
    const [unknown, list] = untyped as ConfigOptions[];
    expect(() => CONFIGURATION.fromOptions(unknown!)).toThrow('prot');
    expect(() => CONFIGURATION.fromOptions(list!)).toThrow('PORT');
    expect(() => CONFIGURATION.fromOptions({ port: 70_000 })).toThrow('PORT');
  });

  it('takes the text of prices and of a key, which is all that their types allow', () => {
    const options: ConfigOptions = { prices: 'search=0.03', stateKey: Buffer.alloc(32, 1).toString('base64') };
    const { prices, stateKey } = CONFIGURATION.fromOptions(options);
    expect(prices).toEqual(readConfig({ PRICES: 'search=0.03' }).prices);
    expect(stateKey).toEqual(new Uint8Array(32).fill(1));
    // @ts-expect-error a key is given as text
    const bytes: ConfigOptions = { stateKey: new Uint8Array(32) };
    expect(() => CONFIGURATION.fromOptions(bytes)).toThrow(/^stateKey must be text as in STATE_KEY$/);
    const numbers = { prices: { search: 1 } } as unknown as ConfigOptions;
    expect(() => CONFIGURATION.fromOptions(numbers)).toThrow(/^prices must be text as in PRICES$/);
  });

  it('takes an option as the text that its variable would have, and null and undefined as not given', () => {
    const options: ConfigOptions = { port: '0', trustProxy: 'true', localBalance: '5', workers: null, host: undefined };
    expect(CONFIGURATION.fromOptions(options)).toEqual(
      readConfig({ PORT: '0', TRUST_PROXY: 'true', LOCAL_BALANCE: '5' }),
    );
  });

  it('collects every fault and throws the first', () => {
    const variables = { PORT: 'x', WORKERS: '65', CALLBACK_BYTES: '-1', SETTLEMENT: 'facilitator' };
    const faults = CONFIGURATION.faults(variables);
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual(['PORT', 'WORKERS', 'CALLBACK_BYTES']);
    expect(() => readConfig(variables)).toThrow(new ConfigError(faults[0]!));
    expect(CONFIGURATION.faults({ SETTLEMENT: 'facilitator' })).toEqual([
      'FACILITATOR_URL is required with SETTLEMENT=facilitator',
      'PAY_TO is required with SETTLEMENT=facilitator',
    ]);
    expect(CONFIGURATION.faults({})).toEqual([]);
  });

  it('names every variable once', () => {
    const names = CONFIGURATION.settings.map(({ variable }) => variable);
    expect(new Set(names).size).toBe(names.length);
  });

  it('never quotes a value whose variable says that it is a secret', () => {
    const tokens = CONFIGURATION.settings.filter(({ variable }) => /_(TOKEN|KEY|SECRET)$/.test(variable));
    expect(tokens.length).toBeGreaterThan(0);
    expect(tokens.filter(({ isSecret }) => !isSecret)).toEqual([]);
  });
});

describe('the settings of gates and jobs services', () => {
  const ENGINE_TOKEN = 'token-between-gates-and-services-0123456789';
  const ENGINE_URL = 'http://10.0.0.5:8402, https://b.example/jobs/';

  it('are lists or text as options of the library', () => {
    const { engineUrl, surfaces } = CONFIGURATION.fromOptions({
      engineUrl: ['http://a:1', 'http://b:2'],
      engineToken: ENGINE_TOKEN,
      surfaces: 'jobs,data',
    });
    expect([engineUrl, surfaces]).toEqual([
      ['http://a:1', 'http://b:2'],
      ['jobs', 'data'],
    ]);
    expect(CONFIGURATION.fromOptions({ surfaces: [] }).surfaces).toEqual([]);
  });

  it('take several addresses, and no catalogue where there is one', () => {
    const { engineUrl, snapshot } = readConfig({ ENGINE_URL, ENGINE_TOKEN });
    expect([engineUrl, snapshot]).toEqual([['http://10.0.0.5:8402', 'https://b.example/jobs'], 'none']);
  });

  it.each([
    ['a gate without the token', { ENGINE_URL }, /^ENGINE_TOKEN is required with ENGINE_URL/],
    [
      'a gate with a catalogue',
      { ENGINE_URL, ENGINE_TOKEN, SNAPSHOT: 'a.snapshot' },
      /^SNAPSHOT must be none with ENGINE_URL/,
    ],
    ['a short token', { ENGINE_TOKEN: 'x'.repeat(31) }, /^ENGINE_TOKEN must be at least 32/],
    ['a token that no header can carry', { ENGINE_TOKEN: `${'x'.repeat(32)},` }, /^ENGINE_TOKEN must be at least 32/],
    ['an address twice', { ENGINE_TOKEN, ENGINE_URL: 'http://a, http://a/' }, /^ENGINE_URL must be a list without rep/],
    ['an address with a query', { ENGINE_TOKEN, ENGINE_URL: 'http://a?b' }, /^ENGINE_URL must be an address without/],
    ['a catalogue for play money', { ENGINE_TOKEN }, /^SURFACES must be set with ENGINE_TOKEN/],
    [
      'a catalogue behind an address with a user',
      { SNAPSHOT: 'https://a:b@c' },
      /^SNAPSHOT must be an address without/,
    ],
    ['no timeout', { ENGINE_TIMEOUT_MS: '0' }, /^ENGINE_TIMEOUT_MS must be a whole number/],
  ])('refuse %s', (_, variables, why) => {
    expect(CONFIGURATION.faults(variables)).toEqual([expect.stringMatching(why)]);
  });

  it.each([
    ['a jobs service', { ENGINE_TOKEN, SURFACES: 'none' }],
    ['one that sells play money on purpose', { ENGINE_TOKEN, SURFACES: 'jobs' }],
    ['one without a catalogue', { ENGINE_TOKEN, SNAPSHOT: 'none' }],
    ['a gate that says it has none', { ENGINE_TOKEN, ENGINE_URL, SNAPSHOT: 'none' }],
  ])('accept %s', (_, variables) => {
    expect(CONFIGURATION.faults(variables)).toEqual([]);
  });
});
