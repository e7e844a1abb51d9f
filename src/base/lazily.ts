/** The function that `make` gives, made at the first call. */
export function lazily<Input, Output>(make: () => (input: Input) => Output): (input: Input) => Output {
  let made: ((input: Input) => Output) | undefined;
  return (input) => {
    made ??= make();
    return made(input);
  };
}
