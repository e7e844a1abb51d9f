/**
 * What the statements of this release need of the schema `paygrade`, once it is migrated. Tests compare this with a migrated database,
 * and run processes whose role has these rights only. An index that only saves time is not needed, nor is `migrating` any more.
 * Rights to sequences are needed only by the process that first enters restored tables (identity.ts).
 */

/**
 * `name rights columns | constraint | …`, with rights by the letters that PostgreSQL shows, `=` after a column that gets a value by
 * itself, and constraints by their columns in the order of the alphabet.
 */
const TABLE_LINES = `
  versions r domain version | UNIQUE (domain)
  processes arwd id started_ms lease_until_ms | UNIQUE (id)
  secrets ar name bytes | UNIQUE (name)
  claims arwd key serial= owner attempt valid_before state= transaction= | UNIQUE (key) | UNIQUE (serial)
  cases arwd serial owner settlement is_unknown= transaction= terms sale is_refused= | UNIQUE (serial)
  identifiers arwd digest fingerprint owner attempt serial kept_until_ms transaction= sealed | UNIQUE (digest)
  identity arw id tables used_before_seconds | UNIQUE (id) | CHECK (id)
  sales arwd serial key time_ms operation amount network payer nonce transaction settlement facts is_delivered=
    | UNIQUE (serial)
  play_spent arw payer atomic | UNIQUE (payer)
  play_transfers arwd key valid_before | UNIQUE (key)
  callbacks arwd id token_digest expires_ms event_count= last_event_id= last_received_s= is_over= | UNIQUE (id)
    | CHECK (event_count)
  callback_events ard callback_id id seq received_s head_rest charset size body | UNIQUE (callback_id, id)
    | FOREIGN KEY (callback_id)
  callback_claims arwd id until_ms | UNIQUE (id)
  callback_room rw id claimed | UNIQUE (id) | CHECK (id)
  callback_rates arwd id passes asked passed last_ms attempt= | UNIQUE (id)
  organizations arw name version= month_ms= charged= subscription= subscription_charged= | UNIQUE (name) | CHECK (charged)
    | CHECK (subscription) | CHECK (subscription_charged)
  onboarding_grants arwd serial= id organization amount remaining expires_ms | UNIQUE (serial) | UNIQUE (id)
    | CHECK (amount, remaining) | FOREIGN KEY (organization)
  api_keys arw serial= id digest organization scopes created_ms expires_ms used_ms revoked_ms | UNIQUE (serial)
    | UNIQUE (id) | UNIQUE (digest) | FOREIGN KEY (organization)
  credit_entries arwd id organization amount at_ms | UNIQUE (id)
  rate_sums ard process serial at_ms sums | UNIQUE (process, serial)
  retries arwd id customer key_digest next_ms holder hold is_abandoned= version= change_id= state secrets result_body
    | UNIQUE (id) | UNIQUE (key_digest) for some rows
  retry_usage arw organization month_ms created attempts delivered | UNIQUE (month_ms, organization)
  retry_claims arwd key_digest owner until_ms | UNIQUE (key_digest)
  resolves arwd id token_digest created_ms status question outcome outcome_bytes= holder hold | UNIQUE (id)`;

const FUNCTIONS = ['now_ms()', 'is_alive(text)', 'cluster_id()', 'tables_id()'];

const RIGHTS: Readonly<Record<string, string>> = { r: 'SELECT', a: 'INSERT', w: 'UPDATE', d: 'DELETE' };

/** A table, a function, or what one of them has: `object TAB kind TAB text`, where `kind` is `object`, `part` or `right`. */
export type Part = string;

const partsOf = (table: string): Part[] => {
  const [head = '', ...constraints] = table.split(/\s+\| /);
  const [name, rights = '', ...columns] = head.split(' ');
  const texts = [
    ...columns.map((column) => `column ${column.replace('=', '')}`),
    ...columns.filter((column) => column.endsWith('=')).map((column) => `DEFAULT (${column.slice(0, -1)})`),
    ...constraints,
  ];
  return [
    `table ${name}\tobject\t`,
    ...texts.map((text) => `table ${name}\tpart\t${text}`),
    ...[...rights].map((right) => `table ${name}\tright\t${RIGHTS[right]}`),
  ];
};

export const NEEDED: readonly Part[] = [
  'schema paygrade\tright\tUSAGE',
  ...FUNCTIONS.flatMap((name) => [`function ${name}\tobject\t`, `function ${name}\tright\tEXECUTE`]),
  ...TABLE_LINES.trim()
    .split(/\n {2}(?=\w)/)
    .flatMap(partsOf),
];
