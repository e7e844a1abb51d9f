import { describe, expect, it } from 'vitest';
import { companyDomainOfUrl } from '../../../src/ingest/shapes/job-sites.ts';

describe('hosts that belong to no single company', () => {
  it.each([
    ...['https://grnh.se/1', 'https://lnkd.in/x', 'https://acme.github.io/jobs', 'https://acme.wixsite.com/site'],
    ...['https://acme.homerun.co', 'https://acme.welcomekit.co', 'https://acme.softgarden.io', 'https://join.com/a'],
    ...['https://careers.jobscore.com/c/a', 'https://jobs.polymer.co/a', 'https://recruiting.ultipro.ukg.com/a'],
    ...['https://secure6.saashr.com/a', 'https://acme.isolvedhire.com/jobs', 'https://www.dice.com/job/1'],
    ...['https://himalayas.app/companies/a', 'https://weworkremotely.com/remote-jobs/a'],
  ])('%s names no company', (address) => {
    expect(companyDomainOfUrl(address)).toBeNull();
  });

  it.each([
    ['https://www.notjoin.com/', 'notjoin.com'],
    ['https://my-dice.com/', 'my-dice.com'],
    ['https://join.company/', 'join.company'],
  ])('%s is a company of its own', (address, domain) => {
    expect(companyDomainOfUrl(address)).toBe(domain);
  });
});
