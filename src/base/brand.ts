declare const brand: unique symbol;

/** A `Base` that only its parser makes, so that values of the same form but different meaning do not mix. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
