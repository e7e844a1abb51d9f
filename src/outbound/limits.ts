/** Bounds of outbound requests, with their reasons. What a customer's policy sets (whole time, bytes) comes with each request. */

/** Characters of a target (siblings §5). */
export const TARGET_LENGTH_MAX = 2048;
/** Requests to one host at a time (siblings §5): what a small server of a customer bears. */
export const HOST_SLOTS_MAX = 4;
/** Milliseconds without an answer after which a host gets no further slot while others wait. */
export const SILENCE_MS = 2000;
/** Milliseconds for which a silent host with nothing in flight counts as silent; then it gets another chance. */
export const SILENT_KEPT_MS = 60_000;
/** Silent hosts that are remembered; beyond it the one forgotten is the one that fell silent first. */
export const SILENT_HOSTS_MAX = 10_000;
/** Silent hosts looked at for one slot that nothing else can use: the customers of all of them may be at their half. */
export const SILENT_LOOKS_MAX = 8;
/** Connecting, the TLS handshake included (siblings §5), milliseconds. */
export const CONNECT_MS = 5000;
/** Look-up of a name, milliseconds. */
export const LOOK_UP_MS = 5000;
/** After one address family has answered, the other has this long, milliseconds: some name servers never answer for AAAA. */
export const OTHER_FAMILY_MS = 500;
/** Status line and headers of an answer (siblings §5), bytes. */
export const HEAD_BYTES_MAX = 32_768;
/** Addresses of a name that are tried. All of them are judged. */
export const ADDRESSES_TRIED_MAX = 8;
/** Content codings on top of each other; more are left packed. */
export const CODINGS_MAX = 2;
