import type TwilioSDK from 'twilio';
import { ProviderFailed } from '../../../channels/sms/providers/requests.ts';
import type { TwilioAccount } from '../../../channels/sms/providers/twilio/account.ts';
import {
  apiCalls,
  connectTwilio,
  type Credential,
} from '../../../channels/sms/providers/twilio/transport.ts';

/** The webhooks of inbound messages; an empty URL is not set. */
export interface InboundSettings {
  readonly url: string;
  readonly method: string;
  readonly fallbackUrl: string;
  readonly fallbackMethod: string;
}

/** A number or short code of the account. */
export interface Sender extends InboundSettings {
  readonly kind: 'number' | 'short code';
  /** PN… or SC… */
  readonly sid: string;
  /** If it is set, the application's settings are used instead of the number's own. */
  readonly applicationSid: string | undefined;
}

export interface MessagingService extends InboundSettings {
  /** MG… */
  readonly sid: string;
  /** The webhook of the number is called, not that of the service. */
  readonly usesNumbersOwn: boolean;
  /** The SIDs of its numbers and short codes; not requested if they use their own webhooks. */
  readonly senders: readonly string[];
}

/** A failed request; `message` is for an operator. */
export class TwilioTrouble extends Error {
  override name = 'TwilioTrouble';
  readonly kind: 'refused' | 'forbidden' | 'unreachable' | 'other';
  constructor(kind: TwilioTrouble['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Limit of services read. */
const MAX_SERVICES = 200;
const MAX_SENDERS = 2000;
/** The filter by number also matches parts of numbers. */
const MAX_MATCHES = 100;

export type ConnectedAccount = Awaited<ReturnType<typeof connectAccount>>;

/**
 * The account over Twilio's REST API (2010-04-01 and Messaging v1). Every method of the result
 * rejects with TwilioTrouble.
 */
export async function connectAccount(
  account: TwilioAccount,
  credential: Credential,
  timeoutMs: number,
) {
  const { accountSid, apiBaseUrl: baseUrl } = account;
  const client = await connectTwilio(accountSid, credential, apiCalls({ baseUrl, timeoutMs }));
  return {
    /** Sends a minimal request, which fails when the credential is refused. */
    ping: () =>
      withTwilioTrouble(async () => {
        await client.incomingPhoneNumbers.list({ limit: 1 });
      }),
    find: (number: string) => withTwilioTrouble(() => findSender(client, number)),
    application: (sid: string) =>
      withTwilioTrouble(async () => ofSms(await client.applications(sid).fetch())),
    services: () => withTwilioTrouble(() => listServices(client)),
    /** Resolves with the settings that Twilio has afterwards. */
    update: (sender: Sender, changes: Partial<InboundSettings>) =>
      withTwilioTrouble(() => updateSender(client, sender, changes)),
  };
}

async function findSender(client: TwilioSDK.Twilio, number: string): Promise<Sender | undefined> {
  if (number.startsWith('+')) {
    const found = await client.incomingPhoneNumbers.list({
      phoneNumber: number,
      limit: MAX_MATCHES,
    });
    const own = found.find(({ phoneNumber }) => phoneNumber === number);
    return own && toNumber(own);
  }
  const found = await client.shortCodes.list({ shortCode: number, limit: MAX_MATCHES });
  const own = found.find(({ shortCode }) => shortCode === number);
  return own && toShortCode(own);
}

async function updateSender(
  client: TwilioSDK.Twilio,
  sender: Sender,
  changes: Partial<InboundSettings>,
): Promise<Sender> {
  const params = {
    ...(changes.url !== undefined && { smsUrl: changes.url }),
    ...(changes.method !== undefined && { smsMethod: changes.method }),
    ...(changes.fallbackUrl !== undefined && { smsFallbackUrl: changes.fallbackUrl }),
    ...(changes.fallbackMethod !== undefined && { smsFallbackMethod: changes.fallbackMethod }),
  };
  return sender.kind === 'number'
    ? toNumber(await client.incomingPhoneNumbers(sender.sid).update(params))
    : toShortCode(await client.shortCodes(sender.sid).update(params));
}

async function listServices(client: TwilioSDK.Twilio): Promise<MessagingService[]> {
  const services: MessagingService[] = [];
  for (const service of await client.messaging.v1.services.list({ limit: MAX_SERVICES })) {
    const { sid, useInboundWebhookOnNumber: usesNumbersOwn } = service;
    services.push({
      sid,
      usesNumbersOwn,
      senders: usesNumbersOwn ? [] : await sendersOf(client, sid),
      url: text(service.inboundRequestUrl),
      method: text(service.inboundMethod),
      fallbackUrl: text(service.fallbackUrl),
      fallbackMethod: text(service.fallbackMethod),
    });
  }
  return services;
}

async function sendersOf(client: TwilioSDK.Twilio, service: string): Promise<string[]> {
  const context = client.messaging.v1.services(service);
  const numbers = await context.phoneNumbers.list({ limit: MAX_SENDERS });
  const codes = await context.shortCodes.list({ limit: MAX_SENDERS });
  return [...numbers, ...codes].map(({ sid }) => sid);
}

interface SmsFields {
  readonly smsUrl: string | null;
  readonly smsMethod: string | null;
  readonly smsFallbackUrl: string | null;
  readonly smsFallbackMethod: string | null;
}

const ofSms = (fields: SmsFields): InboundSettings => ({
  url: text(fields.smsUrl),
  method: text(fields.smsMethod),
  fallbackUrl: text(fields.smsFallbackUrl),
  fallbackMethod: text(fields.smsFallbackMethod),
});

const toNumber = (
  number: SmsFields & { readonly sid: string; readonly smsApplicationSid: string | null },
): Sender => ({
  kind: 'number',
  sid: number.sid,
  applicationSid: text(number.smsApplicationSid) || undefined,
  ...ofSms(number),
});

const toShortCode = (code: SmsFields & { readonly sid: string }): Sender => ({
  kind: 'short code',
  sid: code.sid,
  applicationSid: undefined,
  ...ofSms(code),
});

/** The API returns null where the library's types promise a value. */
const text = (value: string | null | undefined): string => value ?? '';

async function withTwilioTrouble<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw trouble(error);
  }
}

function trouble(error: unknown): unknown {
  // Anything else is a bug.
  if (!(error instanceof ProviderFailed)) return error;
  const { status, code } = error;
  if (status === undefined) {
    return new TwilioTrouble(
      'unreachable',
      code === 'not_json'
        ? "the response is not from Twilio's API"
        : `no response from Twilio (${code ?? 'network'})`,
    );
  }
  const said = `Twilio responded with ${status}${code === undefined ? '' : ` (error ${code})`}`;
  if (status === 401) return new TwilioTrouble('refused', said);
  if (status === 403) return new TwilioTrouble('forbidden', said);
  if (status === 429 || status >= 500) {
    return new TwilioTrouble('unreachable', `${said}; try again later`);
  }
  return new TwilioTrouble('other', said);
}
