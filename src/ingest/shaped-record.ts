/** Reads a record by its shape, with the board's token as the sink spells it. */
import type { JobSink } from './job-sink.ts';
import type { Shape, ShapeContext, Shaped } from './shapes/shape.ts';

/** If the sink spells the token in another case, the record is read again, because ids and addresses contain it. */
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
