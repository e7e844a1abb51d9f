/** Packages that a server does not need; the commands that need one import it here. */
import { errorCodeOf } from '../base/failure.ts';
import { CommandError } from './command.ts';

/** @throws CommandError that names the packages to install, when one is missing */
export async function optional<T>(load: () => Promise<T>, purpose: string, packages: string): Promise<T> {
  try {
    return await load();
  } catch (failure) {
    if (errorCodeOf(failure) !== 'ERR_MODULE_NOT_FOUND') throw failure;
    throw new CommandError(`${purpose}: npm install ${packages}`);
  }
}
