/** Options whose value is a time. */
import { parseDateTime } from '../base/date-time.ts';
import { UsageError } from './command.ts';

/** Milliseconds since 1970; undefined when the option is not given. @throws UsageError */
export function timeOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const timeMs = parseDateTime(text);
  if (timeMs === undefined) throw new UsageError(`--${name} must be an RFC 3339 date-time or a date`);
  return timeMs;
}
