import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';

/** Greets without the library's delay of 100 ms, which would dominate the measurement. */
class PromptConnection extends SMTPConnection {
  override init(): void {
    this._setListeners(() => setImmediate(() => this.connectionReady()));
  }
}

class PromptServer extends SMTPServer {
  override connect(...[socket, options]: Parameters<SMTPServer['connect']>): void {
    const connection = new PromptConnection(this, socket, options);
    this.connections.add(connection);
    connection.on('error', () => undefined);
    connection.init();
  }
}

/** The plain library otherwise: it reads each message and answers 250. */
export async function start() {
  const server = new PromptServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onData(stream, _session, callback) {
      stream.resume();
      stream.once('end', () => callback());
    },
  });
  server.on('error', () => undefined);
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port: () => port };
}
