/** Which failures of `fetch` prove that nothing was sent, in the shapes that Node and Bun give them. */
import { describe, expect, it } from 'vitest';
import { fetchCodeOf, isNotSent } from '../../../src/adapters/outbound/connection-failure.ts';

const failure = (facts: object): Error => Object.assign(new Error('failed'), facts);
/** undici's: the facts are on the cause. */
const wrapped = (facts: object): Error => new TypeError('fetch failed', { cause: failure(facts) });

describe('a failure of fetch', () => {
  const cases: readonly [name: string, value: unknown, isNotSent: boolean, code: string][] = [
    ['refused, on Node', wrapped({ code: 'ECONNREFUSED', syscall: 'connect' }), true, 'ECONNREFUSED'],
    ['refused, on Bun', failure({ code: 'ConnectionRefused' }), true, 'ConnectionRefused'],
    ['an unknown name', wrapped({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }), true, 'ENOTFOUND'],
    [
      'a port that fetch leaves alone, on Node',
      new TypeError('fetch failed', { cause: new Error('bad port') }),
      true,
      'bad port',
    ],
    ['no file descriptor, on Node', wrapped({ code: 'EMFILE', syscall: 'connect' }), true, 'EMFILE'],
    ['no file descriptor, on Bun', failure({ code: 'EMFILE' }), true, 'EMFILE'],
    ['a wrong certificate', wrapped({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['reset while connecting', wrapped({ code: 'ECONNRESET', syscall: 'connect' }), true, 'ECONNRESET'],
    ['reset later, maybe in a handshake', wrapped({ code: 'ECONNRESET', syscall: 'read' }), false, 'ECONNRESET'],
    ['a refusal that no failed connect has', wrapped({ code: 'EPROTO', syscall: 'connect' }), false, 'EPROTO'],
    ['a connection that closed', wrapped({ code: 'UND_ERR_SOCKET' }), false, 'UND_ERR_SOCKET'],
    [
      'every address refused',
      wrapped({ errors: [failure({ code: 'ECONNREFUSED' }), failure({ code: 'ETIMEDOUT', syscall: 'connect' })] }),
      true,
      'no code',
    ],
    [
      'one of two addresses lost later',
      wrapped({ errors: [failure({ code: 'ECONNREFUSED' }), failure({ code: 'ECONNRESET', syscall: 'read' })] }),
      false,
      'no code',
    ],
    ['lost, with no address that was tried', failure({ code: 'ECONNRESET', errors: [] }), false, 'ECONNRESET'],
    ['without a code', new Error('odd'), false, 'no code'],
    ['no error at all', undefined, false, 'no code'],
    ['null', null, false, 'no code'],
  ];

  it.each(cases)('%s', (_, value, expected, code) => {
    expect([isNotSent(value), fetchCodeOf(value)]).toEqual([expected, code]);
  });
});
