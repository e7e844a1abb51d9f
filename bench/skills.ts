/**
 * How fast are skills found? Plain text and HTML, over real descriptions when ../shared/data/real is there, else over
 * synthetic ones. The answers are checked before anything is timed: two passes must agree, and some skill be found.
 *
 *   node bench/skills.ts [rounds]      bun bench/skills.ts [rounds]      rounds = 5; the best and the median are shown
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { htmlText } from '../src/ingest/html-text.ts';
import { loadSkillExtractor } from '../src/ingest/skills.ts';
import { synthRecords } from '../src/ingest/synth.ts';

const REAL = new URL('../../shared/data/real/', import.meta.url);
const SYNTHETIC_JOBS = 10_000;

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

function syntheticTexts(): Text[] {
  const options = { jobs: SYNTHETIC_JOBS, seed: 1, asOfMs: Date.UTC(2026, 0, 1), descriptions: true };
  return Array.from(synthRecords(options), ({ title, description }) => ({ title, html: description ?? '' }));
}

const rounds = Number(process.argv[2] ?? 5);
const isReal = existsSync(REAL);
// Through bytes, so that no string is a rope that the first round would flatten.
const texts = isReal ? realTexts() : syntheticTexts();
const plain = texts.map(({ title, html }) => ({ title, html: Buffer.from(htmlText(html)).toString('utf8') }));
const extractor = loadSkillExtractor();

const answers = (): string => JSON.stringify(plain.map(({ title, html }) => extractor.extract(title, html)));
const first = answers();
if (first !== answers() || first.length <= 3 * plain.length) throw new Error('the answers are not what they should be');

function measure(label: string, inputs: readonly Text[], work: (text: Text) => void): void {
  const megabytes = inputs.reduce((sum, { html }) => sum + Buffer.byteLength(html), 0) / 1e6;
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now();
    for (const input of inputs) work(input);
    rates.push(megabytes / ((performance.now() - startedMs) / 1000));
  }
  rates.sort((a, b) => a - b);
  const median = rates[Math.floor(rates.length / 2)]!;
  console.log(
    `${label}: best ${rates.at(-1)!.toFixed(1)}, median ${median.toFixed(1)} MB/s (${megabytes.toFixed(1)} MB)`,
  );
}

const runtime = process.versions.bun === undefined ? `Node ${process.versions.node}` : `Bun ${process.versions.bun}`;
console.log(`${runtime}, ${texts.length} ${isReal ? 'real' : 'synthetic'} descriptions, skills ${extractor.version}`);
measure('HTML to text', texts, ({ html }) => htmlText(html));
measure('skills of plain text', plain, ({ title, html }) => extractor.extract(title, html));
measure('skills of HTML', texts, ({ title, html }) => extractor.extract(title, html));
