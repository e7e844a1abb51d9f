import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DESCRIPTION_LENGTH_MAX } from '../../src/catalogue/job.ts';
import {
  ID_LENGTH_MAX,
  LOCATION_LENGTH_MAX,
  NAME_LENGTH_MAX,
  parseNative,
  SKILL_COUNT_MAX,
  SKILL_LENGTH_MAX,
  URL_LENGTH_MAX,
} from '../../src/ingest/native.ts';
import { loadSkillExtractor } from '../../src/ingest/skills/skills.ts';

const skills = loadSkillExtractor();

const LEAST = {
  id: 'a-1',
  title: 'Gardener',
  company: 'Acme',
  source_url: 'https://acme.example/1',
  first_observed_at: '2026-11-01',
  last_observed_at: '2026-11-20',
};

function jobOf(fields: Record<string, unknown>) {
  const parsed = parseNative({ ...LEAST, ...fields }, skills);
  if (!parsed.ok) throw new Error(`${parsed.field} ${parsed.reason}`);
  return parsed.job;
}

/** Of one line; only what `snapshot export` writes holds any. */
const ALIAS_COUNT_MAX = 1000;
const LAST_MS = Date.UTC(2026, 10, 20);

describe('a native record becomes a job', () => {
  it('takes the least that a record may have, and knows the rest to be absent', () => {
    expect(jobOf({})).toEqual({
      id: 'a-1',
      title: 'Gardener',
      company: 'Acme',
      companyDomain: null,
      location: null,
      department: null,
      remoteStatus: 'unknown',
      employmentType: 'unknown',
      sourceUrl: 'https://acme.example/1',
      skills: [],
      firstObservedMs: Date.UTC(2026, 10, 1),
      lastObservedMs: Date.UTC(2026, 10, 20),
      status: 'active',
      closedAtMs: null,
      description: null,
      descriptionTruncated: false,
    });
  });

  const LONG_ID = '\u{10000}'.repeat(ID_LENGTH_MAX);
  const ALIASES = Array.from({ length: ALIAS_COUNT_MAX }, (_, i) => `a${i}.example`);
  const SKILLS = Array.from({ length: SKILL_COUNT_MAX }, (_, i) => `s${i}`);
  const URL_EDGE = `https://a.example/${'u'.repeat(URL_LENGTH_MAX - 18)}`;
  const taken: readonly [because: string, fields: Record<string, unknown>, expected: Record<string, unknown>][] = [
    ['an id is kept as it stands', { id: ' a 1 ' }, { id: ' a 1 ' }],
    ['a blank id is opaque too', { id: ' ' }, { id: ' ' }],
    ['an id of the greatest length', { id: LONG_ID }, { id: LONG_ID }],
    ['a title is trimmed', { title: '\t Cook \n' }, { title: 'Cook' }],
    ['a title is not cleaned of HTML', { title: '<b>Cook</b>' }, { title: '<b>Cook</b>' }],
    ['a long title', { title: 'x'.repeat(NAME_LENGTH_MAX) }, { title: 'x'.repeat(NAME_LENGTH_MAX) }],
    ['blank optional text is absent', { location: ' \u00a0', department: '' }, { location: null, department: null }],
    ['null is absent', { company_domain: null, location: null, skills: null, status: null }, { companyDomain: null }],
    ['null for what no job need have', { company_aliases: null, description_truncated: null }, {}],
    ['a domain is lower-cased', { company_domain: 'ACME.Example' }, { companyDomain: 'acme.example' }],
    ['other domains of the company', { company_aliases: ALIASES }, { companyAliases: ALIASES }],
    ['another domain is lower-cased', { company_aliases: ['ACME.jobs'] }, { companyAliases: ['acme.jobs'] }],
    [
      'a domain may come from elsewhere than the source',
      { company_domain: 'acme.example', company_domain_evidence: 'links' },
      { companyDomainEvidence: 'links' },
    ],
    ['where no domain is from counts for nothing', { company_domain_evidence: 'x' }, { companyDomain: null }],
    ['null lists are unknown', { remote_status: null, employment_type: null }, { remoteStatus: 'unknown' }],
    [
      'listed values',
      { remote_status: 'on_site', employment_type: 'internship' },
      { remoteStatus: 'on_site', employmentType: 'internship' },
    ],
    ['unknown can be said', { remote_status: 'unknown' }, { remoteStatus: 'unknown' }],
    ['a closed job closed when it was last observed', { status: 'closed' }, { status: 'closed', closedAtMs: LAST_MS }],
    ['a closing is stated', { status: 'closed', closed_at: '2026-11-25' }, { closedAtMs: Date.UTC(2026, 10, 25) }],
    [
      'a closing at the last observation',
      { status: 'closed', closed_at: '2026-11-20T00:00:00Z' },
      { closedAtMs: LAST_MS },
    ],
    ['an active job may say that it has not closed', { closed_at: null }, { closedAtMs: null }],
    ['a description without markup is text', { description: ' a\r\n- b\rc ' }, { description: 'a\n- b\nc' }],
    ['a description with markup is HTML', { description: '<p>a</p><ul><li>b' }, { description: 'a\n\n- b' }],
    [
      'a description of HTML is HTML without a tag',
      { description: 'a\nb &amp; c', description_format: 'html' },
      { description: 'a b & c' },
    ],
    [
      'a tag that stands in a text stays',
      { description: 'the <b> tag &amp; so on', description_format: 'text' },
      { description: 'the <b> tag &amp; so on' },
    ],
    [
      'a description without text is none',
      { description: '<p> </p>' },
      { description: null, descriptionTruncated: false },
    ],
    ['a description of HTML has no half of a pair', { description: '<p>&#xd800;</p>' }, { description: '\ufffd' }],
    [
      'a description of the greatest length',
      { description: '𝄞'.repeat(DESCRIPTION_LENGTH_MAX) },
      { description: '𝄞'.repeat(DESCRIPTION_LENGTH_MAX), descriptionTruncated: false },
    ],
    [
      'a longer description is cut between code points',
      { description: `x${'𝄞'.repeat(DESCRIPTION_LENGTH_MAX)}` },
      { description: `x${'𝄞'.repeat(DESCRIPTION_LENGTH_MAX - 1)}`, descriptionTruncated: true },
    ],
    [
      'blanks before the cut go',
      { description: `${'x'.repeat(DESCRIPTION_LENGTH_MAX - 1)}  y` },
      { description: 'x'.repeat(DESCRIPTION_LENGTH_MAX - 1), descriptionTruncated: true },
    ],
    [
      'a description was cut before',
      { description: 'x', description_truncated: true },
      { description: 'x', descriptionTruncated: true },
    ],
    [
      'skills are taken from the whole description',
      { description: `${'x '.repeat(DESCRIPTION_LENGTH_MAX)}PostgreSQL` },
      { skills: ['PostgreSQL'] },
    ],
    [
      'skills are taken from a text as it stands',
      { description: '<script>Python</script>', description_format: 'text' },
      { skills: ['Python'] },
    ],
    [
      'a URL is kept as given',
      { source_url: 'HTTP://Acme.example:80/a/../b?q=%7e#x' },
      { sourceUrl: 'HTTP://Acme.example:80/a/../b?q=%7e#x' },
    ],
    [
      'a URL with a host in Punycode',
      { source_url: 'https://xn--bcher-kva.example/a--b' },
      { sourceUrl: 'https://xn--bcher-kva.example/a--b' },
    ],
    [
      'a URL that is no URI with what a URI has only percent-encoded',
      { source_url: 'https://münchen.example:8443/ä|{1}/50%/%7e?a[]="€\u212a"#b#c' },
      {
        sourceUrl:
          'https://xn--mnchen-3ya.example:8443/%C3%A4%7C%7B1%7D/50%25/%7e?a%5B%5D=%22%E2%82%AC%E2%84%AA%22#b%23c',
      },
    ],
    [
      'a URL with blanks and control characters as the URL Standard reads them',
      { source_url: ' \u0001https://acme.example/a b\t/\n\u007f\u00a0?q= c#d e \r\n' },
      { sourceUrl: 'https://acme.example/a%20b/%7F%C2%A0?q=%20c#d%20e' },
    ],
    [
      'a URL with a blank before its host',
      { source_url: 'https://a b@acme.example/' },
      { sourceUrl: 'https://a%20b@acme.example/' },
    ],
    ['a URL with an IPv6 host', { source_url: 'https://[2001:db8::1]/a' }, { sourceUrl: 'https://[2001:db8::1]/a' }],
    ['a long URL', { source_url: URL_EDGE }, { sourceUrl: URL_EDGE }],
    [
      'given skills stand as given, repeats once',
      { skills: ['Go', 'go', ' Go', 'Go'], description: 'Python' },
      { skills: ['Go', 'go', ' Go'] },
    ],
    ['many skills', { skills: SKILLS }, { skills: SKILLS }],
    ['no skills can be given', { skills: [], description: 'Python and PostgreSQL' }, { skills: [] }],
    [
      'without skills they are extracted',
      { title: 'Python Developer', description: '<p>PostgreSQL</p>' },
      { skills: ['Python', 'PostgreSQL'] },
    ],
    [
      'one moment is a period',
      { first_observed_at: '2026-11-20T00:00:00Z' },
      { firstObservedMs: Date.UTC(2026, 10, 20) },
    ],
    ['unknown fields are ignored', { salary: '\ud800', snapshot: 7 }, { id: 'a-1' }],
  ];
  it.each(taken)('%s', (_because, fields, expected) => {
    expect(jobOf(fields)).toMatchObject(expected);
  });

  const refused: readonly [field: string, value: unknown, reason: string][] = [
    ['id', undefined, 'is missing'],
    ['id', null, 'is missing'],
    ['id', '', 'is empty'],
    ['id', 7, 'must be a string'],
    ['id', 'x'.repeat(ID_LENGTH_MAX + 1), 'is longer than 200 characters'],
    ['id', '𝄞'.repeat(ID_LENGTH_MAX + 1), 'is longer than 200 characters'],
    ['id', '\uffff'.repeat(ID_LENGTH_MAX + 1), 'is longer than 200 characters'],
    ['id', 'a\ud800', 'holds a lone surrogate, which is not Unicode text'],
    ['id', 'a\0b', 'holds U+0000, which no query parameter may hold'],
    ['title', undefined, 'is missing'],
    ['title', ' \u3000', 'is blank'],
    ['title', ['Cook'], 'must be a string'],
    ['title', 'x'.repeat(NAME_LENGTH_MAX + 1), 'is longer than 1000 characters'],
    ['title', '\udc00', 'holds a lone surrogate, which is not Unicode text'],
    ['company', '', 'is blank'],
    ['company', null, 'is missing'],
    ['company_domain', '', 'must be a domain name such as example.com'],
    ['company_domain', 'localhost', 'must be a domain name such as example.com'],
    ['company_domain', 'https://acme.example', 'must be a domain name such as example.com'],
    ['company_domain', '10.0.0.1', 'must be a domain name such as example.com'],
    ['company_domain', 'acme.example.', 'must be a domain name such as example.com'],
    ['company_domain', 5, 'must be a domain name such as example.com'],
    ['company_aliases', 'acme.jobs', 'must be an array of domain names such as example.com'],
    ['company_aliases', ['acme.jobs', 'localhost'], 'must be an array of domain names such as example.com'],
    ['company_aliases', [['acme.jobs']], 'must be an array of domain names such as example.com'],
    ['location', 5, 'must be a string'],
    ['location', 'x'.repeat(LOCATION_LENGTH_MAX + 1), 'is longer than 4000 characters'],
    ['department', {}, 'must be a string'],
    ['remote_status', 'Remote', 'must be one of remote, hybrid, on_site, unknown'],
    ['remote_status', true, 'must be one of remote, hybrid, on_site, unknown'],
    ['remote_status', '', 'must be one of remote, hybrid, on_site, unknown'],
    ['employment_type', 'permanent', 'must be one of full_time, part_time, contract, temporary, internship, unknown'],
    ['source_url', undefined, 'is missing'],
    ['source_url', null, 'is missing'],
    ['source_url', ['https://acme.example/1'], 'must be a string'],
    ['source_url', 'https://acme.example/\udfff', 'holds a lone surrogate, which is not Unicode text'],
    ['source_url', 'javascript:alert(1)', 'must be an absolute http or https URL'],
    ['source_url', '/jobs/1', 'must be an absolute http or https URL'],
    ['source_url', '//acme.example/1', 'must be an absolute http or https URL'],
    ['source_url', 'https:acme.example', 'must be an absolute http or https URL'],
    ['source_url', 'https://', 'has a host or port that is not valid'],
    ['source_url', 'https://xn--a.example/1', 'has a host or port that is not valid'],
    ['source_url', 'https://%78n--a.example/1', 'has a host or port that is not valid'],
    ['source_url', 'https://ac me.example/1', 'has a host or port that is not valid'],
    ['source_url', 'https://acme.example:99999/', 'has a host or port that is not valid'],
    ['source_url', ' ', 'must be an absolute http or https URL'],
    ['source_url', 'https://acme.example\\@evil.example', 'holds a backslash'],
    ['source_url', `https://a.example/${'u'.repeat(URL_LENGTH_MAX - 17)}`, 'is longer than 8000 characters'],
    ['source_url', `https://a.example/${'ä'.repeat(1400)}`, 'is longer than 8000 characters as a URI'],
    ['description', 5, 'must be a string'],
    ['description', '\ud800', 'holds a lone surrogate, which is not Unicode text'],
    ['description_format', 'markdown', 'must be one of html, text'],
    ['description_format', true, 'must be one of html, text'],
    ['description_truncated', 'yes', 'must be true or false'],
    ['description_truncated', true, 'is true without a description'],
    ['closed_at', '2026-11-25', 'goes only with the status closed'],
    ['closed_at', 'soon', 'must be an RFC 3339 date-time or a date'],
    ['skills', 'Go', 'must be an array of strings'],
    ['skills', ['Go', 5], 'must be an array of strings'],
    ['skills', ['Go', ' '], 'holds a blank entry'],
    ['skills', ['x'.repeat(SKILL_LENGTH_MAX + 1)], 'holds an entry longer than 100 characters'],
    ['skills', ['\ud800'], 'holds a lone surrogate, which is not Unicode text'],
    ['skills', Array.from({ length: SKILL_COUNT_MAX + 1 }, (_, i) => `s${i}`), 'has more than 200 entries'],
    ['first_observed_at', undefined, 'is missing'],
    ['first_observed_at', null, 'is missing'],
    ['first_observed_at', ['2026-11-01'], 'must be an RFC 3339 date-time or a date'],
    ['first_observed_at', 1_763_596_800, 'must be an RFC 3339 date-time or a date'],
    ['first_observed_at', '2026-11-31', 'must be an RFC 3339 date-time or a date'],
    ['last_observed_at', '', 'must be an RFC 3339 date-time or a date'],
    ['last_observed_at', '2026-10-31T23:59:59.999Z', 'is earlier than first_observed_at'],
    ['status', 'open', 'must be one of active, closed'],
    ['status', false, 'must be one of active, closed'],
  ];
  it.each(refused)('%s %j is refused: %s', (field, value, reason) => {
    expect(parseNative({ ...LEAST, [field]: value }, skills)).toEqual({ ok: false, field, reason });
  });

  it('reads addresses of blanks in time that grows with their length', () => {
    const record = { ...LEAST, source_url: `https://acme.example/${' '.repeat(URL_LENGTH_MAX - 100)}x` };
    const before = process.threadCpuUsage();
    for (let count = 0; count < 100; count++) expect(parseNative(record, skills)).toMatchObject({ ok: false });
    // Reading each blank up to the end of its run took 2 seconds.
    expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(500);
  });

  it('names where a domain is from only if it was assigned', () => {
    const stated = jobOf({ company_domain: 'acme.example', company_domain_evidence: 'source' });
    expect(Object.keys(stated)).toEqual(Object.keys(jobOf({})));
    const record = { ...LEAST, company_domain: 'acme.example', company_domain_evidence: 'x' };
    const reason = 'must be one of manifest, directory, source, site, links, namesake';
    expect(parseNative(record, skills)).toEqual({ ok: false, field: 'company_domain_evidence', reason });
  });

  it('refuses more other domains than a company has', () => {
    const record = { ...LEAST, company_aliases: Array(ALIAS_COUNT_MAX + 1).fill('acme.jobs') };
    const reason = 'has more than 1000 entries';
    expect(parseNative(record, skills)).toEqual({ ok: false, field: 'company_aliases', reason });
  });

  it('refuses a closing before the last observation', () => {
    const record = { ...LEAST, status: 'closed', closed_at: '2026-11-19T23:59:59.999Z' };
    const reason = 'is earlier than last_observed_at';
    expect(parseNative(record, skills)).toEqual({ ok: false, field: 'closed_at', reason });
  });

  it.each([[null], [7], ['{}'], [true], [[LEAST]], [undefined]])('%j is no record', (value) => {
    expect(parseNative(value, skills)).toEqual({ ok: false, field: '', reason: 'must be a JSON object' });
  });

  it('takes every line of the sample, which shows every field', () => {
    const lines = readFileSync(new URL('../../data/sample.jsonl', import.meta.url), 'utf8')
      .trimEnd()
      .split('\n');
    const fields = new Set<string>();
    for (const line of lines) {
      const record: unknown = JSON.parse(line);
      expect(parseNative(record, skills).ok, line).toBe(true);
      for (const field of Object.keys(record as object)) fields.add(field);
    }
    expect(lines.length).toBe(25);
    expect(fields.size).toBe(17);
  });
});
