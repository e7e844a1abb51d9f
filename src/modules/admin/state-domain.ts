/**
 * POST /admin/v1/companies: states a company's domain for the operator, as `companies set` does. The next build applies it. It
 * does not check that the catalogue has the company: that would read every employer and delay customers' requests.
 */
import * as v from 'valibot';
import { adminToken } from '../../access/admin-token.ts';
import { parseCompanyDomain } from '../../catalogue/company-domain.ts';
import { comparedText } from '../../catalogue/terms.ts';
import { Refusal, STATE_UNAVAILABLE } from '../../http/errors.ts';
import { BODY_ERRORS, jsonBody } from '../../http/json-body.ts';
import { route } from '../../http/route.ts';
import { parsed, rule } from '../parameter-rules.ts';
import { envelope, metaAt } from './envelope.ts';
import { fromBoards } from './from-boards.ts';
import type { BoardsServices } from './services.ts';

/** Code units: a name in the catalogue has up to 1000 code points (`ingest/native.ts`). */
const NAME_LENGTH_MAX = 2000;

const body = v.strictObject({
  company: v.pipe(
    v.string(),
    v.maxLength(NAME_LENGTH_MAX),
    v.check((text) => comparedText(text) !== ''),
    rule({ rule: `the name of a company or shape:token, at most ${NAME_LENGTH_MAX} characters` }),
  ),
  domain: v.pipe(
    v.string(),
    parsed((text) => parseCompanyDomain(text.trim())),
    rule({ rule: 'a domain name such as example.com' }),
  ),
});

const readBody = jsonBody(body);

export const stateDomain = route<BoardsServices>()({
  operation: 'stateCompanyDomain',
  method: 'POST',
  path: '/admin/v1/companies',
  summary: 'State the domain of a company; the next build applies it',
  access: [adminToken],
  bodies: { 'application/json': body },
  answer: envelope(v.strictObject({ company: v.string(), domain: v.string() })),
  errors: [...BODY_ERRORS, STATE_UNAVAILABLE],
  readBody,
  handle({ body: { company, domain } }, { boards, clock }) {
    const kept = fromBoards(() => boards.stateDomain(company, domain));
    if (kept instanceof Refusal) return kept;
    return { data: { company, domain }, meta: metaAt(clock.nowMs()) };
  },
});
