/** Facts about a caught value of any type, for log lines and messages; control flow reads codes, never messages. */

/** The message of an Error, the text of any other value. */
export const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure));

/** The stack of an Error where it has one, else its message; the text of any other value. */
export const stackOf = (failure: unknown): string =>
  failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);

/** The first line of the message, for output that gives each failure one line. */
export const firstLineOf = (failure: unknown): string => messageOf(failure).split('\n', 1)[0] as string;

/** The `code` that runtimes put on errors of the system (ENOENT, ECONNREFUSED); undefined when there is none. */
export function errorCodeOf(failure: unknown): string | undefined {
  const { code } = (failure ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
