/** The URL of an operation with its declaration's example, such as `/v1/jobs/search?keyword=data+engineer&limit=3`. */
import { exampleSearchOf } from '../../access/x402-discovery.ts';
import type { Operation } from '../../http/operation.ts';

export const exampleUrl = (operation: Operation, baseUrl: string): string =>
  baseUrl + operation.path + exampleSearchOf(operation);
