/** The CSV file in which operators list boards: its columns, its lines that are none, and what is refused by line and field. */
import { describe, expect, it } from 'vitest';
import { parseBoardFile } from '../../../src/ingest/boards/board-file.ts';
import { NAME_LENGTH_MAX } from '../../../src/ingest/native.ts';

const board = (address: string, company: string | null = null, domain: string | null = null) => ({
  address,
  company,
  domain,
});
const LONGEST = 'x'.repeat(NAME_LENGTH_MAX);

describe('a file of boards', () => {
  it.each([
    ['has a header only', 'address,company\n', []],
    [
      'is a list of addresses',
      'lever:a\n\n https://b.example/jobs \n',
      [board('lever:a'), board('https://b.example/jobs')],
    ],
    ['begins with a byte order mark and has CRLF', '\uFEFFaddress\r\nlever:a\r\n', [board('lever:a')]],
    [
      'names its columns in any case and order',
      'Domain, Company ,URL\na.com,Acme,lever:a\n',
      [board('lever:a', 'Acme', 'a.com')],
    ],
    ['has further columns', 'note,board\n7,lever:a\n', [board('lever:a')]],
    ['has lines that are shorter than its header', 'address,company,domain\nlever:a\n', [board('lever:a')]],
    ['has comments and lines of blanks', 'address,company\n# lever:b,B\n , \nlever:a,A\n', [board('lever:a', 'A')]],
    [
      'has a board twice, of which the first line holds',
      'address,company\nlever:a,A\nlever:a,B\n',
      [board('lever:a', 'A')],
    ],
    ['has the longest name of a company', `address,company\nlever:a,${LONGEST}\n`, [board('lever:a', LONGEST)]],
  ])('that %s is read', (_, text, boards) => {
    expect(parseBoardFile(text)).toEqual({ boards, refused: [] });
  });

  it.each([
    ['', 1, 'address'],
    ['\uFEFF\n \n', 1, 'address'],
    ['company,domain\nAcme,a.com\n', 1, 'the header'],
    ['address;company\nlever:a;A\n', 1, 'the header'],
    ['address,company\nlever:a,A\n,B\n', 3, 'address'],
    ['address,domain\nlever:a,nonsense\n', 2, 'domain'],
    [`address,company\n\nlever:a,${LONGEST}x\n`, 3, 'company'],
    ['address,company\nlever:a,"A\nlever:b,B\n', 2, 'the record'],
    ['"lever:a\nlever:b\n', 1, 'the record'],
  ])('in which %j stands is refused by line %d and %s', (text, line, field) => {
    expect(parseBoardFile(text).refused).toEqual([{ line, field, reason: expect.stringMatching(/./) }]);
  });
});
