import { readFileSync } from 'node:fs';
import type { Secret } from '../config/secret.ts';
import type { RelayOptions } from '../runtime/relay-transport.ts';

/** A relay as it is configured. */
export interface ConfiguredRelay {
  readonly relay?: Secret | undefined;
  readonly relayTls: RelayOptions['tls'];
  readonly relayCa?: string | undefined;
}

/**
 * The transport options of `smtp://user:password@host:port`; undefined when no relay is configured.
 * @throws when the relay's CA file cannot be read
 */
export function relayOf(configured: ConfiguredRelay, hostname: string): RelayOptions | undefined {
  if (configured.relay === undefined) return undefined;
  const url = new URL(configured.relay.reveal());
  const implicitTls = url.protocol === 'smtps:';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (implicitTls ? 465 : 587) : Number(url.port),
    implicitTls,
    ...(url.username !== '' && {
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    }),
    tls: configured.relayTls,
    ...(configured.relayCa !== undefined && { ca: readFileSync(configured.relayCa, 'utf8') }),
    // RFC 5321 §4.1.1.1 requires a fully qualified name; relays refuse "localhost" from other
    // machines.
    ...(hostname.includes('.') && { name: hostname }),
  };
}
