/**
 * Targets and what the policy must say to each: addresses written by hand, each in every spelling that `URL` takes for it. The
 * rules in the second place are named by hand too, so that the table does not follow from the tables of the policy.
 */
import type { Purpose } from '../../src/outbound/target.ts';

/** Address, purpose, and `allowed` or the name of the rule that refuses it. */
export type Row = readonly [text: string, purpose: Purpose, expected: string];

/** First, last and one in between of every range that is not public. */
const REFUSED_IPV4: Readonly<Record<string, readonly string[]>> = {
  '0.0.0.0/8': ['0.0.0.0', '0.0.0.1', '0.255.255.255'],
  '10.0.0.0/8': ['10.0.0.0', '10.1.2.3', '10.255.255.255'],
  '100.64.0.0/10': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  '127.0.0.0/8': ['127.0.0.0', '127.0.0.1', '127.255.255.255'],
  '168.63.129.16/32': ['168.63.129.16'],
  '169.254.0.0/16': ['169.254.0.0', '169.254.169.254', '169.254.255.255'],
  '172.16.0.0/12': ['172.16.0.0', '172.20.10.1', '172.31.255.255'],
  '192.0.0.0/29': ['192.0.0.0', '192.0.0.7'],
  '192.0.0.8/32': ['192.0.0.8'],
  '192.0.0.9/32': ['192.0.0.9'],
  '192.0.0.10/32': ['192.0.0.10'],
  '192.0.0.170/31': ['192.0.0.170', '192.0.0.171'],
  '192.0.0.0/24': ['192.0.0.11', '192.0.0.192', '192.0.0.255'],
  '192.0.2.0/24': ['192.0.2.0', '192.0.2.255'],
  '192.31.196.0/24': ['192.31.196.0', '192.31.196.255'],
  '192.52.193.0/24': ['192.52.193.0', '192.52.193.255'],
  '192.88.99.2/32': ['192.88.99.2'],
  '192.88.99.0/24': ['192.88.99.0', '192.88.99.1', '192.88.99.255'],
  '192.168.0.0/16': ['192.168.0.0', '192.168.1.1', '192.168.255.255'],
  '192.175.48.0/24': ['192.175.48.0', '192.175.48.255'],
  '198.18.0.0/15': ['198.18.0.0', '198.19.255.255'],
  '198.51.100.0/24': ['198.51.100.0', '198.51.100.255'],
  '203.0.113.0/24': ['203.0.113.0', '203.0.113.255'],
  '224.0.0.0/4': ['224.0.0.1', '239.255.255.255'],
  '255.255.255.255/32': ['255.255.255.255'],
  '240.0.0.0/4': ['240.0.0.0', '255.255.255.254'],
};

/** Beside a range, and far from all. */
const PUBLIC_IPV4 = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.0.1.0',
  '192.0.3.0',
  '192.31.195.255',
  '192.31.197.0',
  '192.52.192.255',
  '192.52.194.0',
  '192.88.98.255',
  '192.88.100.0',
  '192.167.255.255',
  '192.169.0.0',
  '192.175.47.255',
  '192.175.49.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '198.51.101.0',
  '203.0.112.255',
  '203.0.114.0',
  '223.255.255.255',
];

const REFUSED_IPV6: Readonly<Record<string, readonly string[]>> = {
  '::/128': ['::', '0:0:0:0:0:0:0:0', '::0.0.0.0'],
  '::1/128': ['::1', '0:0:0:0:0:0:0:1', '0000:0000:0000:0000:0000:0000:0000:0001', '::0.0.0.1'],
  '::/96': ['::2', '::127.0.0.1', '::7f00:1', '::8.8.8.8', '::ffff:ffff'],
  '::ffff:0:0:0/96': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8', '::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  '64:ff9b:1::/48': ['64:ff9b:1::', '64:ff9b:1::8.8.8.8', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  '100::/64': ['100::', '100::ffff:ffff:ffff:ffff'],
  '100:0:0:1::/64': ['100:0:0:1::', '100::1:ffff:ffff:ffff:ffff'],
  '2001:1::1/128': ['2001:1::1'],
  '2001:1::2/128': ['2001:1::2'],
  '2001:1::3/128': ['2001:1::3'],
  '2001:2::/48': ['2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  '2001:3::/32': ['2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
  '2001:4:112::/48': ['2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
  '2001:10::/28': ['2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  '2001:20::/28': ['2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  '2001:30::/28': ['2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  '2001::/23': ['2001:1::', '2001:40::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '2001:db8::/32': ['2001:db8::', '2001:db8::1', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  '2620:4f:8000::/48': ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  '3ffe::/16': ['3ffe::', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '3fff::/20': ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '5f00::/16': ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'fc00::/7': ['fc00::', 'fd00:ec2::254', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'fe80::/10': ['fe80::', 'fe80::1', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'fec0::/10': ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'ff00::/8': ['ff00::', 'ff02::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '::/8': ['::1:0:0', '64:ff9c::', '64:ff9b::1:808:808', '::fffe:808:808', 'ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '100::/8': ['100:0:0:2::', '1ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '200::/7': ['200::', '3ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '400::/6': ['400::', '7ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '800::/5': ['800::', 'fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '1000::/4': ['1000::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '4000::/3': ['4000::', '5eff::', '5f01::', '5fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '6000::/3': ['6000::', '7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  '8000::/3': ['8000::', '9fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'a000::/3': ['a000::', 'bfff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'c000::/3': ['c000::', 'dfff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'e000::/4': ['e000::', 'efff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'f000::/5': ['f000::', 'f7ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'f800::/6': ['f800::', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  'fe00::/9': ['fe00::', 'fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
};

const PUBLIC_IPV6 = [
  '2000::',
  '2001:200::',
  '2001:4860:4860::8888',
  '2001:db7:ffff::1',
  '2001:db9::1',
  '2003::1',
  '2600::1',
  '2606:4700:4700::1111',
  '2620:4f:7fff::1',
  '2620:4f:8001::1',
  '3ffd::1',
  '3fff:1000::1',
  '2a00:1450::1',
];

const octetsOf = (address: string): number[] => address.split('.').map(Number);
const numberOf = (octets: readonly number[]): number => octets.reduce((sum, octet) => sum * 256 + octet, 0);
const hex = (value: number, digits = 1): string => value.toString(16).padStart(digits, '0');
const groupsOf = (octets: readonly number[]): string =>
  `${hex(numberOf(octets.slice(0, 2)))}:${hex(numberOf(octets.slice(2)))}`;
const fullWidth = (text: string): string =>
  text.replace(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) - 48 + 0xff10));
const percent = (text: string): string => text.replace(/[0-9]/g, (digit) => `%3${digit}`);

/** Every spelling of an IPv4 address that URL takes for it. */
function ipv4Spellings(address: string): string[] {
  const octets = octetsOf(address);
  const whole = numberOf(octets);
  const [a, b] = octets as [number, number];
  return [
    address,
    `${address}.`,
    String(whole),
    `0x${hex(whole)}`,
    `0X${hex(whole, 10).toUpperCase()}`,
    `0${whole.toString(8)}`,
    octets.map((octet) => `0x${hex(octet)}`).join('.'),
    octets.map((octet) => `0${octet.toString(8)}`).join('.'),
    octets.map((octet) => `000${octet.toString(8).padStart(4, '0')}`).join('.'),
    `${a}.${numberOf(octets.slice(1))}`,
    `${a}.${b}.${numberOf(octets.slice(2))}`,
    `0x${hex(a)}.${b}.0${numberOf(octets.slice(2)).toString(8)}`,
    fullWidth(address),
    percent(address),
    address.replaceAll('.', '\u3002'),
    address.replaceAll('.', '\uff0e'),
    address.replaceAll('.', '\uff61'),
  ];
}

/** Spellings of IPv6 addresses that stand for an IPv4 address, by the form. */
function embeddings(address: string): Readonly<Record<string, readonly string[]>> {
  const octets = octetsOf(address);
  const groups = groupsOf(octets);
  const inverted = groupsOf(octets.map((octet) => 255 - octet));
  return {
    '::ffff:0:0/96': [
      `::ffff:${address}`,
      `::FFFF:${address}`,
      `::ffff:${groups}`,
      `0:0:0:0:0:ffff:${groups}`,
      `0000:0000:0000:0000:0000:ffff:${address}`,
    ],
    '64:ff9b::/96': [`64:ff9b::${address}`, `64:ff9b::${groups}`, `0064:FF9B:0:0:0:0:${address}`],
    '2002::/16': [`2002:${groups}::`, `2002:${groups}:1:2:3:4:5`],
    '2001::/32': [`2001:0:808:808:8000:1:${inverted}`, `2001:0:${groups}:8000:1:f7f7:f7f7`],
  };
}

const v4Rows = Object.entries(REFUSED_IPV4).flatMap(([rule, addresses]) =>
  addresses.flatMap((address) => [
    ...ipv4Spellings(address).map((host): Row => [`https://${host}/`, 'retry', rule]),
    ...Object.entries(embeddings(address)).flatMap(([form, hosts]) =>
      hosts.map((host): Row => [`https://[${host}]/`, 'retry', form]),
    ),
  ]),
);

const publicRows = PUBLIC_IPV4.flatMap((address) => [
  ...ipv4Spellings(address).map((host): Row => [`https://${host}/`, 'retry', 'allowed']),
  ...Object.values(embeddings(address))
    .flat()
    .map((host): Row => [`https://[${host}]/`, 'retry', 'allowed']),
]);

const v6Rows = [...Object.entries(REFUSED_IPV6), ['allowed', PUBLIC_IPV6] as const].flatMap(([rule, addresses]) =>
  addresses.flatMap((address): Row[] => [
    [`https://[${address}]/`, 'delivery', rule],
    [`http://[${address.toUpperCase()}]:8080/x?y`, 'resolve', rule],
  ]),
);

const LONG = 'https://example.com/';

/** Everything but addresses. */
const OTHER_ROWS: readonly Row[] = [
  ['https://example.com/', 'retry', 'allowed'],
  ['https://example.com', 'delivery', 'allowed'],
  ['https://EXAMPLE.com:443/a?b=c#d', 'retry', 'allowed'],
  ['https://example.com./', 'retry', 'allowed'],
  ['https://a_b.example.com:8443/', 'retry', 'allowed'],
  ['https://xn--bcher-kva.example/', 'resolve', 'allowed'],
  ['https://b\u00fccher.example/', 'resolve', 'allowed'],
  ['https://example.com/path/with@sign?q=a@b', 'retry', 'allowed'],
  ['https://example.com?a@b', 'retry', 'allowed'],
  ['https://example.com#a@b', 'retry', 'allowed'],
  ['https://example.com/?u=http://127.0.0.1/', 'retry', 'allowed'],
  [`${LONG}${'a'.repeat(2048 - LONG.length)}`, 'retry', 'allowed'],
  [`${LONG}${'a'.repeat(2049 - LONG.length)}`, 'retry', 'length'],
  [`${LONG}?${'%20'.repeat(1000)}`, 'resolve', 'length'],
  // Schemes and their purposes.
  ['http://example.com/', 'resolve', 'allowed'],
  ['HTTP://example.com/', 'resolve', 'allowed'],
  ['http://example.com/', 'retry', 'https-only'],
  ['http://example.com:443/', 'delivery', 'https-only'],
  ...['ftp', 'ws', 'wss', 'gopher', 'dict', 'ldap', 'tftp', 'data', 'javascript', 'jar', 'blob', 'unix', 'x'].map(
    (scheme): Row => [`${scheme}://example.com:443/`, 'resolve', 'scheme'],
  ),
  // Forms that URL mends.
  ...[
    '',
    'example.com',
    '//example.com/',
    '/x',
    'https:example.com',
    'https:/example.com',
    'https:///example.com/',
    'https:////example.com',
    'https://',
    'https://?x',
    'https://#x',
    'https:',
    ':',
    '://x',
    '1https://example.com/',
    'https//example.com',
    'mailto:a@example.com',
    'data:text/html,x',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'about:blank',
    'blob:https://example.com/x',
  ].map((text): Row => [text, 'resolve', 'form']),
  // Hosts that URL refuses.
  ...[
    'https://[::1%25eth0]/',
    'https://[fe80::1%eth0]/',
    'https://[::1/',
    'https://::1/',
    'https://[127.0.0.1]/',
    'https://[1:2:3:4:5:6:7:8:9]/',
    'https://[::ffff:256.0.0.1]/',
    'https://[::ffff:127.1]/',
    'https://[1::2::3]/',
    'https://256.0.0.1/',
    'https://1.2.3.4.5/',
    'https://0x100000000/',
    'https://4294967296/',
    'https://08.0.0.1/',
    'https://a<b.example/',
    'https://a%00b.example/',
    'https://exa%20mple.com/',
    'https://a^b.example/',
    'https://example.com:65536/',
    'https://example.com:-1/',
    'https://example.com:x/',
    'https://a|b.example/',
    'https://a.1/',
    // No Punycode (WPT, toascii.json).
    'https://xn--a/',
    'https://xn--a.example/',
    'https://example.XN--/',
    'https://xn--a-yoc.example/',
    'https://%78n--zzzzzzzz9.example/',
  ].map((text): Row => [text, 'retry', 'form']),
  ...[
    ' https://example.com/',
    'https://example.com/ ',
    'https://exam ple.com/',
    'ht\ntps://example.com/',
    'https://exam\tple.com/',
    'https://example.com/\r\nX: y',
    'https://example.com\\@127.0.0.1/',
    'https:\\\\127.0.0.1\\',
    '\u0000https://example.com/',
    'https://example.com/\u007f',
    'https://example.com/\u0085',
    '\u00a0https://example.com/',
  ].map((text): Row => [text, 'resolve', 'characters']),
  // Where JSON would repeat them, strict parsers refuse it.
  ...['https://example.com/\ud800', 'https://example.com/?q=\udc00a', 'https://example.com/#\ud83d'].map(
    (text): Row => [text, 'resolve', 'well-formed'],
  ),
  ['https://example.com/\ud83d\ude00', 'retry', 'allowed'],
  // User info.
  ...[
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://:pass@example.com/',
    'https://@example.com/',
    'https://:@example.com/',
    'https://example.com@127.0.0.1/',
    'https://127.0.0.1@example.com/',
    'https://a@b@example.com/',
    'https://user%40x@example.com/',
    'https://example.com:443@10.0.0.1/',
    'https://@@@example.com/',
  ].map((text): Row => [text, 'resolve', 'user-info']),
  // Ports.
  ...[80, 443, 8080, 8443].flatMap((port): Row[] => [
    [`https://example.com:${port}/`, 'retry', 'allowed'],
    [`http://example.com:0${port}/`, 'resolve', 'allowed'],
  ]),
  ...[
    0, 1, 21, 22, 23, 25, 53, 79, 81, 110, 444, 587, 2375, 3000, 3306, 5432, 6379, 8000, 8081, 8402, 8442, 8444, 9200,
    11211, 27017, 65535,
  ].map((port): Row => [`https://example.com:${port}/`, 'resolve', 'port']),
  ['https://127.0.0.1:22/', 'retry', 'port'],
  // Names.
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'x.y.LocalHost.',
    'loc\u00adalhost',
    '\u24dbocalhost',
    '%6cocalhost',
    '\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54',
    'a\u3002localhost',
    'a\uff0elocalhost',
    'localhos\u0074',
    'lo\u200bcalhost',
  ].map((host): Row => [`https://${host}/`, 'retry', 'name-localhost']),
  ...['printer.local', 'a.b.local.', 'LOCAL', 'x.LOCAL', 'x\u3002local', 'x.\u24dbocal', 'x.%6c%6fcal'].map(
    (host): Row => [`https://${host}/`, 'delivery', 'name-local'],
  ),
  ...[
    'metadata.google.internal',
    'internal',
    'x.internal.',
    'a.b.INTERNAL',
    'x\uff61internal',
    'x.\uff49nternal',
    'host.docker.internal',
    'ip-10-0-0-1.ec2.internal',
  ].map((host): Row => [`https://${host}/`, 'resolve', 'name-internal']),
  ...['db', 'intranet', 'com', 'a.', 'METADATA', 'xn--bcher-kva', 'b\u00fccher', 'localhost6', 'x-1'].map(
    (host): Row => [`https://${host}/`, 'retry', 'single-label'],
  ),
  ...[
    'a..b.example',
    '.example.com',
    'example.com..',
    '-a.example',
    'a-.example',
    'a*b.example',
    '*.example.com',
    `${'a'.repeat(64)}.example`,
    `${'abcdefgh.'.repeat(27)}abcdefghijk`,
    `${'abcdefgh.'.repeat(29)}example`,
    "a'b.example",
    'a!b.example',
    'a$b.example',
    'a,b.example',
    'a;b.example',
    'a=b.example',
    'a~b.example',
    '..',
    'a(b).example',
    'a+b.example',
    'a&b.example',
  ].map((host): Row => [`https://${host}/`, 'retry', 'host-form']),
  ...[
    'notlocalhost.example',
    'localhost.example',
    'local.example.com',
    'internal.example.com',
    'mylocal.example',
    'xlocal.com',
    'myinternal.com',
    'a.mylocal',
    'a.myinternal',
    'a.mylocalhost',
    '127.0.0.1.example.com',
    '1.2.3.4.nip.io',
    '0x7f.example',
    `${'a'.repeat(63)}.example`,
    `${'abcdefgh.'.repeat(27)}abcdefghij`,
  ].map((host): Row => [`https://${host}/`, 'retry', 'allowed']),
  // This server: BASE_URL, DATA_URL, HOOK_BASE_URL and where it listens; see OWN in policy.test.ts.
  ...[
    'https://paygrade.example.com/',
    'https://paygrade.example.com:443/v1/jobs',
    'https://paygrade.example.com./x',
    'http://paygrade.example.com/',
    'https://PAYGRADE.example.com:80/',
    'https://data.example.com:8443/v1/jobs',
    'https://hooks.example.com/',
    'https://hooks.example.com/x/hooks/cb',
    'https://hooks.example.com/x/cb/hooks',
    'https://hooks.example.com/hooks',
    'https://hooks.example.com/hooks/../v1/callbacks',
    'https://hooks.example.com/hooks/%2e%2e/v1/jobs',
    'http://hooks.example.com/hooks/a',
    'https://8.8.4.4:8080/',
    'https://[::ffff:8.8.4.4]:8080/',
    'https://134743044:8080/',
    'https://127.0.0.1:8080/',
    'http://0.0.0.0:8080/',
  ].map((text): Row => [text, 'resolve', 'own-address']),
  ...[
    'https://hooks.example.com/hooks/cb_1?x=y',
    'https://HOOKS.example.com:443/hooks/a',
    'https://hooks.example.com/x/../hooks/a',
    'https://8.8.4.4/',
    'https://data.example.com/',
    'https://other.example.com/hooks/cb',
  ].map((text): Row => [text, 'retry', 'allowed']),
  ['https://user@hooks.example.com/hooks/a', 'retry', 'user-info'],
];

export const ROWS: readonly Row[] = [...v4Rows, ...publicRows, ...v6Rows, ...OTHER_ROWS];

/** This server, as the rows know it. */
export const OWN_URLS = ['https://paygrade.example.com', 'https://data.example.com:8443'] as const;
export const OWN_HOOKS = 'https://hooks.example.com';
export const OWN_PORT = 8080;
export const OWN_RANGES = ['127.0.0.0/8', '0.0.0.0/32', '8.8.4.4/32'] as const;
