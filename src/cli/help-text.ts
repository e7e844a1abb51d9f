/** Text of `--help`: paragraphs and two-column tables that fit {@link HELP_COLUMNS} columns. */

/** Widest line of a help text, in characters. */
const HELP_COLUMNS = 100;
/** Widest left column of a table; a longer cell stands on a line of its own, above its text. */
const LEFT_COLUMNS_MAX = 30;
const MARGIN = '  ';
const GAP = '  ';

/** Breaks text at its blanks into lines of at most `columns` characters; a longer word stands alone. Line breaks count as blanks. */
function linesOf(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** One paragraph with its line end. @param indent characters before all lines but the first */
export function paragraph(text: string, indent = 0): string {
  return `${linesOf(text, HELP_COLUMNS - indent).join(`\n${' '.repeat(indent)}`)}\n`;
}

/** Two columns. The left one is as wide as its longest cell that is no longer than {@link LEFT_COLUMNS_MAX}. */
export function table(rows: readonly (readonly [string, string])[]): string {
  const lengths = rows.map(([left]) => left.length);
  const width = Math.max(0, ...lengths.filter((length) => length <= LEFT_COLUMNS_MAX));
  const before = MARGIN.length + width + GAP.length;
  const lines = rows.flatMap(([left, right]) => {
    const [first = '', ...others] = linesOf(right, HELP_COLUMNS - before);
    const head = left.length <= width ? [`${MARGIN}${left.padEnd(width)}${GAP}${first}`] : [MARGIN + left, first];
    return [head[0] as string, ...[...head.slice(1), ...others].map((line) => ' '.repeat(before) + line)];
  });
  return `${lines.join('\n')}\n`;
}
