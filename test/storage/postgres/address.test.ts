import { describe, expect, it } from 'vitest';
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts';

const CHECKED = { rejectUnauthorized: true };

describe('DATABASE_URL', () => {
  it.each([
    [
      'postgres://ann:s%40cret@db.example:5433/shop',
      { host: 'db.example', port: 5433, user: 'ann', password: 's@cret' },
    ],
    ['postgresql://db.example/shop', { host: 'db.example', port: 5432, user: undefined, password: undefined }],
    ['postgres://[::1]:5432/shop', { host: '::1', ssl: false }],
    ['postgres:///shop?host=/run/postgresql', { host: '/run/postgresql', database: 'shop', ssl: false }],
    ['postgres://127.0.0.1/shop', { ssl: false }],
    ['postgres://localhost/shop', { ssl: false }],
    // A resolver may ask the DNS for it.
    ['postgres://db.localhost/shop', { ssl: CHECKED }],
    ['postgres://10.0.0.5/shop', { ssl: CHECKED }],
    ['postgres://db.example/shop?sslmode=require', { ssl: CHECKED }],
    ['postgres://localhost/shop?sslmode=verify-full', { ssl: CHECKED }],
    ['postgres://db.example/shop?sslmode=disable', { ssl: false }],
  ])('%s', (text, expected) => {
    expect(parseDatabaseUrl(text)).toMatchObject(expected);
  });

  it.each([
    ['shop', 'postgres://user:password@host:5432/database'],
    ['mysql://ann:s3cret@db/shop', 'postgres://'],
    ['postgres://ann:s3cret@db/shop?sslmode=prefer', 'sslmode must be one of'],
    ['postgres://ann:s3cret@db/shop?pool=9', 'unknown parameter "pool"'],
    ['postgres://ann:s3cret@db/shop?sslmode=require&sslrootcert=/none', '/none'],
    ['postgres://ann:s3cret%ZZ@db/shop', 'percent'],
  ])('%s is refused in words that hold no password', (text, words) => {
    expect(() => parseDatabaseUrl(text)).toThrow(words);
    expect(() => parseDatabaseUrl(text)).not.toThrow('s3cret');
  });

  it('is shown without user and password', () => {
    expect(parseDatabaseUrl('postgres://ann:s3cret@db.example/shop').shown).toBe('db.example:5432/shop');
  });
});
