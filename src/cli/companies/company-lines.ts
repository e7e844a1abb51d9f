/** What the commands about companies share, and lines for people about the directory. */
import { quoted, type TextOption } from '../command.ts';

export const CATALOGUE_OPTION = {
  type: 'text',
  value: 'DIR',
  help: 'folder of the catalogue that `import` fills',
  required: true,
} as const satisfies TextOption;

/** A warning about an operator's word that applies to no employer. */
export const unfittingLine = (key: string): string =>
  `note: ${quoted(key)} fits no board and no company of the catalogue; it is kept until one comes\n`;
