/** `/llms.txt` (llmstxt.org): a title, what it is, how to pay, then a section a tag with a line a route. */

import type { GenericSchema } from 'valibot';
import { ruleOf } from '../query.ts';
import type { Route } from '../route.ts';

export interface LlmsFacts {
  readonly title: string;
  readonly description: string;
  /** Public addresses without a trailing slash. */
  readonly baseUrl: string;
  readonly hookUrl: string;
  /** What each tag stands for, in the order of the sections. */
  readonly tags: Readonly<Record<string, string>>;
}

const PAYING = `Paid routes speak x402 version 2. Ask without a payment: the answer is 402, and its \`PAYMENT-REQUIRED\` header (base64
JSON) says what is wanted. Sign the transfer authorization that it asks for (scheme \`exact\`, USDC on Base, EIP-3009), send
the same request again with the payment, base64 JSON, in \`PAYMENT-SIGNATURE\`; the receipt comes back in
\`PAYMENT-RESPONSE\`. One authorization buys one answer. A refused question costs nothing. After 503 \`SETTLEMENT_PENDING\`
send the same payment again; never sign a second one for it. Errors are \`{"error": {"code", "message", "request_id"}}\`.`;

/** What a route wants in its query, in words. */
function queryIn({ query, lenientQuery = {} }: Route): string {
  const strict = Object.entries(query?.entries ?? {}).map(([name, entry]) => {
    const schema = entry as GenericSchema;
    return `\`${name}\`${schema.type === 'optional' ? '' : ' (required)'}: ${ruleOf(schema).rule}`;
  });
  const lenient = Object.entries(lenientQuery).map(([name, { rule }]) => `\`${name}\`: ${rule.replace(/\.$/, '')}`);
  const all = [...strict, ...lenient];
  return all.length === 0 ? '' : ` Query: ${all.join('; ')}.`;
}

function accessIn({ access }: Route): string {
  const price = access.find((one) => one.kind === 'x402')?.priceUsdc;
  if (price !== undefined) return ` Costs ${price} USDC.`;
  return access.some(({ kind }) => kind === 'read-token') ? ' Needs `Authorization: Bearer <read_token>`.' : ' Free.';
}

function lineOf(route: Route, { baseUrl, hookUrl }: LlmsFacts): string {
  const { method, path, isHook = false, summary, description } = route;
  const template = path.replace(/:(\w+)/g, '{$1}');
  const more = description === undefined ? '' : ` ${description}`;
  const url = (isHook ? hookUrl : baseUrl) + template;
  return `- [${method} ${template}](${url}): ${summary}.${accessIn(route)}${more}${queryIn(route)}`;
}

export function llmsTextOf(routes: readonly Route[], facts: LlmsFacts): string {
  const { title, description, baseUrl, tags } = facts;
  const sections = Object.entries(tags).map(([tag, meaning]) => {
    const lines = routes.filter((route) => route.tag === tag).map((route) => lineOf(route, facts));
    return `## ${tag}\n\n${meaning}.\n\n${lines.join('\n')}\n`;
  });
  const contract = `The whole contract with closed schemas is [openapi.json](${baseUrl}/openapi.json).`;
  return [`# ${title}\n`, `> ${description}\n`, `${PAYING}\n`, `${contract}\n`, ...sections].join('\n');
}
