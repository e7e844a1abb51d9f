/** The secrets that this server gives out begin alike: a client may put one where it does not belong. */
const SECRET = /svc_(?:[a-z]+_)+[A-Za-z0-9_-]*/g;

/** A text of a client as logs and messages may show it: without the keys and tokens of this server. */
export const withoutSecrets = (text: string): string => (text.includes('svc_') ? text.replace(SECRET, 'svc_…') : text);
