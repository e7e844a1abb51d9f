/** A digest by the runtime: 0.5 to 1 µs, where @noble/hashes takes 3 (Bun 1.4, Node 26). */
import { hash } from 'node:crypto';

/** SHA-256 (FIPS 180-4) of a text as UTF-8: 32 bytes as code units 0..255. */
export const sha256Latin1 = (text: string): string => hash('sha256', text, 'latin1');
