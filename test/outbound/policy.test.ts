/** The policy of outbound requests against the table of targets, with each rule and without it, and TARGET_ALLOW. */
import { describe, expect, it } from 'vitest';
import { targetList } from '../../src/config/parsers.ts';
import { OutboundPolicy } from '../../src/outbound/policy.ts';
import type { Purpose } from '../../src/outbound/target.ts';
import { parseTargetAllow } from '../../src/outbound/target-allow.ts';
import { NOTHING_ALLOWED } from '../support/nothing-allowed.ts';
import { ROWS } from './targets.ts';
import { isTableMet, OWN, RULES, wrongVerdicts } from './verdicts.ts';

const allowing = (text: string): OutboundPolicy => new OutboundPolicy({ own: OWN, allow: targetList(text) });

const without = <T>(list: readonly T[], one: T): readonly T[] => list.filter((other) => other !== one);

describe('the policy of outbound requests', () => {
  it(`says to ${ROWS.length} targets what the table expects`, () => {
    expect(ROWS.length).toBeGreaterThan(400);
    expect(wrongVerdicts()).toEqual([]);
  });

  const mutants = [
    ...RULES.text.map((rule) => [rule.name, { ...RULES, text: without(RULES.text, rule) }] as const),
    ...RULES.everyTarget.map(
      (rule) => [rule.name, { ...RULES, everyTarget: without(RULES.everyTarget, rule) }] as const,
    ),
    ...RULES.publicTarget.map(
      (rule) => [rule.name, { ...RULES, publicTarget: without(RULES.publicTarget, rule) }] as const,
    ),
    ...RULES.ranges.map((rule) => [rule.cidr, { ...RULES, ranges: without(RULES.ranges, rule) }] as const),
    ...RULES.embeddings.map((rule) => [rule.cidr, { ...RULES, embeddings: without(RULES.embeddings, rule) }] as const),
  ];
  it.each(mutants)('fails the table without its rule %s', (_, rules) => {
    expect(isTableMet(rules)).toBe(false);
  });

  it('gives a reason of one line that does not repeat the address', () => {
    const policy = new OutboundPolicy({ own: OWN, allow: NOTHING_ALLOWED });
    for (const [text, purpose, expected] of ROWS) {
      const judged = policy.judge(text, purpose);
      if (judged.ok) continue;
      expect(judged.reason).toMatch(/^[ -~§]{10,200}$/);
      if (text.length > 30) expect(judged.reason, expected).not.toContain(text);
    }
  });

  it('names the narrowest range, its kind and its source', () => {
    const policy = new OutboundPolicy({ own: OWN, allow: NOTHING_ALLOWED });
    expect(policy.judge('https://169.254.169.254/', 'retry')).toMatchObject({
      reason: 'the address is not public: 169.254.0.0/16 is link-local (RFC 3927)',
    });
    expect(policy.judge('https://[64:ff9b::10.0.0.1]/', 'retry')).toMatchObject({
      reason:
        'the address is not public: 64:ff9b::/96 is NAT64 (RFC 6052 §2.1), and in it 10.0.0.0/8 is private (RFC 1918)',
    });
  });

  it('gives the address as it is sent: without a fragment and the dot of a complete name', () => {
    const judged = new OutboundPolicy({ own: OWN, allow: NOTHING_ALLOWED }).judge('https://EXAMPLE.com./a#b', 'retry');
    expect(judged.ok && judged.target.url.href).toBe('https://example.com/a');
  });

  it.each([
    ['https://hooks.example.com/hooks/a', true],
    ['https://hooks.example.org/hooks/a', false],
  ])('knows the webhook addresses of this server: %s', (text, isOwnHook) => {
    const judged = new OutboundPolicy({ own: OWN, allow: NOTHING_ALLOWED }).judge(text, 'retry');
    expect(judged.ok && judged.target.isOwnHook).toBe(isOwnHook);
  });

  it.each<[string, string, Purpose, string]>([
    // Own webhook addresses may be http, on any port and below a path.
    ['http://127.0.0.1:8402', 'http://127.0.0.1:8402/hooks/a', 'retry', 'allowed'],
    ['http://127.0.0.1:8402', 'http://127.0.0.1:8402/v1/callbacks', 'retry', 'own-address'],
    ['http://127.0.0.1:8402', 'http://127.0.0.1:8403/hooks/a', 'resolve', 'port'],
    ['https://example.org/pay', 'https://example.org/pay/hooks/a', 'delivery', 'allowed'],
    ['https://example.org/pay', 'https://example.org/hooks/a', 'delivery', 'own-address'],
    // The dot of a complete name says nothing.
    ['https://example.org.', 'https://example.org/v1/callbacks', 'delivery', 'own-address'],
    ['https://example.org.', 'https://example.org./hooks/a', 'delivery', 'allowed'],
    ['https://example.org', 'https://example.org./hooks/a', 'delivery', 'allowed'],
  ])('with HOOK_BASE_URL=%s says to %s', (hookBaseUrl, text, purpose, expected) => {
    const own = { urls: [], hookBaseUrl, listening: { ranges: [], port: 8402 } };
    const judged = new OutboundPolicy({ own, allow: NOTHING_ALLOWED }).judge(text, purpose);
    expect(judged.ok ? 'allowed' : judged.rule).toBe(expected);
  });
});

describe('addresses that a name resolved to', () => {
  const target = (policy: OutboundPolicy, text: string) => {
    const judged = policy.judge(text, 'retry');
    if (!judged.ok) throw new Error(judged.reason);
    return judged.target;
  };
  it.each<[readonly string[], string]>([
    [['1.1.1.1', '2606:4700::1'], 'allowed'],
    [[], 'allowed'],
    [['1.1.1.1', '10.0.0.1'], '10.0.0.0/8'],
    [['1.1.1.1', '::1'], '::1/128'],
    [['::ffff:127.0.0.1'], '::ffff:0:0/96'],
    [['fe80::1%eth0'], 'form'],
    [['localhost'], 'form'],
    [['8.8.4.4'], 'allowed'],
  ])('%j are %s', (addresses, expected) => {
    const policy = new OutboundPolicy({ own: OWN, allow: NOTHING_ALLOWED });
    const judged = policy.judgeAddresses(target(policy, 'https://example.com/'), addresses);
    expect(judged.ok ? 'allowed' : judged.rule).toBe(expected);
  });

  it('are not where this server listens, on its port, also when TARGET_ALLOW lists them', () => {
    const policy = allowing('0.0.0.0/0:8080,example.com:8080');
    const judged = policy.judgeAddresses(target(policy, 'http://example.com:8080/'), ['8.8.4.4']);
    expect(judged).toMatchObject({ rule: 'own-address' });
    expect(policy.judgeAddresses(target(policy, 'http://example.com:8080/'), ['8.8.4.5']).ok).toBe(true);
  });

  it.each(['::ffff:8.8.4.4', '64:ff9b::8.8.4.4', '2002:808:404::1', '2001:0:808:404:8000:1:f7f7:f7f7'])(
    'are not where it listens, spelled as %s',
    (text) => {
      const policy = allowing('');
      const judged = policy.judgeAddresses(target(policy, 'https://example.com:8080/'), [text]);
      expect(judged).toMatchObject({ rule: 'own-address' });
      expect(policy.judge(`http://[${text}]:8080/`, 'resolve')).toMatchObject({ rule: 'own-address' });
    },
  );
});

describe('TARGET_ALLOW', () => {
  it.each<[string, string, readonly string[], string]>([
    // As written, over http, on any port, wherever the name leads.
    ['target.test:9000', 'http://target.test:9000/x', ['127.0.0.1'], 'allowed'],
    ['target.test:9000', 'http://TARGET.test.:9000/', ['10.0.0.1', '::1'], 'allowed'],
    ['target.test:9000', 'http://target.test:9001/', ['127.0.0.1'], 'https-only'],
    ['target.test:9000', 'http://x.target.test:9000/', ['127.0.0.1'], 'https-only'],
    ['localhost:9000', 'http://localhost:9000/', ['127.0.0.1'], 'allowed'],
    ['db.internal:443', 'https://db.internal/', ['10.0.0.1'], 'allowed'],
    ['target.test:80', 'http://target.test/', ['10.0.0.1'], 'allowed'],
    ['target.test:65535', 'http://target.test:65535/', ['10.0.0.1'], 'allowed'],
    ['127.0.0.1:9000', 'http://127.0.0.1:9000/', ['127.0.0.1'], 'allowed'],
    ['127.0.0.1:9000', 'http://2130706433:9000/', ['127.0.0.1'], 'allowed'],
    ['127.0.0.1:9000', 'http://localhost:9000/', ['127.0.0.1'], 'https-only'],
    ['127.0.0.1:9000', 'http://127.0.0.2:9000/', ['127.0.0.2'], 'https-only'],
    ['[::1]:9000', 'http://[0::1]:9000/', ['::1'], 'allowed'],
    // By the addresses.
    ['127.0.0.0/8:9000', 'http://127.1.2.3:9000/', ['127.1.2.3'], 'allowed'],
    ['127.0.0.0/8:80', 'http://127.1.2.3/', ['127.1.2.3'], 'allowed'],
    ['127.0.0.0/8:9000', 'http://[::ffff:127.1.2.3]:9000/', ['::ffff:127.1.2.3'], 'allowed'],
    ['127.0.0.0/8:9000', 'http://localhost:9000/', ['127.0.0.1'], 'allowed'],
    ['127.0.0.0/8:9000', 'http://name.test:9000/', ['127.0.0.1'], 'allowed'],
    ['127.0.0.0/8:9000', 'http://name.test:9000/', ['127.0.0.1', '10.0.0.1'], '10.0.0.0/8'],
    ['127.0.0.0/8:9000', 'http://name.test:9000/', ['1.1.1.1'], 'not-listed'],
    ['127.0.0.0/8:9000', 'http://name.test:9001/', ['127.0.0.1'], 'https-only'],
    ['127.0.0.0/8:9000', 'http://8.8.8.8:9000/', ['8.8.8.8'], 'https-only'],
    ['127.0.0.0/8:9000', 'http://127.1.2.3:9001/', ['127.1.2.3'], 'https-only'],
    ['10.0.0.0/8:443', 'https://name.test:8443/', ['10.0.0.1'], '10.0.0.0/8'],
    ['10.0.0.0/8:443', 'https://10.0.0.1:8443/', ['10.0.0.1'], '10.0.0.0/8'],
    ['10.0.0.0/8:443', 'https://name.test/', ['10.0.0.1', '1.1.1.1'], 'allowed'],
    ['10.0.0.0/8:443', 'https://name.test/', ['10.0.0.1', '192.168.0.1'], '192.168.0.0/16'],
    ['[::1]/128:8080', 'http://[::1]:8080/', ['::1'], 'allowed'],
    ['[FD00::]/8:8443', 'https://name.test:8443/', ['fd00::1'], 'allowed'],
    ['[fd00::]/8:8443', 'https://[fc00::1]:8443/', ['fc00::1'], 'fc00::/7'],
    // What holds for every target still holds.
    ['target.test:9000', 'http://user@target.test:9000/', ['127.0.0.1'], 'user-info'],
    ['target.test:9000', 'ftp://target.test:9000/', ['127.0.0.1'], 'scheme'],
    ['paygrade.example.com:443', 'https://paygrade.example.com/', ['1.1.1.1'], 'own-address'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/', ['127.0.0.1'], 'own-address'],
  ])('%s: %s at %j is %s', (allow, text, addresses, expected) => {
    const policy = allowing(allow);
    const judged = policy.judge(text, 'retry');
    if (judged.ok) expect(judged.target.isOwnHook).toBe(false);
    const second = judged.ok ? policy.judgeAddresses(judged.target, addresses) : judged;
    expect(second.ok ? 'allowed' : second.rule).toBe(expected);
  });

  it.each([
    'x',
    'x:',
    ':1',
    'x:0',
    'x:65536',
    'x:01',
    'x:1x',
    'x:1/y',
    '%:1',
    'http://x:1',
    'x/8:1',
    '10.0.0.1/8:1',
    '10.0.0.0/33:1',
    '10.0.0.0/8:65536',
    '::1:8080',
    '[::1]/129:1',
    '[x]:1',
    'a b:1',
    'u@x:1',
    '[10.0.0.0]/8:1',
    'x:1,y',
    'x:1,',
    ',',
    '10.0.0.0/8',
  ])('is refused where an entry is neither host:port nor cidr:port: %s', (text) => {
    expect(parseTargetAllow(text).ok).toBe(false);
  });

  it('takes blanks around entries, and nothing at all', () => {
    expect(parseTargetAllow(' a.test:1 , b.test:2')).toMatchObject({ ok: true });
    expect(parseTargetAllow('')).toEqual({ ok: true, allow: NOTHING_ALLOWED });
    expect(NOTHING_ALLOWED).toEqual({ hosts: new Set(), ranges: [] });
    expect(parseTargetAllow(' ')).toEqual({ ok: true, allow: NOTHING_ALLOWED });
  });
});
