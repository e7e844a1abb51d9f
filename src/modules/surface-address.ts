/** The setting for the public address of an API that has a surface of its own. */
import { webAddress } from '../config/parsers.ts';
import { setting } from '../config/setting.ts';

/** @param path of the API below the base, beginning with a slash */
export const surfaceAddress = (variable: string, api: string, path: string) =>
  setting({
    variable,
    parse: webAddress,
    default: null,
    shownDefault: `BASE_URL${path}`,
    help: `public address of the ${api}`,
    detail: `The API always answers below the path \`${path}\` of the base. If the address has another host, it answers on that host too, at the path of the address.`,
  });
