/** The advertisement of a synthetic job: 600 to 900 characters, about a third of them in HTML. */
import type { SeededRandom } from '../../base/seeded-random.ts';
import type { Vocabulary } from './vocabulary.ts';

const HTML_SHARE = 0.35;
const BULLETS_SHARE = 0.5;

const HTML_SPECIAL = /[&<>]/g;
const HTML_ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string): string => text.replace(HTML_SPECIAL, (character) => HTML_ENTITIES[character]!);

function listed(items: readonly string[]): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)!}`;
}

/** A skill as a text writes it. */
function wordingOf(skill: string, { skillWording }: Vocabulary['texts']): string {
  return Object.hasOwn(skillWording, skill) ? skillWording[skill]! : skill;
}

/**
 * Skills stand in running lists of at least two, or as list items, because the extractor reads an ambiguous name such as
 * Go only beside another skill.
 */
export function descriptionOf(
  random: SeededRandom,
  texts: Vocabulary['texts'],
  company: string,
  title: string,
  duties: readonly string[],
  skills: readonly string[],
): string {
  const html = random.unit() < HTML_SHARE;
  const write = html ? escaped : (text: string): string => text;
  const from = random.below(duties.length);
  const duty = (offset: number): string => duties[(from + offset) % duties.length]!;
  const head = `${company} ${random.pick(texts.openings)} ${/^[AEIO]/.test(title) ? 'an' : 'a'} ${title}.`;
  const mission = `${random.pick(texts.missions)} ${random.pick(texts.missions)}`;
  const names = skills.map((skill) => wordingOf(skill, texts));
  const split = names.length >= 4 ? names.length - 2 : names.length;
  const needed = names.slice(0, split);
  const extra = names.slice(split);
  const need = `${random.pick(texts.skillLeads)} ${listed(needed)}.`;
  const wish = extra.length === 0 ? '' : `${random.pick(texts.skillExtras)} ${listed(extra)}. `;
  const years = `At least ${random.pick(texts.years)} in a similar role, and the habit of finishing what you begin.`;
  const closing = random.pick(texts.closings);
  const bullets = random.unit() < BULLETS_SHARE;
  if (!html) {
    const tasks = bullets
      ? `What you will do\n- ${duty(0)}\n- ${duty(1)}\n- ${duty(2)}\n- ${duty(3)}`
      : `In this role you will ${duty(0)}, ${duty(1)} and ${duty(2)}. You will also ${duty(3)}.`;
    return `${head} ${mission}\n\n${tasks}\n\n${need} ${wish}${years}\n\n${random.pick(texts.perks)} ${closing}`;
  }
  const tasks = `<ul><li>${duty(0)}</li><li>${duty(1)}</li><li>${duty(2)}</li><li>${duty(3)}</li></ul>`;
  const needs =
    bullets && needed.length > 1
      ? `<ul><li>${needed.map(write).join('</li><li>')}</li></ul><p>${write(wish)}${years}</p>`
      : `<p>${write(need)} ${write(wish)}${years}</p>`;
  return `<p><strong>${write(head)}</strong> ${mission}</p><h3>What you will do</h3>${tasks}<h3>What you bring</h3>${needs}<p>${random.pick(texts.perks)} ${closing}</p>`;
}
