import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { errorFields, type Logger } from '../observability/logger.ts';
import { socketPathOf } from '../runtime/local-socket.ts';

/**
 * The admin routes on a socket in the data folder, for commands of this machine. Only the gateway's user
 * can open it, who can read the store as well, so no password is asked for.
 */
export class LocalDoor {
  readonly #users = new WeakMap<IncomingMessage, string>();
  #stop = (): Promise<void> => Promise.resolve();

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
      const { path, close } = await socketPathOf(dir);
      this.#stop = close;
      // Left by a gateway that was killed: this one holds the folder's lock.
      await rm(path, { force: true });
      await once(server.listen(path), 'listening');
      // The folder's mode has kept others out until now.
      await chmod(path, 0o600);
    } catch (error) {
      logger.warn('admin.no_socket', errorFields(error));
    }
    server.on('error', (error) => logger.warn('admin.no_socket', errorFields(error)));
    const release = this.#stop;
    this.#stop = async () => {
      const closed = server.listening ? once(server, 'close') : undefined;
      server.close();
      server.closeAllConnections();
      await closed;
      // Not before: its path is that of the socket, which ends with the server.
      await release();
    };
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}
