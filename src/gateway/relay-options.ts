import { readFileSync } from 'node:fs';
import type { Secret } from '../config/secret.ts';
import type { RelayOptions } from '../runtime/relay-transport.ts';

/** A relay as the configuration names it. */
export interface ConfiguredRelay {
  readonly relay?: Secret | undefined;
  readonly relayTls: RelayOptions['tls'];
  readonly relayCa?: string | undefined;
}

/**
 * What a transport needs of `smtp://user:password@host:port`; undefined without one.
 * @throws when the file of the relay's authority cannot be read
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
    // RFC 5321 §4.1.1.1 wants a full name; relays refuse "localhost" from others.
    ...(hostname.includes('.') && { name: hostname }),
  };
}
