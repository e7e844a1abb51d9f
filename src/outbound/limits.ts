/** Bounds of outbound requests, with their reasons. The time and the bytes of one request come with it. */
import { MINUTE_MS } from '../base/durations.ts';
import { KIB, MIB } from '../base/sizes.ts';

/** Characters of a target (siblings §5). */
export const TARGET_LENGTH_MAX = 2048;
/** Requests to one host at a time (siblings §5): as many as a customer's small server bears. */
export const HOST_SLOTS_MAX = 4;
/** Milliseconds without an answer after which a host gets no further slot while others wait. */
export const SILENCE_MS = 2000;
/** Milliseconds after which a silent host gets another chance; with a request in flight by then, it waits as long again. */
export const SILENT_KEPT_MS = MINUTE_MS;
/** Requests under way at a time (`OUTBOUND_CONCURRENCY`). */
export const CONCURRENCY_MAX = 10_000;
/**
 * Silent hosts that are remembered; beyond that, the one that fell silent first is forgotten. Not fewer than requests under way,
 * because a host that has one is not forgotten.
 */
export const SILENT_HOSTS_MAX = CONCURRENCY_MAX;
/** Silent hosts that are checked for one slot that nothing else can use: all their customers may be at their half. */
export const SILENT_LOOKS_MAX = 8;
/** Connecting, the TLS handshake included (siblings §5), milliseconds. */
export const CONNECT_MS = 5000;
/** Look-up of a name, milliseconds. */
export const LOOK_UP_MS = 5000;
/** Once one address family is resolved, the other has this long, milliseconds: some name servers never answer AAAA. */
export const OTHER_FAMILY_MS = 500;
/** Status line and headers of an answer (siblings §5), bytes. */
export const HEAD_BYTES_MAX = 32_768;
/** Body of an answer to a customer's request (siblings §5), on the wire and unpacked, bytes. */
export const WIRE_BYTES_MAX = 2 * MIB;
export const UNPACKED_BYTES_MAX = 8 * MIB;
/** An answer beyond these bounds, in the words of messages to customers. */
export const TOO_LARGE_ANSWER = `a head over ${HEAD_BYTES_MAX / KIB} KiB or a body over ${UNPACKED_BYTES_MAX / MIB} MiB unpacked`;
/** Addresses of a name that are tried; all of its addresses are judged. */
export const ADDRESSES_TRIED_MAX = 8;
/** Content codings applied to one body; more are left packed. */
export const CODINGS_MAX = 2;

/** Characters of a shown `content_type`; RFC 6838 types have at most 255, the rest is for parameters. */
export const CONTENT_TYPE_LENGTH_MAX = 512;
