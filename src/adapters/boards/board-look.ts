/**
 * Finds out which board an address given by a person belongs to, and what the board lists now. The address alone decides if it
 * can (ingest/boards/address-rules.ts); otherwise the page behind it, or a careers page that this page links to.
 */
import type { Clock } from '../../base/clock.ts';
import { MIB } from '../../base/sizes.ts';
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import { boardOfAddress, type NamedBoard } from '../../ingest/boards/address-rules.ts';
import { type Board, nameOfBoard } from '../../ingest/boards/board.ts';
import { documentOf, firstStep, statedJobs } from '../../ingest/boards/endpoints.ts';
import { addressBehind, type BoardOrigins, replacedAddress } from '../../ingest/boards/origins.ts';
import { boardOfPage, companyDomainOfPage } from '../../ingest/boards/page-boards.ts';
import { boardWith, sampleOfBoard } from '../../ingest/boards/sample.ts';
import type { CompanyList } from '../../ingest/companies/company-list.ts';
import type { BoardClient, PageAnswer } from './board-client.ts';
import { isGone } from './feed-fetch.ts';
import { PAGE_BYTES_MAX } from './limits.ts';

/** Longest answer of a board, bytes. */
const ANSWER_BYTES_MAX = 128 * MIB;
/** Pages that are looked at for one address. */
const PAGES_MAX = 3;

export interface BoardLookOptions {
  readonly client: Pick<BoardClient, 'ask'>;
  readonly origins: BoardOrigins;
  readonly list: CompanyList;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly signal: AbortSignal;
}

export type Looked =
  | {
      readonly ok: true;
      readonly board: Board;
      /** Jobs that it has now. */
      readonly jobs: number;
      /** `jobs` counts the first page of several, which state no total. */
      readonly isFirstPage: boolean;
      /**
       * The domain of the company's own site, if a page there shows the board; null where the package's list knows better.
       */
      readonly siteDomain: CompanyDomain | null;
    }
  | {
      readonly ok: false;
      /** One line for the person who gave the address. */
      readonly reason: string;
      /** The board, where it was recognised and did not answer. */
      readonly board?: NamedBoard;
    };

/** What an address leads to, before its board is asked. */
type Lead =
  | {
      readonly ok: true;
      readonly board: NamedBoard;
      readonly mayBeNone: boolean;
      readonly site: string | null;
      /** The page that led to the board, as it answered. */
      readonly page: PageAnswer;
    }
  | { readonly ok: false; readonly reason: string };

export class BoardLook {
  readonly #options: BoardLookOptions;

  constructor(options: BoardLookOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async look(address: string): Promise<Looked> {
    const verdict = boardOfAddress(address);
    if (verdict.kind === 'refused') return { ok: false, reason: verdict.reason };
    if (verdict.kind === 'board') return this.ask(verdict);
    const lead = await this.#leadOf(verdict.address, PAGES_MAX);
    if (!lead.ok) return lead;
    const asked = await this.ask(lead.board, lead.page);
    if (!asked.ok && lead.mayBeNone) {
      return { ok: false, reason: `the page seems to run on ${lead.board.shape}, but ${asked.reason}` };
    }
    if (!asked.ok || lead.site === null) return asked;
    const siteDomain = companyDomainOfPage(lead.site);
    const listed = this.#listedDomain(asked.board);
    if (listed !== undefined || siteDomain === null) return asked;
    return { ...asked, siteDomain, board: { ...asked.board, domain: siteDomain } };
  }

  /** Asks a board for the first page of its feed. @param known an answer, which may be that page. Never rejects. */
  async ask(named: NamedBoard, known?: PageAnswer): Promise<Looked> {
    const { client, origins, list, clock, signal } = this.#options;
    const board: Board = { ...named, company: null, domain: null };
    const { request } = firstStep(board, origins);
    const answer =
      known?.kind === 'page' && known.url === request.url
        ? known
        : await client.ask(request, { validators: null, bytesMax: ANSWER_BYTES_MAX, signal });
    const name = nameOfBoard(named);
    if (answer.kind !== 'page') {
      const status = answer.kind === 'failed' ? answer.status : null;
      const reason = answer.kind === 'failed' ? answer.reason : 'it gave nothing';
      return {
        ok: false,
        board: named,
        reason: isGone(status) ? `there is no board ${name} (status ${status})` : `${name} does not answer: ${reason}`,
      };
    }
    const parsed = documentOf(board, new TextDecoder().decode(answer.body));
    const stated = parsed && statedJobs(board, parsed.document);
    if (parsed === undefined || stated === undefined) {
      return { ok: false, board: named, reason: `${name} answers, but with no list of jobs` };
    }
    const sample = sampleOfBoard(named, parsed.document, list, clock.nowMs());
    return { ok: true, board: boardWith(named, sample), ...stated, siteDomain: null };
  }

  async #leadOf(address: string, pagesLeft: number): Promise<Lead> {
    const { client, origins, signal } = this.#options;
    const url = replacedAddress(address, 'jsonld', true, origins);
    const request = { method: 'GET', url, body: null, accept: 'text/html' } as const;
    const answer = await client.ask(request, { validators: null, bytesMax: PAGE_BYTES_MAX, signal });
    if (answer.kind !== 'page') {
      return {
        ok: false,
        reason: `the page cannot be read: ${answer.kind === 'failed' ? answer.reason : 'no answer'}`,
      };
    }
    const at = addressBehind(answer.url, 'jsonld', origins);
    const moved = boardOfAddress(at);
    if (moved.kind === 'board') return { ok: true, board: moved, mayBeNone: false, site: null, page: answer };
    const verdict = boardOfPage(new TextDecoder().decode(answer.body), at);
    if (verdict.kind === 'board')
      return { ok: true, board: verdict.board, mayBeNone: verdict.mayBeNone, site: at, page: answer };
    for (const page of verdict.careersPages.slice(0, pagesLeft - 1)) {
      const named = boardOfAddress(page);
      if (named.kind === 'board') return { ok: true, board: named, mayBeNone: false, site: at, page: answer };
      const lead = await this.#leadOf(page, 1);
      if (lead.ok) return lead;
    }
    return { ok: false, reason: verdict.reason };
  }

  #listedDomain({ shape, token }: Board): CompanyDomain | undefined {
    return this.#options.list.ofBoard({ shape, board: token })?.domain;
  }
}
