/** Packages that a server does without, imported by the commands that need them. */
import { CommandError } from './command.ts';

/** @throws CommandError that names the packages to install, when one is not there */
export async function optional<T>(load: () => Promise<T>, purpose: string, packages: string): Promise<T> {
  try {
    return await load();
  } catch (failure) {
    if ((failure as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw failure;
    throw new CommandError(`${purpose}: npm install ${packages}`);
  }
}
