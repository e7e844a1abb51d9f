/** The skill dictionary (data/skills.json): its form, and the checks of one. */
import * as v from 'valibot';

/** What is wrong with a dictionary: the entry's name (or its place), and the reason. */
export class SkillDictionaryError extends Error {
  readonly entry: string;
  readonly reason: string;
  constructor(entry: string, reason: string) {
    super(`skill dictionary: ${entry}: ${reason}`);
    this.name = 'SkillDictionaryError';
    this.entry = entry;
    this.reason = reason;
  }
}

const phraseText = v.pipe(v.string(), v.minLength(1), v.maxLength(80));

/**
 * When a phrase counts. `context: 'list'`: only beside a recognised skill in a list. `context: 'name'`: also after a lower-case
 * word on the same line, where only a name has a capital: `you know Go`, not `Go above`. `case: 'exact'`: only in this
 * spelling. On an entry the conditions hold for its name; an alias that needs them is written as an object.
 */
const conditions = { context: v.optional(v.picklist(['list', 'name'])), case: v.optional(v.literal('exact')) };
const phraseSchema = v.strictObject({ text: phraseText, ...conditions });
const entrySchema = v.strictObject({
  name: phraseText,
  area: v.optional(phraseText),
  aliases: v.optional(v.array(v.union([phraseText, phraseSchema])), []),
  ...conditions,
});
const dictionarySchema = v.strictObject({
  version: v.pipe(v.string(), v.regex(/^[0-9a-z-]{1,20}$/)),
  /** Phrases that contain the name of a skill and mean something else. The longest phrase wins, so these hide the skill. */
  ignore: v.optional(v.array(phraseText), []),
  skills: v.pipe(v.array(entrySchema), v.minLength(1)),
});
export type Dictionary = v.InferOutput<typeof dictionarySchema>;

/** @throws SkillDictionaryError when the value is no dictionary */
export function parseDictionary(dictionary: unknown): Dictionary {
  const parsed = v.safeParse(dictionarySchema, dictionary);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const path = issue.path ?? [];
  const skill: unknown = path[0]?.key === 'skills' ? path[1]?.value : undefined;
  const isNamed = typeof skill === 'object' && skill !== null && 'name' in skill && typeof skill.name === 'string';
  const entry = isNamed
    ? (skill as { name: string }).name
    : path.map((item) => String(item.key)).join('.') || 'dictionary';
  throw new SkillDictionaryError(entry, issue.message);
}
