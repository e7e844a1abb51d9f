/**
 * Writes the Prometheus text format 0.0.4: families one after another, each with HELP, TYPE and its samples. Each component
 * holds its own counts and writes them at every scrape.
 */
export type MetricType = 'counter' | 'gauge' | 'histogram';
export type Labels = Readonly<Record<string, string>>;

const escapedLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
const escapedHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

/** A value in Go's float syntax, which the format requires. */
function valueText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}

export class Exposition {
  #text = '';
  #family = '';

  /** Begins a family; the samples that follow belong to it. Names of counters end in `_total`; units are seconds and bytes. */
  family(name: string, type: MetricType, help: string): this {
    this.#family = name;
    this.#text += `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`;
    return this;
  }

  /** @param suffix `_bucket`, `_sum` or `_count` of a histogram */
  sample(value: number, labels: Labels = {}, suffix = ''): this {
    const pairs = Object.entries(labels).map(([name, text]) => `${name}="${escapedLabel(text)}"`);
    const braces = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
    this.#text += `${this.#family}${suffix}${braces} ${valueText(value)}\n`;
    return this;
  }

  /** Writes a family of one sample without labels. */
  single(name: string, type: MetricType, help: string, value: number): this {
    return this.family(name, type, help).sample(value);
  }

  get text(): string {
    return this.#text;
  }
}
