/** The URL of an operation with its declaration's example, such as `/v1/jobs/search?keyword=data+engineer&limit=3`. */
import type { Operation } from '../../http/operation.ts';

export function exampleUrl({ path, examples }: Operation, baseUrl: string): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(examples?.query ?? {})) query.append(name, String(value));
  return `${baseUrl}${path}${query.size === 0 ? '' : `?${query}`}`;
}
