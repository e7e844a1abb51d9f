/** What an address alone tells about its board, without a look at the page behind it. */
import { describe, expect, it } from 'vitest';
import { boardOfAddress } from '../../../src/ingest/boards/address-rules.ts';
import { addressOfToken, nameOfBoard, parseBoardName, TOKEN_LENGTH_MAX } from '../../../src/ingest/boards/board.ts';
import { PASTED } from './pasted-addresses.ts';

/** Nothing about the page behind it says more than the address. */
const TELLING = PASTED.filter(({ text, page, to }) => page === undefined && to === undefined && !text.includes(' ('));

const boardNameOf = (text: string): string => {
  const verdict = boardOfAddress(text);
  return verdict.kind === 'board' ? nameOfBoard(verdict) : verdict.kind;
};

describe('an address', () => {
  it.each(TELLING)('$text tells that it is of $board', ({ text, board }) => {
    expect(boardNameOf(text)).toBe(board);
  });

  it('is shown with the board where people see it, which is of the same board again', () => {
    for (const { text } of TELLING) {
      const verdict = boardOfAddress(text);
      if (verdict.kind !== 'board') throw new Error(text);
      expect([text, boardNameOf(verdict.address)]).toEqual([text, nameOfBoard(verdict)]);
    }
  });

  it.each([
    ['https://api.ashbyhq.com/posting-api/job-board/Acme', 'ashby:Acme'],
    ['https://api.lever.co/v0/postings/acme?mode=json', 'lever:acme'],
    ['https://www.workable.com/api/accounts/acme', 'workable:acme'],
    ['https://notworkable.com/api/accounts/acme', 'page'],
    ['https://jobs.lever.co.example.com/acme', 'page'],
    ['https://acme.recruitee.com.example.com/', 'page'],
    ['https://apply.workable.com/j/0123456789', 'page'],
    ['greenhouse:ACME', 'greenhouse:acme'],
    ['ashby:Acme', 'ashby:Acme'],
    ['smartrecruiters:Acme', 'smartrecruiters:Acme'],
    ['workday:acme/Careers', 'refused'],
    ['https://boards.greenhouse.io/embed/job_board?for=%20', 'refused'],
    ['https://api.lever.co/acme', 'refused'],
    ['https://apply.workable.com/api/v9/accounts/acme', 'refused'],
    ['https://jobs.ashbyhq.com/01234567-89ab-cdef-0123-456789abcdef', 'refused'],
    ['https://support.recruitee.com/', 'refused'],
    ['https://www.teamtailor.com/', 'refused'],
    ['https://linkedin.com/company/acme', 'refused'],
    ['https://notlinkedin.com/company/acme', 'page'],
  ])('%s is %s', (text, expected) => {
    expect(boardNameOf(text)).toBe(expected);
  });
});

describe('a token', () => {
  it.each([
    ['greenhouse', 'a b', 'https://job-boards.greenhouse.io/a%20b'],
    ['lever', 'acme', 'https://jobs.lever.co/acme'],
    ['ashby', 'Acme', 'https://jobs.ashbyhq.com/Acme'],
    ['smartrecruiters', 'Acme', 'https://careers.smartrecruiters.com/Acme'],
    ['workable', 'acme', 'https://apply.workable.com/acme'],
    ['recruitee', 'acme', 'https://acme.recruitee.com'],
    ['recruitee', 'jobs.acme.com', 'https://jobs.acme.com'],
    ['teamtailor', 'acme', 'https://acme.teamtailor.com'],
    ['teamtailor', 'jobs.acme.com', 'https://jobs.acme.com'],
    ['jsonld', 'acme.com/jobs', 'https://acme.com/jobs'],
    ['workday', 'acme/Careers', null],
  ] as const)('of %s, %s, is seen at %s', (shape, token, address) => {
    expect(addressOfToken({ shape, token })).toBe(address);
  });

  it.each([
    [`lever:${'x'.repeat(TOKEN_LENGTH_MAX)}`, true],
    [`lever:${'x'.repeat(TOKEN_LENGTH_MAX + 1)}`, false],
    ['smartrecruiters:Acme Works', true],
    ['smartrecruiters:Acme  Works', false],
    ['smartrecruiters: Acme', false],
    ['lever:', false],
    ['lever', false],
    ['levers', false],
    ['leve:acme', false],
    ['lever://acme', false],
    ['lever:a:b', false],
    ['lever:a?b', false],
    ['lever:a#b', false],
  ])('in %s is one: %j', (text, isOne) => {
    expect(parseBoardName(text) !== undefined).toBe(isOne);
  });
});
