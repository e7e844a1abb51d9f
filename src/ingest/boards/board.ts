/**
 * A board that the operator wants watched: a public list of jobs with an endpoint that a program may read. Pure.
 *
 * A token names the board within its shape; the catalogue stores the board's jobs under it (`shape:token` in `history`,
 * `companies` and data/companies.csv):
 *
 * greenhouse, lever, ashby, workable    the name in the board's address, lower case (Ashby: as written, decoded)
 * smartrecruiters                       the company's identifier, as written
 * recruitee, teamtailor                 the subdomain, or the host of a careers site of the company's own
 * workday                               `tenant/site`: a tenant may have several careers sites, each with its own list
 * jsonld                                the host of the page without `www.`; on a host of many companies host and path
 *
 * What a token lacks (the host of a Workday tenant, the region of a Lever account) is in the board's address.
 */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { BoardEntry } from '../shapes/board-manifest.ts';

export const BOARD_SHAPES = [
  'greenhouse',
  'lever',
  'ashby',
  'smartrecruiters',
  'workable',
  'recruitee',
  'teamtailor',
  'workday',
  'jsonld',
] as const;
export type BoardShape = (typeof BOARD_SHAPES)[number];

export interface Board {
  readonly shape: BoardShape;
  readonly token: string;
  /** The company's name; null: the postings' name holds. */
  readonly company: string | null;
  /** As it was found when the board was added, for people who look at the list: see {@link entryOf}. */
  readonly domain: CompanyDomain | null;
  /** Where people see the board: an http or https address without fragment. */
  readonly address: string;
}

/**
 * What a feed of the board is read with. The domain is not in it, because the feed does not state it: a build finds it again, with
 * its evidence (decisions §8).
 */
export const entryOf = ({ company, address }: Board): BoardEntry => ({ company, domain: null, url: address });

/** `shape:token`. */
export const nameOfBoard = ({ shape, token }: Pick<Board, 'shape' | 'token'>): string => `${shape}:${token}`;

export const isBoardShape = (text: string): text is BoardShape => (BOARD_SHAPES as readonly string[]).includes(text);

/** Characters of a token: several times the longest real one. */
export const TOKEN_LENGTH_MAX = 200;

/** `shape:token`; undefined for other text. */
export function parseBoardName(text: string): Pick<Board, 'shape' | 'token'> | undefined {
  const colon = text.indexOf(':');
  const shape = text.slice(0, colon);
  const token = text.slice(colon + 1);
  if (colon === -1 || !isBoardShape(shape) || token.startsWith('//')) return undefined;
  return /^[^\s:?#](?:[^\s:?#]| (?! ))*$/.test(token) && token.length <= TOKEN_LENGTH_MAX
    ? { shape, token }
    : undefined;
}

/** Where people see the board, from its token alone; null if the token does not determine the host (Workday). */
export function addressOfToken({ shape, token }: Pick<Board, 'shape' | 'token'>): string | null {
  const part = encodeURIComponent(token);
  switch (shape) {
    case 'greenhouse':
      return `https://job-boards.greenhouse.io/${part}`;
    case 'lever':
      return `https://jobs.lever.co/${part}`;
    case 'ashby':
      return `https://jobs.ashbyhq.com/${part}`;
    case 'smartrecruiters':
      return `https://careers.smartrecruiters.com/${part}`;
    case 'workable':
      return `https://apply.workable.com/${part}`;
    case 'recruitee':
      return `https://${token.includes('.') ? token : `${token}.recruitee.com`}`;
    case 'teamtailor':
      return `https://${token.includes('.') ? token : `${token}.teamtailor.com`}`;
    case 'jsonld':
      return `https://${token}`;
    case 'workday':
      return null;
    default:
      return shape satisfies never;
  }
}
