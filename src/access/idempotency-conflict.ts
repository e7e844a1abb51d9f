/** The refusal of an `Idempotency-Key` that was used with another body (siblings §6), by its job or by its payment. */
import { defineErrors, refuse } from '../http/errors.ts';

export const { IDEMPOTENCY_CONFLICT } = defineErrors({ IDEMPOTENCY_CONFLICT: { status: 409 } });

export const idempotencyConflict = () =>
  refuse(IDEMPOTENCY_CONFLICT, 'this Idempotency-Key was used with another body');
