import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** The socket in a data folder on which its gateway answers commands of this machine. */
const NAME = 'admin.sock';
/** What fits an address (unix(7); macOS's is the shorter one). Node cuts a longer path off without an error. */
const MAX_PATH_BYTES = 103;

/** A path of the socket that is short enough, and can be used until `close`. */
export interface SocketPath {
  readonly path: string;
  readonly close: () => Promise<void>;
}

/**
 * Linux has a short path for every folder that is open.
 * @throws the system's error: the folder cannot be read, or its path is too long elsewhere
 */
export async function socketPathOf(dir: string): Promise<SocketPath> {
  const path = join(dir, NAME);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, close: () => Promise.resolve() };
  if (process.platform !== 'linux') {
    const error = new Error('the path of the data folder is too long for a socket');
    throw Object.assign(error, { code: 'ENAMETOOLONG' });
  }
  const folder = await open(dir, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${folder.fd}/${NAME}`, close: () => folder.close() };
}
