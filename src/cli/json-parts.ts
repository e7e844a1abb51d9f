/**
 * Pieces of JSON text as they stand there: a value that was parsed and written again has other numbers, another order of
 * keys and no repeated ones. The text has been parsed before; on other text the answers mean nothing. One pass each.
 */

/** What stands between the commas of an array or object, white space around it removed. */
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

/** Text of the member `name` of an object, the first of a repeated one; undefined when there is none. */
export function memberOf(json: string, name: string): string | undefined {
  const key = JSON.stringify(name);
  for (const part of partsOf(json)) {
    if (!part.startsWith(key)) continue;
    return part.slice(part.indexOf(':', key.length) + 1).trim();
  }
  return undefined;
}
