/** Whether a path begins with `~`, which only a shell replaces: left as it is, it names a folder "~" of the current one. */
export const isHomePath = (path: string): boolean => /^~(\/|$)/.test(path);

/** What a path must be in its place. */
export const NO_HOME_PATH = 'a path without ~, which only a shell replaces';
