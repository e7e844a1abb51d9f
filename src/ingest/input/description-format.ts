/** What a native record says that its description is. */
export const DESCRIPTION_FORMATS = ['html', 'text'] as const;
export type DescriptionFormat = (typeof DESCRIPTION_FORMATS)[number];
