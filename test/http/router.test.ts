import { describe, expect, it } from 'vitest';
import { pathFinder } from '../../src/http/router.ts';
import { targetOf } from '../../src/http/target.ts';

const find = pathFinder([
  { method: 'GET', path: '/v1/jobs/search' },
  { method: 'POST', path: '/v1/callbacks' },
  { method: 'GET', path: '/v1/callbacks/:id/events' },
  { method: 'DELETE', path: '/v1/callbacks/:id' },
  { method: 'GET', path: '/v1/pairs/:one/last' },
  { method: 'PATCH', path: '/v1/pairs/:one/:other' },
  { method: 'POST', path: '/hooks/:id' },
  { method: 'PUT', path: '/hooks/:id' },
  { method: 'GET', path: '/v1/records/:id/history', decodesParams: true },
  { method: 'GET', path: '/v1/payments/:network/:payer/:nonce' },
  { method: 'GET', path: '/v1/callbacks/:id/events/:event_id/raw' },
]);

describe('finding a path', () => {
  it.each([
    ['/v1/jobs/search', 'GET', {}],
    ['/v1/callbacks', 'POST', {}],
    ['/v1/callbacks/cb_1/events', 'GET', { id: 'cb_1' }],
    ['/v1/callbacks/cb_1', 'DELETE', { id: 'cb_1' }],
    ['/v1/callbacks/events', 'DELETE', { id: 'events' }],
    ['/v1/callbacks/events/events', 'GET', { id: 'events' }],
    ['/v1/pairs/a/last', 'GET', { one: 'a' }],
    ['/v1/pairs/a/lasts', 'PATCH', { one: 'a', other: 'lasts' }],
    ['/hooks/cb_%41', 'POST, PUT', { id: 'cb_%41' }],
    ['/v1/records/a%2Fb%25%C3%A9/history', 'GET', { id: 'a/b%é' }],
    ['/v1/records/a+b/history', 'GET', { id: 'a+b' }],
    ['/v1/payments/eip155:8453/0xA/0xb', 'GET', { network: 'eip155:8453', payer: '0xA', nonce: '0xb' }],
    ['/v1/callbacks/cb_1/events/evt_1/raw', 'GET', { id: 'cb_1', event_id: 'evt_1' }],
  ])('%s allows %s', (path, allow, params) => {
    const match = find(path);
    expect(match?.table.allow).toBe(allow);
    expect({ ...match?.params }).toEqual(params);
  });

  it.each([
    '/',
    '',
    '/v1',
    '/v1/jobs/search/',
    '//v1/jobs/search',
    '/v1//jobs/search',
    '/V1/jobs/search',
    '/v1/jobs/Search',
    '/v1/jobs%2Fsearch',
    '/v1/%6aobs/search',
    '/v1/jobs/search;x',
    '/v1/records/%zz/history',
    '/v1/records/%C3/history',
    '/v1/jobs/search%00',
    '/v1/x/../jobs/search',
    '/v1/callbacks/',
    '/v1/callbacks//events',
    '/v1/callbacks/a/b/events',
    '/v1/callbacks/a/eventsb',
    '/v1/callbacks/a/events/',
    '/v1/callbacks/a/events/b',
    '/v1/callbacks/a/events//raw',
    '/v1/payments/a/b',
    '/v1/payments/a/b/',
    '/v1/payments/a/b/c/',
    '/v1/payments/a/b/c/d',
    '/v1/payments//b/c',
    '/v1/callbacks/a/events/events',
    '/v1/records/history',
    '/v1/records/a/history/b',
    '/v1/records/a/histor',
    '/v1/records/a/histories',
    '/v1/records/ahistory',
    '/hooks',
    '/hooks/',
    '/hooks/a/b',
    '/hooks/a/',
    '/hooks/a//',
  ])('%j is no path of ours', (path) => {
    expect(find(path)).toBeUndefined();
  });

  it('refuses two routes on one method and path', () => {
    const twice = { method: 'GET', path: '/a' } as const;
    expect(() => pathFinder([twice, twice])).toThrow('/a');
  });
});

describe('the request target', () => {
  it.each([
    ['http://h/p?q=1', '/p', '?q=1'],
    ['http://h:1/p', '/p', ''],
    ['http://h', '/', ''],
    ['http://h/p?', '/p', ''],
    ['/p?q=1', '/p', '?q=1'],
    ['http://h/p#f?x', '/p', ''],
    ['http://h/p?a=1#f', '/p', '?a=1'],
    ['http://h/a?b=//c/d?e', '/a', '?b=//c/d?e'],
    ['nonsense', '/', ''],
  ])('of %s is %s and %s', (url, path, search) => {
    expect(targetOf(url)).toEqual({ path, search });
  });
});
