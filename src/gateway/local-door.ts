import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { errorFields, type Logger } from '../observability/logger.ts';
import { withSocketPath } from '../runtime/local-socket.ts';

/** Readable and writable by the gateway's own user only. */
const UMASK = 0o177;

/**
 * The admin routes on a socket in the data folder, for commands of this machine. Whoever can open it can
 * read the store as well, so no password is asked for.
 */
export class LocalDoor {
  readonly #users = new WeakMap<IncomingMessage, string>();
  #server: Server | undefined;

  /** Who runs the command, as the audit log names them; undefined for a request of another listener. */
  userOf(request: IncomingMessage): string | undefined {
    return this.#users.get(request);
  }

  /** Without a socket, as in a folder of some network mounts, commands read the store themselves. */
  async open(dir: string, app: RequestListener, logger: Logger): Promise<void> {
    const server = createServer((request, response) => {
      const name = request.headers['x-sluice-user'];
      const isName = typeof name === 'string' && /^[\w.@?-]{1,64}$/.test(name);
      this.#users.set(request, isName ? `terminal:${name}` : 'terminal');
      app(request, response);
    });
    try {
      await withSocketPath(dir, async (path) => {
        // Left by a gateway that was killed: this one holds the folder's lock.
        await rm(path, { force: true });
        const before = process.umask(UMASK);
        try {
          server.listen(path);
        } finally {
          process.umask(before);
        }
        await once(server, 'listening');
      });
      server.on('error', (error) => logger.warn('admin.no_socket', errorFields(error)));
      this.#server = server;
    } catch (error) {
      logger.warn('admin.no_socket', errorFields(error));
    }
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }
}
