/** The guarded client against real sockets under both runtimes; each trial stands in client-trials.ts. */
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binaryOf, PROJECT, RUNTIMES, startProcess } from '../../support/server.ts';

const TRIALS = join(PROJECT, 'test', 'adapters', 'outbound', 'client-trials.ts');

/** An environment that would lead elsewhere, and leave certificates unchecked. */
const environmentWith = (proxy: string): Readonly<Record<string, string>> => ({
  HTTP_PROXY: proxy,
  http_proxy: proxy,
  HTTPS_PROXY: proxy,
  ALL_PROXY: proxy,
  NODE_USE_ENV_PROXY: '1',
  NODE_TLS_REJECT_UNAUTHORIZED: '0',
});

const LOOPBACK = 'blocked: the address is not public: 127.0.0.0/8 is loopback (RFC 1122 §3.2.1.3)';
const SENT = {
  line: 'PUT /a?b=c',
  headers: [
    'accept-encoding: gzip, deflate, br',
    'connection: close',
    'content-length: 7',
    'content-type: application/json',
    'host: ok.test:PORT',
    'user-agent: paygrade/0.1.0',
    'x-one: 1',
    'x-one: 2',
  ],
  body: '{"a":1}',
};
const HOOK_REQUEST = {
  url: 'https://hooks.example.com/hooks/cb_1?a=b',
  method: 'POST',
  address: 'customer a',
  type: 'application/json',
  from: null,
  body: '{"x":1}',
};
const FOUND = { kind: 'addresses', addresses: ['192.0.2.7'] };

const EXPECTED: Readonly<Record<string, unknown>> = {
  'sends what it is given, and its own headers': JSON.stringify(SENT),
  'keeps no cookies and no connection': {
    seen: [
      [null, 'close'],
      [null, 'close'],
    ],
    cookies: [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ],
  },
  'asks once, pins the answer, and sees no second one': {
    first: '200 first',
    second: LOOPBACK,
    asked: 2,
    counted: [
      'paygrade_outbound_requests_total{result="answer"} 1',
      'paygrade_outbound_requests_total{result="blocked"} 1',
      'paygrade_outbound_blocked_total{rule="address"} 1',
    ],
  },
  'refuses a name with one address that is not allowed': [LOOPBACK, 'blocked'],
  'tries the next address of a name': '200 ok',
  'follows no redirect, and the policy judges its target': ['302 ', 'port'],
  'leaves the body of a head that is enough': ['302 ', '200 whole'],
  'uses no proxy of the environment': '200 direct',
  'ends a head that does not come': 'timeout: no whole answer in 4000 ms',
  'ends a body that drips': 'timeout: no whole answer in 4000 ms',
  'takes a body that ends with its connection': '200 whole',
  'ends such a body with its signal': 'aborted: the request was ended',
  'takes no such body that a reset ends': 'unreachable: connection lost (ECONNRESET)',
  'ends a head that drips': 'timeout: no whole answer in 4000 ms',
  'ends a handshake that does not come': 'timeout: no connection in 5000 ms',
  'refuses a head over its bound': 'too-large: a head over 32768 bytes',
  'refuses a head of many lines': 'too-large: a head over 32768 bytes',
  'takes a head within its bound': '200 ok',
  'keeps the last of many lines of a head': '/last',
  'reads a location that is written in UTF-8': '/stellen/caf%C3%A9-%E4%B8%AD',
  'cuts a body over its bound on the wire': '200 1000 bytes (cut)',
  'leaves a body at its bound whole': '200 7000 bytes',
  'unpacks what comes before a cut': 'a part',
  'unpacks gzip': '200 7000 bytes',
  'unpacks deflate': '200 7000 bytes',
  'unpacks raw deflate': '200 7000 bytes',
  'unpacks br': '200 7000 bytes',
  'unpacks one on the other': '200 7000 bytes',
  'unpacks an empty body': '200 ',
  'leaves bodies packed where that is asked': 'as they came',
  'leaves another coding packed': '200 packed (unreadable)',
  'leaves a transfer coding that was not asked for': '200 packed (unreadable)',
  'reads what an old server says is in no coding': '200 plain',
  'says that a coding is broken': 'unreachable: a body that does not unpack (Z_DATA_ERROR)',
  'says that Brotli is broken': 'unreachable: a body that does not unpack (ERR__ERROR_FORMAT_PADDING_2)',
  'tells a packed body that only the end of its connection ends, too early':
    'unreachable: a body that does not unpack (Z_BUF_ERROR)',
  'tells a cut body': 'unreachable: connection lost (ECONNRESET)',
  'tells a cut chunked body': 'unreachable: connection lost (ECONNRESET)',
  'tells a connection without an answer': 'unreachable: connection lost (ECONNRESET)',
  'tells what is no status': 'unreachable: connection lost (no code)',
  'tells what is no HTTP': 'unreachable: connection lost (HPE_INVALID_CONSTANT)',
  'tells an answer that switches protocols': 'unreachable: connection lost (no code)',
  'passes over interim answers': '204 ',
  'ends interim answers that are together longer than a head': 'too-large: a head over 32768 bytes',
  'tells a port without a listener': 'unreachable: no connection (ECONNREFUSED)',
  // Here connecting fails in the turn in which it begins.
  'tells addresses to which there is no route': Array.from({ length: 5 }, () => 'unreachable'),
  'tells names without an address, and resolvers without an answer': [
    'unreachable: the name has no address (ENOTFOUND)',
    'timeout: the name was not resolved (ECANCELLED)',
    'timeout',
  ],
  'checks the name of the certificate, and who signed it': {
    good: '200 secure',
    wrongName: 'tls-error: TLS (ERR_TLS_CERT_ALTNAME_INVALID)',
    address: 'tls-error: TLS (ERR_TLS_CERT_ALTNAME_INVALID)',
    unknownAuthority: 'tls-error: TLS (DEPTH_ZERO_SELF_SIGNED_CERT)',
    noTls: expect.stringMatching(/^tls-error: TLS \((?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER)\)$/),
    seen: ['good.test'],
  },
  'ends with the signal of its caller, in flight and while it waits': [
    ['aborted: ended while it waited', 'aborted: the request was ended'],
    ['paygrade_outbound_in_flight 0', 'paygrade_outbound_waiting 0'],
  ],
  'says that it sends before the first byte leaves, and not at all where it is blocked': [
    ['sent', 'arrived'],
    'Error: no record',
  ],
  'delivers to webhook addresses of this server inside the process': [
    '202 {"ok":true}',
    [JSON.stringify(HOOK_REQUEST)],
  ],
  'looks names up with a resolver that a deadline ends, the hosts file first': [
    [
      [FOUND, true],
      [{ kind: 'unknown', code: 'ENOTFOUND' }, true],
      [FOUND, true],
      [{ kind: 'timeout', code: 'ECANCELLED' }, true],
      [{ kind: 'addresses', addresses: expect.arrayContaining(['127.0.0.1']) }, true],
    ],
    true,
  ],
  'judges the table of targets alike': [],
  'stops a bomb at its bound, in bounded memory': [
    Array.from({ length: 4 }, () => 'too-large: a body over 8388608 bytes'),
    'bounded',
  ],
  canaryCount: 0,
};

describe.each(RUNTIMES)('the guarded client under %s', (runtime) => {
  it('comes to what each trial expects, and no canary sees a connection', async () => {
    let proxiedCount = 0;
    const proxy = createServer((socket) => {
      proxiedCount++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const words = environmentWith(`http://127.0.0.1:${port}`);
    const { stdout, stderr } = await startProcess(binaryOf(runtime), [TRIALS], words).ended;
    proxy.close();
    expect(stdout, stderr).not.toBe('');
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
    expect(proxiedCount).toBe(0);
  });
});
