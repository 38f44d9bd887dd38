import type { Config } from '../config/config.ts';

/** Each connection has a socket, and a file while a large message arrives. */
const PER_SMTP_CONNECTION = 2;
/** Webhooks, uploads and chats of a busy shop; there is no total limit to derive it from. */
const FOR_HTTP = 1000;
/** Databases, logs, threads, the console, deliveries and DNS queries. */
const OF_ITS_OWN = 200;

/** What the number is for, as shown in messages. */
export const NEEDED_FOR = 'for smtp.maxConnections, HTTP and its own files';

/** The files and sockets that a gateway with this configuration can have open at the same time. */
export function neededDescriptors({ smtp, http }: Pick<Config, 'smtp' | 'http'>): number {
  return (
    OF_ITS_OWN +
    (smtp.enabled ? PER_SMTP_CONNECTION * smtp.maxConnections : 0) +
    (http.enabled ? FOR_HTTP : 0)
  );
}
