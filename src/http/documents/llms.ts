/**
 * Writes `/llms.txt` (llmstxt.org): title, description, guides to the ways in, then one section for each tag with one line
 * for each operation.
 */
import type { GenericSchema } from 'valibot';
import { waysIn } from '../access.ts';
import type { Contract } from '../contract.ts';
import type { Operation } from '../operation.ts';
import { ruleOf } from '../query.ts';
import { pathTemplateOf } from './openapi.ts';

export interface LlmsFacts {
  readonly title: string;
  readonly description: string;
  /** Public address without a trailing slash. */
  readonly baseUrl: string;
  /** Description of each tag, in the order of the sections. */
  readonly tags: Readonly<Record<string, string>>;
}

const ERRORS = 'Errors are `{"error": {"code", "message", "request_id"}}`.';

/** Describes the query of an operation. */
function queryIn({ query, lenientQuery = {} }: Contract): string {
  const strict = Object.entries(query?.entries ?? {}).map(([name, entry]) => {
    const schema = entry as GenericSchema;
    return `\`${name}\`${schema.type === 'optional' ? '' : ' (required)'}: ${ruleOf(schema).rule}`;
  });
  const lenient = Object.entries(lenientQuery).map(([name, { rule }]) => `\`${name}\`: ${rule.replace(/\.$/, '')}`);
  const all = [...strict, ...lenient];
  return all.length === 0 ? '' : ` Query: ${all.join('; ')}.`;
}

function accessIn({ access }: Operation): string {
  const sentences = access.flatMap((entry) => {
    const ofEntry = waysIn([entry]).flatMap(({ documentation }) => documentation.sentence ?? []);
    return ofEntry.length === 0 ? [] : [ofEntry.join(', or: ')];
  });
  return sentences.length === 0 ? ' Free.' : ` ${sentences.join('. ')}.`;
}

function lineOf(operation: Operation, { baseUrl }: LlmsFacts): string {
  const { method, path, publicUrl = baseUrl, summary, description } = operation;
  const template = pathTemplateOf(path);
  const more = description === undefined ? '' : ` ${description}`;
  const url = publicUrl + template;
  return `- [${method} ${template}](${url}): ${summary}.${accessIn(operation)}${more}${queryIn(operation)}`;
}

export function llmsTextOf(operations: readonly Operation[], facts: LlmsFacts): string {
  const { title, description, baseUrl, tags } = facts;
  const guides = operations.flatMap(({ access }) =>
    waysIn(access).flatMap(({ documentation }) => documentation.guide ?? []),
  );
  const sections = Object.entries(tags).map(([tag, meaning]) => {
    const lines = operations.filter((operation) => operation.tag === tag).map((operation) => lineOf(operation, facts));
    return `## ${tag}\n\n${meaning}.\n\n${lines.join('\n')}\n`;
  });
  const contract = `The whole contract with closed schemas: [openapi.json](${baseUrl}/openapi.json).`;
  const paragraphs = [...new Set(guides), `${ERRORS} ${contract}`].map((paragraph) => `${paragraph}\n`);
  return [`# ${title}\n`, `> ${description}\n`, ...paragraphs, ...sections].join('\n');
}
