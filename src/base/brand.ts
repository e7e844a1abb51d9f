declare const brand: unique symbol;

/** A `Base` that only its parser makes, so that values of equal form but different meaning cannot be mixed up. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
