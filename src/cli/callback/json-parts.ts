/**
 * Pieces of JSON text, unchanged. Parsing a value and writing it again would change its numbers and its order of keys, and drop
 * repeated keys. The caller has parsed the text before; for text that is not JSON the results are meaningless. One pass each.
 */

/** The texts between the commas of an array or object, without the white space around them. */
export function partsOf(json: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < json.length; i++) {
    switch (json[i]) {
      case '"':
        for (i++; i < json.length && json[i] !== '"'; i++) if (json[i] === '\\') i++;
        break;
      case '[':
      case '{':
        if (depth++ === 0) start = i + 1;
        break;
      case ']':
      case '}':
        if (--depth === 0) parts.push(json.slice(start, i).trim());
        break;
      case ',':
        if (depth === 1) {
          parts.push(json.slice(start, i).trim());
          start = i + 1;
        }
        break;
    }
  }
  return parts.length === 1 && parts[0] === '' ? [] : parts;
}

/** Text of the member `name` of an object, the first one when it repeats; undefined when there is none. */
export function memberOf(json: string, name: string): string | undefined {
  const key = JSON.stringify(name);
  for (const part of partsOf(json)) {
    if (!part.startsWith(key)) continue;
    return part.slice(part.indexOf(':', key.length) + 1).trim();
  }
  return undefined;
}
