import type { Config } from '../config/config.ts';

/** Each connection has its socket, and a file while a large message comes. */
const PER_SMTP_CONNECTION = 2;
/** Webhooks, uploads and open chats: a busy shop's, since nothing bounds them all together. */
const FOR_HTTP = 1000;
/** Databases, logs, threads, the console, deliveries and look-ups. */
const OF_ITS_OWN = 200;

/** Behind the number, in words. */
export const NEEDED_FOR = 'for smtp.maxConnections, HTTP and its own files';

/** Files and sockets that a gateway can have open at the same time under its configuration. */
export function neededDescriptors({ smtp, http }: Pick<Config, 'smtp' | 'http'>): number {
  return (
    OF_ITS_OWN +
    (smtp.enabled ? PER_SMTP_CONNECTION * smtp.maxConnections : 0) +
    (http.enabled ? FOR_HTTP : 0)
  );
}
