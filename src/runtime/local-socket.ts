import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** The socket in a data folder on which its gateway answers commands of this machine. */
const NAME = 'admin.sock';
/** What fits an address (unix(7), macOS's is the shorter one). Node cuts a longer path off without an error. */
const MAX_PATH_BYTES = 103;

/**
 * Calls `use` with a path of the socket that is short enough. Linux has one for every folder.
 * @throws the system's error: the folder cannot be read, or its path is too long elsewhere
 */
export async function withSocketPath<Result>(
  dir: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const path = join(dir, NAME);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return use(path);
  if (process.platform !== 'linux') {
    throw Object.assign(new Error('the path of the data folder is too long for a socket'), {
      code: 'ENAMETOOLONG',
    });
  }
  const folder = await open(dir, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await use(`/proc/self/fd/${folder.fd}/${NAME}`);
  } finally {
    await folder.close();
  }
}
