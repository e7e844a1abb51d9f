/** Work that may pause between its steps, so that other work runs in between. */
export type Steps<T> = Generator<void, T>;

/** Takes all steps at once. */
export function resultOf<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
