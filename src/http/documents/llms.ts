/**
 * Writes `/llms.txt` (llmstxt.org): title, description, guides to the ways in, then one section for each tag with one line for
 * each operation. Every other surface of the server has its own section, because readers of this text often fetch no second
 * document.
 */
import type { GenericSchema } from 'valibot';
import { waysIn } from '../access.ts';
import type { Contract } from '../contract.ts';
import type { Operation } from '../operation.ts';
import { pathTemplateOf } from '../path.ts';
import { ruleOf } from '../query.ts';

/** One surface of the server. */
export interface LlmsFacts {
  readonly title: string;
  readonly description: string;
  /** Public address without a trailing slash. */
  readonly baseUrl: string;
  /** What concerns all operations, in paragraphs. */
  readonly guide: readonly string[];
  /** Description of each tag, in the order of the sections. */
  readonly tags: Readonly<Record<string, string>>;
  readonly operations: readonly Operation[];
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

const withSmallLetter = (sentence: string): string => sentence.slice(0, 1).toLowerCase() + sentence.slice(1);

function accessIn({ access }: Operation): string {
  const sentences = access.flatMap((entry) => {
    const ofEntry = waysIn([entry]).flatMap(({ documentation }) => documentation.sentence ?? []);
    const [first, ...others] = ofEntry;
    return first === undefined ? [] : [[first, ...others.map(withSmallLetter)].join(', or ')];
  });
  return sentences.length === 0 ? ' Free.' : ` ${sentences.join('. ')}.`;
}

function lineOf(operation: Operation, baseUrl: string): string {
  const { method, path, publicUrl = baseUrl, summary, description } = operation;
  const template = pathTemplateOf(path);
  const more = description === undefined ? '' : ` ${description}`;
  const url = publicUrl + template;
  return `- [${method} ${template}](${url}): ${summary}.${accessIn(operation)}${more}${queryIn(operation)}`;
}

const linesOf = (tag: string, { baseUrl, operations }: LlmsFacts): string =>
  operations
    .filter((operation) => operation.tag === tag)
    .map((operation) => lineOf(operation, baseUrl))
    .join('\n');

/** How to use the ways in of the surface, each once, and what concerns all of its operations. */
const guidesOf = ({ operations, guide }: LlmsFacts): readonly string[] => [
  ...new Set(
    operations.flatMap(({ access }) => waysIn(access).flatMap(({ documentation }) => documentation.guide ?? [])),
  ),
  ...guide,
];

const contractOf = ({ baseUrl }: LlmsFacts): string =>
  `The whole contract with closed schemas: [openapi.json](${baseUrl}/openapi.json).`;

/** The section of another surface: its own operations, without those about the server. */
function sectionOf(surface: LlmsFacts): string {
  const { title, description, tags } = surface;
  const products = Object.entries(tags).filter(([tag]) => tag !== 'service');
  return [
    `## ${title}`,
    description,
    ...guidesOf(surface),
    `Its paths are below ${surface.baseUrl}. ${contractOf(surface)}`,
    ...products.flatMap(([tag, meaning]) => [`${meaning}:`, linesOf(tag, surface)]),
  ]
    .map((paragraph) => `${paragraph}\n`)
    .join('\n');
}

/** @param others the surfaces beside the base */
export function llmsTextOf(base: LlmsFacts, others: readonly LlmsFacts[]): string {
  const { title, description, tags } = base;
  const paragraphs = [...guidesOf(base), `${ERRORS} ${contractOf(base)}`].map((paragraph) => `${paragraph}\n`);
  const sections = Object.entries(tags).map(([tag, meaning]) => `## ${tag}\n\n${meaning}.\n\n${linesOf(tag, base)}\n`);
  return [`# ${title}\n`, `> ${description}\n`, ...paragraphs, ...sections, ...others.map(sectionOf)].join('\n');
}
