/** Sentences about the limits of the catalogue's answers. */

/** The limitations that every answer about the catalogue states (jobs-intelligence "Envelope and `meta`"). */
export const LIMITATIONS = [
  'The figures describe the monitored catalogue, not the labour market.',
  'Missing fields and unclassified workplace types are not inferred.',
  'A job that is no longer observed does not prove a hire.',
  'Skills are deterministic extractions from title and description, or as recorded by the source; not a complete census.',
] as const;

/** Added while the built-in sample is served. */
export const SYNTHETIC = 'This server uses its built-in sample: every job and company in it is made up.';
