import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';
import type { CompleteConfig } from '../config/complete.ts';
import { ipNetwork } from '../runtime/ip-addresses.ts';
import type { Channel } from '../domain/channel.ts';
import { clientIpOf } from './public-http.ts';

/** Whose tries at the password count together. */
export function networkOf(trustProxy: readonly string[]): (request: IncomingMessage) => string {
  const clientIp = clientIpOf(trustProxy);
  return (request) => ipNetwork(clientIp(request));
}

/** The browser speaks TLS with a proxy that is to be believed; this listener itself does not. */
export function isSecureOf(trustProxy: readonly string[]): (request: IncomingMessage) => boolean {
  if (trustProxy.length === 0) return () => false;
  const trust = proxyAddr.compile([...trustProxy]);
  return ({ headers, socket }) => {
    const proto = headers['x-forwarded-proto'];
    const first = typeof proto === 'string' ? proto.split(',', 1)[0]?.trim().toLowerCase() : '';
    return first === 'https' && trust(socket.remoteAddress ?? '', 0);
  };
}

/** Channels that a shop has and whose door is open. */
export function enabledChannels({ shops, smtp, http }: CompleteConfig): ReadonlySet<Channel> {
  const channels = shops.flatMap(({ email, sms, chat }): Channel[] => [
    ...(email !== undefined && (smtp.enabled || http.enabled) ? (['email'] as const) : []),
    ...(sms !== undefined && http.enabled ? (['sms'] as const) : []),
    ...(chat !== undefined && http.enabled ? (['web_chat'] as const) : []),
  ]);
  return new Set(channels);
}
