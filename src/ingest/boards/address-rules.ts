/**
 * Which board an address belongs to, from the address alone: any address of the site that shows the board, of its API, or of
 * the platform's page for embedding it. Pure. Where the address is not enough, the page behind it may be (page-boards.ts).
 */
import { decodePercent } from '../../base/codec.ts';
import { isJobSite } from '../shapes/job-sites.ts';
import { addressOfToken, type Board, type BoardShape, parseBoardName, TOKEN_LENGTH_MAX } from './board.ts';

/** A board as an address names it. */
export type NamedBoard = Pick<Board, 'shape' | 'token' | 'address'>;

export type AddressVerdict =
  | ({ readonly kind: 'board' } & NamedBoard)
  /** The page behind the address must be looked at; `address` is normalized, with its query. */
  | { readonly kind: 'page'; readonly address: string }
  /** `reason` is a sentence for the person who gave the address. */
  | { readonly kind: 'refused'; readonly reason: string };

const ADDRESS_LENGTH_MAX = 2000;

/** An address in parts: the host in lower case; the path decoded, without empty parts and a leading language. */
interface Parts {
  readonly url: URL;
  readonly host: string;
  readonly path: readonly string[];
}

type RuleAnswer = { readonly token: string; readonly address?: string } | { readonly refused: string } | 'page';

/** Judges addresses on its hosts; undefined: a path that shows no board. */
interface Rule {
  readonly shape: BoardShape;
  readonly host: RegExp;
  answer(parts: Parts, host: RegExpExecArray): RuleAnswer | undefined;
}

/** `en`, `en-US`, `fr_CA`, `zh-Hans` as platforms write a language. */
const LANGUAGE = /^[a-z]{2}(?:[-_](?:[a-z]{2}|[a-z]{4}))?$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const lower = (text: string | null | undefined): string | undefined => text?.trim().toLowerCase() || undefined;
const after = (path: readonly string[], ...words: readonly string[]): string | undefined =>
  words.every((word, place) => path[place]?.toLowerCase() === word) ? path[words.length] : undefined;

function greenhouse(token: string | undefined, isEurope: boolean): RuleAnswer | undefined {
  if (token === undefined) return undefined;
  return { token, address: `https://job-boards.${isEurope ? 'eu.' : ''}greenhouse.io/${encodeURIComponent(token)}` };
}

function workday(host: string, tenant: string | undefined, site: string | undefined): RuleAnswer {
  if (!tenant || !site || /^(?:job|jobs|wday|login|introduceyourself)$/i.test(site)) {
    return {
      refused:
        'the address names the Workday tenant, but none of its careers sites: add the address of the list of jobs',
    };
  }
  // The public address of a site on myworkdaysite.com begins with its tenant.
  const path = host.endsWith('myworkdaysite.com') ? `recruiting/${tenant}/${site}` : site;
  return { token: `${tenant}/${site}`, address: `https://${host}/${path}` };
}

/** Subdomains that belong to the platforms themselves. */
const OWN_NAMES =
  /^(?:www|app|api|docs|help|support|status|blog|developers?|jobs|login|get|go|info|integrations|resources|hire|about)$/;

const RULES: readonly Rule[] = [
  {
    shape: 'greenhouse',
    host: /^(?:(?:job-)?boards|app|boards-api|api|my)(\.eu)?\.greenhouse\.io$/,
    answer({ url, path, host }, match) {
      const isEurope = match[1] !== undefined;
      if (host.startsWith('boards-api') || host.startsWith('api')) {
        return greenhouse(lower(after(path, 'v1', 'boards')), isEurope);
      }
      const asked = lower(url.searchParams.get('for') ?? url.searchParams.get('board'));
      if (path[0] === 'embed') {
        return (
          greenhouse(asked, isEurope) ?? {
            refused: 'the address of an embedded posting does not name its board: `for` is missing',
          }
        );
      }
      if (host.startsWith('app') || host.startsWith('my')) return greenhouse(asked, isEurope);
      return greenhouse(lower(path[0]) ?? asked, isEurope);
    },
  },
  {
    shape: 'lever',
    host: /^(jobs|api)(\.eu)?\.lever\.co$/,
    answer({ path }, [, kind, region = '']) {
      const token = lower(kind === 'api' ? after(path, 'v0', 'postings') : path[0]);
      if (token === undefined) return undefined;
      return { token, address: `https://jobs${region}.lever.co/${encodeURIComponent(token)}` };
    },
  },
  {
    shape: 'ashby',
    host: /^(jobs|api)\.ashbyhq\.com$/,
    answer({ path }, [, kind]) {
      const token = kind === 'api' ? after(path, 'posting-api', 'job-board') : path[0];
      return token === undefined || UUID.test(token) ? undefined : { token: token.trim() };
    },
  },
  {
    shape: 'smartrecruiters',
    host: /^(jobs|careers|api|www)\.smartrecruiters\.com$/,
    answer({ url, path }, [, kind]) {
      const asked = url.searchParams.get('company') ?? undefined;
      if (kind === 'api') return tokenAnswer(after(path, 'v1', 'companies'));
      if (kind === 'www' && (path.length < 2 || !/^\d/.test(path[1]!))) return undefined;
      if (path[0] === 'oneclick-ui' || path[0] === 'my-applications') {
        return tokenAnswer(after(path, path[0], 'company') ?? asked);
      }
      return path[0] === 'sr-jobs' ? tokenAnswer(asked) : tokenAnswer(path[0] ?? asked);
    },
  },
  {
    shape: 'workable',
    host: /^apply\.workable\.com$/,
    answer({ path }) {
      const account =
        after(path, 'api', 'v1', 'widget', 'accounts') ??
        after(path, 'api', 'v3', 'accounts') ??
        after(path, 'api', 'v2', 'accounts');
      if (account !== undefined || path[0] === 'api') return tokenAnswer(lower(account));
      // apply.workable.com/j/<shortcode> leads to the address with the account.
      return path[0] === 'j' ? 'page' : tokenAnswer(lower(path[0]));
    },
  },
  {
    shape: 'workable',
    host: /^(?:www\.)?workable\.com$/,
    answer: ({ path }) => tokenAnswer(lower(after(path, 'api', 'accounts'))),
  },
  {
    shape: 'workable',
    host: /^jobs\.workable\.com$/,
    answer: () => ({
      refused: 'jobs.workable.com searches many companies: add the company’s own page, apply.workable.com/<account>',
    }),
  },
  {
    shape: 'workable',
    host: /^([a-z0-9-]+)\.workable\.com$/,
    answer: (_, [, account = '']) => (OWN_NAMES.test(account) ? undefined : { token: account }),
  },
  {
    shape: 'recruitee',
    host: /^([a-z0-9-]+)\.recruitee\.com$/,
    answer: (_, [, company = '']) => (OWN_NAMES.test(company) ? undefined : { token: company }),
  },
  {
    shape: 'teamtailor',
    host: /^([a-z0-9-]+)((?:\.[a-z0-9-]+)*)\.teamtailor\.com$/,
    answer({ host }, [, site = '']) {
      return OWN_NAMES.test(site) ? undefined : { token: site, address: `https://${host}` };
    },
  },
  {
    shape: 'workday',
    host: /^([a-z0-9_-]+)\.(?:wd\d+\.)?myworkdayjobs\.com$/,
    answer({ host, path }, [, tenant = '']) {
      const search = after(path, 'wday', 'cxs');
      if (search !== undefined) return workday(host, search, path[3]);
      return workday(host, /^wd\d+$/.test(tenant) ? undefined : tenant, path[0]);
    },
  },
  {
    shape: 'workday',
    host: /^(?:[a-z0-9_-]+\.)?wd\d+\.myworkdaysite\.com$/,
    answer({ host, path }) {
      const from = path[0] === 'wday' ? path.slice(2) : path.slice(path.indexOf('recruiting') + 1);
      return workday(host, from[0], from[1]);
    },
  },
];

function tokenAnswer(token: string | undefined): RuleAnswer | undefined {
  const trimmed = token?.trim();
  return trimmed ? { token: trimmed } : undefined;
}

/** Sites where any company publishes; their pages name no board that could be watched. */
const MANY_COMPANIES =
  /(?:^|\.)(?:linkedin|indeed|glassdoor|ziprecruiter|monster|facebook|instagram|twitter|x|naukri|stepstone|xing|crunchbase)\.(?:com|co\.[a-z]{2}|[a-z]{2})$/;

function decodedPath(url: URL): string[] {
  const parts = url.pathname.split('/').map((part) => decodePercent(part) ?? part);
  return parts.filter((part) => part.trim() !== '');
}

/** Only on the platforms' pages: API paths may begin with two characters too (`v0`). */
function withoutLanguage(path: string[], host: string): string[] {
  const hasLanguage =
    /(?:myworkdayjobs|myworkdaysite|teamtailor|recruitee)\.com$/.test(host) && LANGUAGE.test(path[0] ?? '');
  return hasLanguage ? path.slice(1) : path;
}

/** The address meant by a text: without surrounding blanks, quotes, brackets and link text; by default https. */
function urlOfText(text: string): URL | string {
  const [, inMarkdown = text] = /^\s*\[[^\]]{0,200}\]\(([^)\s]{1,2000})\)\s*$/.exec(text) ?? [];
  const plain = inMarkdown.trim().replace(/^[<"'(]+|[>"'),;]+$/g, '');
  if (plain === '') return 'the address is blank';
  if (plain.length > ADDRESS_LENGTH_MAX) return `the address is longer than ${ADDRESS_LENGTH_MAX} characters`;
  if (/\s/.test(plain)) return 'an address has no blanks in it';
  const scheme = /^([a-z][a-z0-9+.-]*):(?!\d+(?:\/|$))/i.exec(plain)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    return `an address begins with https:// or http://, not with ${scheme}:`;
  }
  const whole = scheme === undefined ? `https://${plain.replace(/^\/\//, '')}` : plain;
  const url = URL.parse(whole);
  if (url === null) return 'the text is no address';
  if (url.username !== '' || url.password !== '') return 'an address with a user or a password is not taken';
  const host = url.hostname.replace(/\.$/, '');
  const isHost = host.includes('.') || host === 'localhost' || host.startsWith('[');
  return isHost ? url : 'the text is no address: its host has no dot';
}

/** @param text as pasted: the address of any page of a board, or `shape:token` */
export function boardOfAddress(text: string): AddressVerdict {
  const named = parseBoardName(text.trim());
  if (named !== undefined) return boardOfName(named);
  const url = urlOfText(text);
  if (typeof url === 'string') return { kind: 'refused', reason: url };
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  const path = withoutLanguage(decodedPath(url), host);
  for (const rule of RULES) {
    const match = rule.host.exec(host);
    if (match === null) continue;
    const answer = rule.answer({ url, host, path }, match);
    if (answer === 'page') break;
    if (answer === undefined) return { kind: 'refused', reason: `${host} shows no board at this address` };
    if ('refused' in answer) return { kind: 'refused', reason: answer.refused };
    return verdictOf(rule.shape, answer);
  }
  if (MANY_COMPANIES.test(host)) {
    return { kind: 'refused', reason: `${host} shows jobs of many companies: add the company’s own board` };
  }
  url.hash = '';
  return { kind: 'page', address: url.href };
}

function verdictOf(shape: BoardShape, { token, address }: { token: string; address?: string }): AddressVerdict {
  const found = address ?? addressOfToken({ shape, token });
  if (found === null || token.length > TOKEN_LENGTH_MAX || /[\s:?#\\]/.test(token.replaceAll(' ', '_'))) {
    return { kind: 'refused', reason: `the address names no board that ${shape} could have` };
  }
  return { kind: 'board', shape, token, address: found };
}

function boardOfName(named: Pick<Board, 'shape' | 'token'>): AddressVerdict {
  const address = addressOfToken(named);
  if (address === null) {
    return { kind: 'refused', reason: 'a Workday board is added by its address, which names its host' };
  }
  const isCased = named.shape === 'ashby' || named.shape === 'smartrecruiters';
  return { kind: 'board', shape: named.shape, token: isCased ? named.token : named.token.toLowerCase(), address };
}

/** The token of a page board: the host, and on a host of many companies also the path. */
export function pageBoardOf(address: string): NamedBoard {
  const url = new URL(address);
  const host = url.hostname.replace(/^www\./, '');
  const path = url.pathname.replace(/\/+$/, '');
  const token = isJobSite(host) ? `${host}${path}` : host;
  return { shape: 'jsonld', token, address: `${url.origin}${path}${url.search}` };
}
