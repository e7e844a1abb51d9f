/** Names of organizations (siblings §3). */

export const ORGANIZATION_NAME_FORM = /^[a-z0-9-]{1,64}$/;
/** The form of a name in words, for messages. */
export const NAME_RULE = '1 to 64 of the characters a-z, 0-9 and -';

export const isOrganizationName = (text: string): boolean => ORGANIZATION_NAME_FORM.test(text);

/** The organization that a start with play money creates, so that the keyed routes can be tried at once. */
export const DEMO_ORGANIZATION = 'demo';
/** Its onboarding credits. */
export const DEMO_CREDITS = 10_000;
