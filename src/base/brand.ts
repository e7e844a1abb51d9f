declare const brand: unique symbol;

/** A `Base` that only its parser can make, so that look-alike strings and numbers do not mix. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };
