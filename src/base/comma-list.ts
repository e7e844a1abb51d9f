/** The entries of a comma-separated list, without blanks around them; an empty text lists nothing, a stray comma an empty entry. */
export const commaList = (text: string): string[] =>
  text.trim() === '' ? [] : text.split(',').map((entry) => entry.trim());
