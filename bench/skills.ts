/**
 * Finding skills, in plain text and in HTML: over real descriptions when ../shared/data/real exists, else over synthetic ones.
 * Before it times anything, the bench checks that two passes agree and find some skill.
 */
import { ok } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { htmlText } from '../src/ingest/input/html-text.ts';
import { loadSkillExtractor } from '../src/ingest/skills/skills.ts';
import { synthRecords } from '../src/ingest/synth/synth.ts';
import { type Context, type Figure, figureOf, sized } from './harness.ts';

const REAL = new URL('../../shared/data/real/', import.meta.url);

interface Text {
  readonly title: string;
  readonly html: string;
}

/** Titles and HTML of the single-file Ashby boards. */
function realTexts(): Text[] {
  const texts: Text[] = [];
  for (const name of readdirSync(REAL).sort()) {
    if (!/^ashby-.*\.json(\.gz)?$/.test(name)) continue;
    const bytes = readFileSync(new URL(name, REAL));
    const json = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    const board = JSON.parse(json) as { jobs: { title: string; descriptionHtml?: string }[] };
    for (const { title, descriptionHtml } of board.jobs) {
      if (descriptionHtml !== undefined) texts.push({ title, html: descriptionHtml });
    }
  }
  return texts;
}

function syntheticTexts(jobs: number): Text[] {
  const options = { jobs, seed: 1, asOfMs: Date.UTC(2026, 0, 1), descriptions: true };
  return Array.from(synthRecords(options), ({ title, description }) => ({ title, html: description ?? '' }));
}

export async function measure({ size }: Context): Promise<Figure[]> {
  const isReal = size === 'full' && existsSync(REAL);
  const texts = isReal ? realTexts() : syntheticTexts(sized(size, 500, 10_000));
  // Converted through bytes, so that no string is a rope that the first round would have to flatten.
  const plain = texts.map(({ title, html }) => ({ title, html: Buffer.from(htmlText(html)).toString('utf8') }));
  const extractor = loadSkillExtractor();
  const answers = (): string => JSON.stringify(plain.map(({ title, html }) => extractor.extract(title, html)));
  const first = answers();
  ok(first === answers() && first.length > 3 * plain.length, 'the answers are not what they should be');

  const rounds = (name: string, inputs: readonly Text[], work: (text: Text) => void): Figure => {
    const kib = inputs.reduce((sum, { html }) => sum + Buffer.byteLength(html), 0) / 1024;
    const micros: number[] = [];
    for (let round = 0; round < sized(size, 3, 9); round++) {
      const startMs = performance.now();
      for (const input of inputs) work(input);
      micros.push(((performance.now() - startMs) * 1000) / kib);
    }
    return figureOf(name, 'µs', micros, `${inputs.length} ${isReal ? 'real' : 'synthetic'} descriptions`);
  };
  return [
    rounds('HTML to text, a KiB', texts, ({ html }) => htmlText(html)),
    rounds('skills of plain text, a KiB', plain, ({ title, html }) => extractor.extract(title, html)),
    rounds('skills of HTML, a KiB', texts, ({ title, html }) => extractor.extract(title, htmlText(html))),
  ];
}
