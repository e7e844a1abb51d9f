/** A record as its shape reads it, of the board that the sink knows by the token. */
import type { JobSink } from './job-sink.ts';
import type { Shape, ShapeContext, Shaped } from './shapes/shape.ts';

/** A token that the sink has in another case makes another record: ids and addresses contain it. */
export function shapedFor(
  sink: Pick<JobSink, 'tokenOf'>,
  shape: Shape,
  record: unknown,
  context: ShapeContext,
): Shaped {
  const shaped = shape.nativeOf(record, context);
  if (shaped.board === undefined) return shaped;
  const token = sink.tokenOf?.(shape.name, shaped.board) ?? shaped.board;
  return token === shaped.board ? shaped : shape.nativeOf(record, { ...context, token });
}
