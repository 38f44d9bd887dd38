import { readFileSync } from 'node:fs';
import { connectTwilio } from '../channels/sms/twilio-api.ts';
import type { CompleteConfig } from '../config/complete.ts';
import type { RelayOptions } from '../local-platform/outbound/relay.ts';
import type { ConnectTwilio } from '../local-platform/outbound/twilio-sms.ts';
import type { RepliesOptions } from '../local-platform/outbound/ways-out.ts';

const TWILIO_TIMEOUT_MS = 30_000;

/**
 * How the embedded platform's answers leave, by the configuration.
 * @throws when the file of the relay's authority cannot be read
 */
export function localReplies(config: CompleteConfig): RepliesOptions {
  const relay = relayOf(config);
  return {
    ...(relay && { relay }),
    ...(config.localPlatform.replies.sms === 'twilio' && { twilio: twilioAccounts(config) }),
  };
}

function relayOf({ localPlatform: { replies }, smtp }: CompleteConfig): RelayOptions | undefined {
  if (replies.relay === undefined) return undefined;
  const url = new URL(replies.relay.reveal());
  const implicitTls = url.protocol === 'smtps:';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (implicitTls ? 465 : 587) : Number(url.port),
    implicitTls,
    ...(url.username !== '' && {
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    }),
    tls: replies.relayTls,
    ...(replies.relayCa !== undefined && { ca: readFileSync(replies.relayCa, 'utf8') }),
    // RFC 5321 §4.1.1.1 wants a full name; relays refuse "localhost" from others.
    ...(smtp.hostname.includes('.') && { name: smtp.hostname }),
  };
}

function twilioAccounts({ shops }: CompleteConfig): ReadonlyMap<string, ConnectTwilio> {
  return new Map(
    shops.flatMap(({ shopId, sms }): [string, ConnectTwilio][] => {
      if (sms === undefined) return [];
      const { accountSid, authTokens, apiKeySid, apiKeySecret, baseUrl } = sms.twilio;
      const [username, password] =
        apiKeySid !== undefined && apiKeySecret !== undefined
          ? [apiKeySid, apiKeySecret]
          : [accountSid, authTokens[0]];
      const connect = () =>
        connectTwilio({
          accountSid,
          username,
          password: password?.reveal() ?? '',
          baseUrl,
          timeoutMs: TWILIO_TIMEOUT_MS,
        });
      return [[shopId.toLowerCase(), connect]];
    }),
  );
}
