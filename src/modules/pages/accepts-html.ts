/**
 * Decides whether a request accepts a page (RFC 9110 §12.5.1). `text/html` has the weight of its own range, else that of
 * `text/*`, else that of any type. A request that prefers JSON, that names JSON but HTML only by a wildcard, or that has no
 * `Accept`, is taken for a program's.
 */
const WEIGHT = /^q=([01](?:\.\d{0,3})?)$/i;

/** Weights by media range in lower case; the greatest of a repeated range. */
function weightsOf(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const range of accept.split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const given = parameters.map((parameter) => WEIGHT.exec(parameter)?.[1]).find((found) => found !== undefined);
    const type = name.toLowerCase();
    weights.set(type, Math.max(weights.get(type) ?? 0, given === undefined ? 1 : Number(given)));
  }
  return weights;
}

/** @param accept the header's value, or null */
export function acceptsHtml(accept: string | null): boolean {
  if (accept === null) return false;
  const weights = weightsOf(accept);
  const json = weights.get('application/json');
  const named = weights.get('text/html');
  if (named !== undefined) return named > 0 && named >= (json ?? 0);
  return json === undefined && (weights.get('text/*') ?? weights.get('*/*') ?? 0) > 0;
}
