import { describe, expect, it } from 'vitest';
import { errorCodeOf, firstLineOf, messageOf, stackOf } from '../../src/base/failure.ts';

const system = Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' });

describe('a caught value', () => {
  const cases: readonly [value: unknown, message: string, code: string | undefined][] = [
    [system, 'ENOENT: no such file', 'ENOENT'],
    [new TypeError('a bug'), 'a bug', undefined],
    [Object.assign(new Error('a number'), { code: 5 }), 'a number', undefined],
    [{ code: 'EPIPE' }, '[object Object]', 'EPIPE'],
    ['thrown text', 'thrown text', undefined],
    [undefined, 'undefined', undefined],
    [null, 'null', undefined],
  ];

  it.each(cases)('%s has a message and may have a code', (value, message, code) => {
    expect(messageOf(value)).toBe(message);
    expect(errorCodeOf(value)).toBe(code);
  });

  it('has a stack, or its message where there is none', () => {
    expect(stackOf(system)).toContain('failure.test');
    expect(stackOf(Object.assign(new Error('bare'), { stack: undefined }))).toBe('bare');
    expect(stackOf('thrown text')).toBe('thrown text');
  });

  it('has a first line', () => {
    expect(firstLineOf(new Error('first\nsecond'))).toBe('first');
    expect(firstLineOf('only')).toBe('only');
    expect(firstLineOf('')).toBe('');
  });
});
