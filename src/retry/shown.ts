/** What customers see of a job's result (siblings §6), as JSON text: answers and completion events show the same. */
import type { RetryJob } from './job.ts';

/** JSON text of `result`. @param body JSON text of its body, or null */
export function resultJson({ result }: Pick<RetryJob, 'result'>, body: string | null): string {
  if (result === null) return 'null';
  const { statusCode, contentType, sizeBytes, isTruncated } = result;
  return (
    `{"status_code":${statusCode},"content_type":${JSON.stringify(contentType)},"body":${body ?? 'null'},` +
    `"size_bytes":${sizeBytes},"truncated":${isTruncated}}`
  );
}
