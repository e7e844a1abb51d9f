/** Numbers that follow one another, which are read from a file together. */
export interface Run {
  readonly first: number;
  readonly count: number;
}

/** The runs of some numbers, in their order. */
export function runsOf(numbers: readonly number[]): Run[] {
  const runs: Run[] = [];
  for (let start = 0, end = 1; start < numbers.length; start = end, end++) {
    while (end < numbers.length && numbers[end] === numbers[end - 1]! + 1) end++;
    runs.push({ first: numbers[start]!, count: end - start });
  }
  return runs;
}
