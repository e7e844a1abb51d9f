/** What an attempt's answer becomes on record (siblings §5, §6). */
import { describe, expect, it } from 'vitest';
import { attemptEndOf, attemptHeaders } from '../../src/retry/attempts.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);

const answered = (status: number, headers: [string, string][] = [], isUnreadable = false) =>
  attemptEndOf(
    {
      kind: 'answer',
      status,
      headers,
      body: new TextEncoder().encode('{"a":1}'),
      isTruncated: false,
      isUnreadable,
      durationMs: 41.6,
    } as Parameters<typeof attemptEndOf>[0],
    NOW_MS,
  );

describe('the end of an attempt', () => {
  it.each([
    [199, 'http_error'],
    [200, 'success'],
    [299, 'success'],
    [300, 'http_error'],
  ])('with the status %i is %s', (status, outcome) => {
    const { end, body } = answered(status, [
      ['retry-after', '7'],
      ['content-type', 'application/json'],
    ]);
    expect(end).toEqual({
      outcome,
      durationMs: 42,
      statusCode: status,
      retryAfterSeconds: 7,
      result: { statusCode: status, contentType: 'application/json', sizeBytes: 7, isTruncated: false },
    });
    expect(body).toBe('{"a":1}');
  });

  it.each([
    ['blocked', 'blocked'],
    ['timeout', 'timeout'],
    ['unreachable', 'connection_error'],
    ['tls-error', 'connection_error'],
    ['too-large', 'response_too_large'],
    ['aborted', 'interrupted'],
  ] as const)('without an answer (%s) is %s, with the time that it took', (kind, outcome) => {
    const failure = { kind, detail: '', durationMs: 41.6 } as Parameters<typeof attemptEndOf>[0];
    expect(attemptEndOf(failure, NOW_MS)).toEqual({
      end: { outcome, durationMs: 42, statusCode: null, retryAfterSeconds: null, result: null },
      body: null,
    });
  });

  it('keeps 512 characters of the content type', () => {
    const { end } = answered(200, [['content-type', `text/plain; x=${'a'.repeat(600)}`]]);
    expect(end.result?.contentType).toBe(`text/plain; x=${'a'.repeat(498)}`);
  });

  it('shows no body in a coding that was not asked for', () => {
    const { body, end } = answered(200, [], true);
    expect([body, end.result?.sizeBytes]).toEqual(['null', 7]);
  });
});

describe('the headers of an attempt', () => {
  it.each([
    [[], ['idempotency-key', 'rt_1']],
    [[['Idempotency-Key', 'own']], undefined],
  ] as const)('beside %j name job and attempt, and the idempotency key where the customer has none', (headers, key) => {
    const request = { method: 'GET', url: 'https://well.example/', headers, body: null } as const;
    const own = [
      ['x-retry-id', 'rt_1'],
      ['x-retry-attempt', '3'],
    ];
    expect(attemptHeaders('rt_1', 3, request)).toEqual([...headers, ...own, ...(key === undefined ? [] : [key])]);
  });
});
