/**
 * Who a job board belongs to. A board's feed names only its token; the manifest, one JSON object, gives it a company name
 * and domain: {"<board token or file name>": {"company": "Acme, Inc.", "domain": "acme.com"}}. Keys are matched exactly.
 * A third entry, "url", is the address of the board itself, for feeds whose postings have only paths (Workday's list).
 */
import * as v from 'valibot';
import { parseJson } from '../../base/json-value.ts';
import { COMPANY_DOMAIN_LENGTH_MAX, parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { NAME_LENGTH_MAX } from '../native.ts';

export interface BoardEntry {
  /** null: the board's token is all that is known. */
  readonly company: string | null;
  readonly domain: string | null;
  /** Address of the board itself, http or https, without a slash at its end; absent or null: not known. */
  readonly url?: string | null;
  /** Other domains by which the company is found. */
  readonly aliases?: readonly string[];
}

/** What a visit of a watched board says about it; undefined for a board that is not watched. */
export type WatchedEntries = (shape: string, token: string) => BoardEntry | undefined;

export type BoardManifest = ReadonlyMap<string, BoardEntry>;

export type BoardManifestParse =
  | { readonly ok: true; readonly manifest: BoardManifest }
  /** `reason` is a sentence that begins with the entry it is about. */
  | { readonly ok: false; readonly reason: string };

const domain = v.pipe(
  v.string('domain must be a string'),
  v.maxLength(COMPANY_DOMAIN_LENGTH_MAX, 'domain is too long'),
  v.check((text) => parseCompanyDomain(text) !== undefined, 'domain must be a domain name such as example.com'),
  v.transform((text) => text.toLowerCase()),
);

const entry = v.strictObject(
  {
    company: v.optional(
      v.pipe(
        v.string('company must be a string'),
        v.trim(),
        v.nonEmpty('company is blank'),
        v.maxLength(NAME_LENGTH_MAX, `company is longer than ${NAME_LENGTH_MAX} characters`),
      ),
    ),
    domain: v.optional(domain),
    aliases: v.optional(v.array(domain, 'aliases must be an array of domain names')),
    url: v.optional(
      v.pipe(
        v.string('url must be a string'),
        v.regex(/^https?:\/\/[^\s\\]+$/i, 'url must be an http or https URL'),
        v.transform((text) => text.replace(/\/+$/, '')),
      ),
    ),
  },
  (issue) =>
    issue.expected === 'never'
      ? `has a field it does not know, ${issue.received}: only company, domain, aliases and url are read`
      : 'must be an object with company, domain and url',
);

const manifest = v.record(v.string(), entry, 'must be a JSON object of boards');

/** Reads the text of a manifest file. */
export function parseBoardManifest(text: string): BoardManifestParse {
  const value = parseJson(text);
  if (value === undefined) return { ok: false, reason: 'is not JSON' };
  // valibot accepts an array as a record keyed by index.
  if (Array.isArray(value)) return { ok: false, reason: 'must be a JSON object of boards' };
  const parsed = v.safeParse(manifest, value, { abortEarly: true });
  if (!parsed.success) {
    const issue = parsed.issues[0];
    const key = issue.path?.[0]?.key;
    return { ok: false, reason: key === undefined ? issue.message : `${JSON.stringify(key)}: ${issue.message}` };
  }
  const boards = new Map<string, BoardEntry>();
  for (const [key, board] of Object.entries(parsed.output)) {
    const { company = null, domain: known = null, url = null, aliases } = board;
    boards.set(key, { company, domain: known, url, ...(aliases === undefined ? {} : { aliases }) });
  }
  return { ok: true, manifest: boards };
}
