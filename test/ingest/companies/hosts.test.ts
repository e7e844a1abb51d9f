import { describe, expect, it } from 'vitest';
import {
  companyHostOf,
  isCareersHost,
  isNamed,
  isRelated,
  registrableOf,
  squeezed,
} from '../../../src/ingest/companies/hosts.ts';
import { linkedDomains } from '../../../src/ingest/companies/links.ts';

describe('the registrable domain of a host', () => {
  it.each([
    ['acme.com', 'acme.com', 'acme'],
    ['careers.eu.acme.co.uk', 'acme.co.uk', 'acme'],
    ['jobs.acme.com.br', 'acme.com.br', 'acme'],
    ['a-b.example.io', 'example.io', 'example'],
  ])('of %s is %s', (host, domain, name) => {
    expect(registrableOf(host)).toEqual({ domain, name });
  });

  it.each(['co.uk', 'com', 'localhost', '192.0.2.1', 'acme.invalid', ''])('%s has none', (host) => {
    expect(registrableOf(host)).toBeNull();
  });
});

describe('the host of an address', () => {
  it.each([
    ['https://www.Acme.com/jobs/1', 'acme.com'],
    ['http://careers.acme.com:8080/x', 'careers.acme.com'],
  ])('of %s is %s', (address, host) => {
    expect(companyHostOf(address)).toBe(host);
  });

  it.each([
    ['https://boards.greenhouse.io/acme/jobs/1', 'an applicant tracking'],
    ['https://jobs.lever.co/acme/1', 'an applicant tracking'],
    ['https://acme.wd5.myworkdayjobs.com/x', 'an applicant tracking'],
    ['https://www.linkedin.com/jobs/view/1', 'a job site'],
    ['ftp://acme.com/', 'no web address'],
    ['mailto:jobs@acme.com', 'no web address'],
    ['https://192.0.2.7/', 'an IP address'],
    ['acme.com', 'no address'],
  ])('of %s is none, because it is %s', (address) => {
    expect(companyHostOf(address)).toBeNull();
  });
});

describe('hosts of job pages', () => {
  it.each([
    'careers.acme.com',
    'jobs.acme.co.uk',
    'acme.jobs',
    'acme.careers',
    'careers.acme',
    'acmecareers.com',
    'apply.acme.com',
  ])('%s is one', (host) => {
    expect(isCareersHost(host)).toBe(true);
  });
  it.each(['acme.com', 'www2.acme.com', 'about.acme.com', 'worksmart.com', 'jobless.acme.com'])(
    '%s is none',
    (host) => {
      expect(isCareersHost(host)).toBe(false);
    },
  );
});

describe('a domain and a name', () => {
  const acme = (host: string) => registrableOf(host)!;

  it.each([
    ['acme.com', ['acme'], true],
    ['acme-corp.com', ['acmecorp'], true],
    ['booking.com', ['bookingcom'], true],
    ['acme.com', ['acmecorp'], false],
    ['hioscar.com', ['oscar'], false],
  ])('%s is called like %j: %s', (host, names, expected) => {
    expect(isNamed(acme(host), new Set(names))).toBe(expected);
  });

  it.each([
    ['hioscar.com', ['oscar'], true],
    ['toasttab.com', ['toast'], true],
    ['acme.com', ['acmeusainc'], true],
    ['ab.com', ['abacus'], false],
    ['navan.com', ['tripactions'], false],
  ])('%s relates to %j: %s', (host, names, expected) => {
    expect(isRelated(acme(host), new Set(names))).toBe(expected);
  });

  it.each([
    ["Sotheby's", 'sothebys'],
    ['Pure Storage', 'purestorage'],
    ['AT&T', 'att'],
    ['!!!', ''],
  ])('%s is squeezed to %j', (name, expected) => {
    expect(squeezed(name)).toBe(expected);
  });
});

describe('hosts in a description', () => {
  const names = new Set(['acme', 'acmeinc']);

  it.each([
    ['<a href="https://www.acme.com/about">us</a>', ['acme.com']],
    ['Visit acme.io or write to jobs@acme.io.', ['acme.io']],
    ['See https://blog.acme.com and ACME.COM', ['acme.com']],
    ['acme.com, acme.de', ['acme.com', 'acme.de']],
  ])('%j names %j', (text, expected) => {
    expect(linkedDomains(text, names)).toEqual(expected);
  });

  it.each([
    ['notacme.com', 'another name'],
    ['acme.invalid', 'no public suffix'],
    ['acme.greenhouse.io', 'an applicant tracking'],
    ['We are Acme.You will cook. Acme.In short', 'the end of a sentence'],
    ['acme', 'no host'],
    ['facebook.com/acme.html', 'a path of another host'],
    ['', 'nothing'],
  ])('%j names none, because it has %s', (text) => {
    expect(linkedDomains(text, names)).toEqual([]);
  });

  it('reads a hostile description in linear time', () => {
    const startMs = performance.now();
    for (const text of [
      'a'.repeat(200_000),
      'a.'.repeat(100_000),
      'a-'.repeat(100_000),
      `${'a.'.repeat(7)}com `.repeat(10_000),
    ]) {
      linkedDomains(text, names);
    }
    expect(performance.now() - startMs).toBeLessThan(2000);
  });
});
