/**
 * Decides whether a request asks for a page (RFC 9110 §12.5.1): it names `text/html` with a weight above 0 and not below that of
 * JSON. A wildcard does not count, because programs send it too.
 */
const WEIGHT = /^q=([01](?:\.\d{0,3})?)$/i;

function weightOf(accept: string, type: string): number {
  let weight = 0;
  for (const range of accept.split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (name.toLowerCase() !== type) continue;
    const given = parameters.map((parameter) => WEIGHT.exec(parameter)?.[1]).find((found) => found !== undefined);
    weight = Math.max(weight, given === undefined ? 1 : Number(given));
  }
  return weight;
}

/** @param accept the header's value, or null */
export function asksForHtml(accept: string | null): boolean {
  if (accept === null || !/text\/html/i.test(accept)) return false;
  const weight = weightOf(accept, 'text/html');
  return weight > 0 && weight >= weightOf(accept, 'application/json');
}
