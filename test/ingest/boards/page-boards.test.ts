/** What a page alone tells about its board, and that a page made to be slow is not. */
import { describe, expect, it } from 'vitest';
import { nameOfBoard } from '../../../src/ingest/boards/board.ts';
import { boardOfPage, companyDomainOfPage } from '../../../src/ingest/boards/page-boards.ts';
import { PASTED, REFUSED } from './pasted-addresses.ts';

/** The page alone tells: nothing has to be followed or asked. */
const TELLING = PASTED.filter(
  ({ text, page }) => page !== undefined && !/^https:\/\/(?:foundry|quiet|hop)\./.test(text),
);
const SILENT = REFUSED.filter(({ page }) => page !== undefined);

/** Processor time of this thread, which other work on the machine hardly lengthens. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const at = (html: string, address = 'https://acme.com/careers') => boardOfPage(html, address);

describe('a page', () => {
  it.each(TELLING)('at $text names $board', ({ text, page, board }) => {
    const verdict = at(page!, text.startsWith('http') ? text : `https://${text}`);
    expect(verdict.kind === 'board' ? nameOfBoard(verdict.board) : verdict).toBe(board);
  });

  it.each(SILENT)('at $text names none: $because', ({ text, page, because }) => {
    expect(at(page!, text)).toMatchObject({ kind: 'none', reason: expect.stringMatching(because) });
  });

  it.each([
    [
      'an option of a script beside the name of its platform',
      '<script>var config = {"company_code": "Acme"}</script><p>Powered by SmartRecruiters',
      'smartrecruiters:Acme',
    ],
    ['an API that its script asks', '<script>fetch("https://api.lever.co/v0/postings/zeta")</script>', 'lever:zeta'],
    [
      'the one link that is called like its host',
      '<a href="https://jobs.lever.co/acme"></a><a href="https://jobs.lever.co/other"></a>',
      'lever:acme',
    ],
  ])('names a board by %s', (_, html, board) => {
    const verdict = at(html);
    expect(verdict.kind === 'board' ? nameOfBoard(verdict.board) : verdict).toBe(board);
  });

  it.each([
    '{"@type": {"toString": null}}',
    '{"@type": "ItemList", "numberOfItems": {"valueOf": null, "toString": null}}',
  ])('names none by JSON-LD that cannot be made a text or a number: %s', (json) => {
    expect(at(`<script type="application/ld+json">${json}</script>`).kind).toBe('none');
  });

  it('names the first two careers pages of its company, not those of others, and not itself', () => {
    const html = [
      '/careers#top',
      '/careers/',
      'https://other.example/jobs',
      'https://jobs.acme.com/',
      '/about',
      '/jobs',
    ]
      .map((href) => `<a href="${href}">x</a>`)
      .join('');
    expect(at(html, 'https://www.acme.com/careers')).toMatchObject({
      kind: 'none',
      careersPages: ['https://www.acme.com/careers/', 'https://jobs.acme.com/'],
    });
  });

  it.each([
    ['an option of another script', '<script>var config = {"company_code": "Acme"}</script>'],
    ['a board token without its platform', '<script>var config = {boardToken: "acme"}</script>'],
    ['a platform that is only named', '<p>We use Greenhouse, Lever and jobs.lever.co.</p>'],
    ['a host that only looks like a platform', '<a href="https://jobs.lever.co.evil.example/acme">jobs</a>'],
  ])('names no board by %s', (_, html) => {
    expect(at(html)).toMatchObject({ kind: 'none' });
  });

  it('prefers what it embeds to what it links to', () => {
    const html =
      '<a href="https://jobs.lever.co/acme">old</a><iframe src="https://boards.greenhouse.io/embed/job_board?for=acmenew">';
    expect(at(html)).toMatchObject({ kind: 'board', board: { shape: 'greenhouse', token: 'acmenew' } });
  });

  it('has the domain of its own host, and none on a job site or a domain bought for jobs', () => {
    expect(companyDomainOfPage('https://careers.eu.acme.co.uk/jobs')).toBe('acme.co.uk');
    for (const address of [
      'https://acme.notion.site/jobs',
      'https://acme.jobs',
      'https://www.linkedin.com/company/acme',
    ]) {
      expect([address, companyDomainOfPage(address)]).toEqual([address, null]);
    }
  });

  it.each([
    ['<a '],
    ['<a href='],
    ['//jobs.lever.co/a '],
    ['"company_code": "'],
    ['leverJobsOptions = {'],
    ['<meta content="Teamtailo'],
    ['//a.a.a.a.'],
    ['rtWidget '],
  ])('of half a megabyte of %j is read soon', (piece) => {
    const startMs = cpuMs();
    at(`greenhouse smartrecruiters lever ${piece.repeat(500_000 / piece.length)}`);
    expect(cpuMs() - startMs).toBeLessThan(2000);
  });
});
