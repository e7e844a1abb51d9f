import { describe, expect, it } from 'vitest';
import { withoutSecrets, withoutUser } from '../../src/base/without-secrets.ts';

describe('a text without secrets', () => {
  it.each([
    ['/v1/jobs', '/v1/jobs'],
    ['/v1/jobs/svc_key_abcDEF-_09', '/v1/jobs/svc_…'],
    ['svc_cb_sk_abc/svc_rt_sk_def', 'svc_…/svc_…'],
    ['/v1/svc%5Fkey%5fabc', '/v1/svc_…'],
    ['/v1/%73vc_key_abc', '/v1/svc_…'],
    ['/svc_key_abc/%73vc_key_def', '/svc_…/svc_…'],
    ['/100%/caf%C3%A9', '/100%/caf%C3%A9'],
    ['/v1/svc', '/v1/svc'],
  ])('%s is shown as %s', (text, shown) => {
    expect(withoutSecrets(text)).toBe(shown);
  });

  it.each([
    ['https://me:secret@a.example/b', 'https://…@a.example/b'],
    ['https://secret@a.example', 'https://…@a.example'],
    ['https://a:p@ss@a.example, https://b:c@b.example', 'https://…@a.example, https://…@b.example'],
    ['https://me:se/c?r#et@a.example/b', 'https://…@a.example/b'],
    ['https://a.example:8080/b, me@b.example', 'https://a.example:8080/b, me@b.example'],
    ['https://a.example/@me', 'https://a.example/@me'],
    ['me@a.example', 'me@a.example'],
  ])('%s is shown without its user as %s', (text, shown) => {
    expect(withoutUser(text)).toBe(shown);
  });
});
