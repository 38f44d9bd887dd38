import { z } from 'zod';
import { isE164, parseAddress } from '../../address.ts';
import type {
  ListedShop,
  ListedText,
  ListOptions,
  MessageLists,
  ProviderLists,
  ReceivedText,
} from '../../provider.ts';
import { pacedCalls } from '../paced-calls.ts';
import { ProviderFailed } from '../requests.ts';
import type { TwilioShopAccount } from './account.ts';
import { FormFields, type FormPairs, readIdentity } from './form.ts';
import { MAX_MEDIA } from './media.ts';
import { receivedText } from './texts.ts';
import { apiCalls, connectTwilio, type Credential, credentialsOf } from './transport.ts';

/** Twilio's maximum page size. */
const PAGE_SIZE = 1000;

/** One Twilio account, with all of its shops. */
export interface ReconciledAccount {
  readonly accountSid: string;
  readonly credential: Credential;
  readonly apiBaseUrl: string | undefined;
  /**
   * The values of To to list by. Undefined lists the whole account, because messages of a messaging
   * service cannot be filtered.
   */
  readonly addresses: readonly string[] | undefined;
}

/** The accounts with a credential. An API key of any shop is preferred. */
export function accountsOf(
  shops: readonly ListedShop<TwilioShopAccount>[],
): readonly ReconciledAccount[] {
  const bySid = new Map<string, ListedShop<TwilioShopAccount>[]>();
  for (const shop of shops) {
    const { accountSid } = shop.account;
    bySid.set(accountSid, [...(bySid.get(accountSid) ?? []), shop]);
  }
  return [...bySid].flatMap(([accountSid, ofAccount]) => {
    const keyed = ofAccount.find(({ account }) => account.apiKeySecret !== undefined);
    const account = (keyed ?? ofAccount[0])?.account;
    const [credential] = account ? credentialsOf(account) : [];
    if (credential === undefined) return [];
    const { apiBaseUrl } = account ?? {};
    return [{ accountSid, credential, apiBaseUrl, addresses: addressesOf(ofAccount) }];
  });
}

function addressesOf(shops: readonly ListedShop[]): string[] | undefined {
  if (shops.some(({ services = [] }) => services.length > 0)) {
    return undefined;
  }
  const addresses = shops.flatMap(({ numbers }) =>
    numbers.flatMap((number) => {
      const { transport, address } = parseAddress(number);
      if (isE164(address)) return [address, `whatsapp:${address}`, `rcs:${address}`];
      return transport === 'sms' ? [address] : [number];
    }),
  );
  return [...new Set(addresses)];
}

const TIMEOUT_MS = 30_000;

export const twilioLists: ProviderLists<TwilioShopAccount> = {
  // Twilio gives a webhook 15 s including all retries.
  inFlightMs: 20_000,
  // 100,000 messages.
  maxPages: 100,
  accountsOf: (shops) =>
    accountsOf(shops).map((account) => ({
      id: account.accountSid,
      name: account.accountSid,
      addresses: account.addresses,
      connect: (options) => connectMessageLists(account, options),
    })),
};

/** The lists of one account; its requests are sent one after the other. */
async function connectMessageLists(
  { accountSid, credential, apiBaseUrl }: ReconciledAccount,
  options: ListOptions,
): Promise<MessageLists> {
  const { clock, signal } = options;
  let clockAheadMs = 0;
  const call = apiCalls({
    baseUrl: apiBaseUrl,
    timeoutMs: TIMEOUT_MS,
    ...{ clock, signal },
    onDate: (date) => {
      const theirs = Date.parse(date ?? '');
      if (!Number.isNaN(theirs)) clockAheadMs = Math.max(clockAheadMs, clock() - theirs);
    },
  });
  const client = await connectTwilio(accountSid, credential, pacedCalls(call, options));
  const { messages } = client.api.v2010.accounts(accountSid);
  const mediaOf = async (messageSid: string): Promise<readonly ListedMedium[]> => {
    const { instances } = await messages(messageSid).media.page({ pageSize: MAX_MEDIA });
    return instances.map((instance) => listedMedium.parse(instance));
  };
  return {
    get clockAheadMs() {
      return clockAheadMs;
    },
    async *pages(to, span) {
      // Spans may overlap by a second at their ends, because known messages are not accepted twice.
      let page: MessagePage | undefined = await messages.page({
        pageSize: PAGE_SIZE,
        ...(to !== undefined && { to }),
        dateSentAfter: new Date(span.from),
        ...(span.to !== undefined && { dateSentBefore: new Date(span.to + 1000) }),
      });
      while (page !== undefined) {
        // Annotated, because the type of a page refers to itself.
        const { instances }: MessagePage = page;
        yield instances
          .map((instance) => listedMessage.parse(instance))
          .filter(hasArrived)
          .map(asListed);
        page = await page.nextPage();
      }
    },
    receive: async (listed, onMediaLost) => {
      // Lists contain nothing else.
      const { message } = listed as ListedAtTwilio;
      const media =
        message.numMedia > 0 ? await mediaStillThere(() => mediaOf(message.sid), onMediaLost) : [];
      return asReceived(message, media);
    },
  };
}

/** A message is accepted even if its media are no longer available. */
async function mediaStillThere(
  media: () => Promise<readonly ListedMedium[]>,
  onMediaLost: (reason: string) => void,
): Promise<readonly ListedMedium[]> {
  try {
    return await media();
  } catch (error) {
    if (!(error instanceof ProviderFailed) || error.kind !== 'never') throw error;
    onMediaLost(error.message);
    return [];
  }
}

interface ListedAtTwilio extends ListedText {
  readonly message: ListedMessage;
}

const asListed = (message: ListedMessage): ListedAtTwilio => ({
  id: message.sid,
  account: message.accountSid,
  service: message.messagingServiceSid ?? undefined,
  to: message.to ?? '',
  sentAt: (message.dateSent ?? message.dateCreated)?.getTime(),
  message,
});

/** @throws {BadParameter} */
function asReceived(message: ListedMessage, media: readonly ListedMedium[]): ReceivedText {
  const pairs = toPairs(message, media);
  return receivedText(readIdentity(new FormFields(pairs)), pairs);
}

/** A message that is still `receiving` is listed again as `received`. */
const hasArrived = ({ direction, status }: ListedMessage): boolean =>
  direction === 'inbound' && status !== 'receiving';

/** The package does not export the type of its pages. */
interface MessagePage {
  readonly instances: readonly unknown[];
  nextPage(): Promise<MessagePage> | undefined;
}

/**
 * A message in the Messages list (REST API, Message resource), with the names that `twilio` uses.
 * Only the members that are used; Twilio may add others.
 */
const listedMessage = z.object({
  sid: z.string(),
  accountSid: z.string(),
  direction: z.string(),
  status: z.string().nullish(),
  from: z.string().nullish(),
  to: z.string().nullish(),
  body: z.string().nullish(),
  numSegments: z.coerce.string().nullish(),
  numMedia: z.coerce.number().int().min(0).catch(0),
  messagingServiceSid: z.string().nullish(),
  // The package passes on invalid dates unchanged.
  dateSent: z.date().nullish().catch(undefined),
  dateCreated: z.date().nullish().catch(undefined),
});
type ListedMessage = z.output<typeof listedMessage>;

const listedMedium = z.object({
  sid: z.string(),
  contentType: z.string().nullish(),
  dateCreated: z.date().nullish().catch(undefined),
});
type ListedMedium = z.output<typeof listedMedium>;

/**
 * The parameters with which the webhook would have delivered this message, as far as the REST API
 * has them. ProfileName, ButtonText, the location and OptOutType exist in webhooks only.
 */
function toPairs(message: ListedMessage, media: readonly ListedMedium[]): FormPairs {
  const { sid, accountSid, messagingServiceSid, numSegments } = message;
  const folder = `https://api.twilio.com/2010-04-01/Accounts/${accountSid}/Messages/${sid}/Media/`;
  return [
    ['MessageSid', sid],
    ['SmsSid', sid],
    ['SmsMessageSid', sid],
    ['AccountSid', accountSid],
    ...(messagingServiceSid ? [['MessagingServiceSid', messagingServiceSid] as const] : []),
    ['From', message.from ?? ''],
    ['To', message.to ?? ''],
    ['Body', message.body ?? ''],
    ['SmsStatus', 'received'],
    ['NumSegments', numSegments ?? '1'],
    ['NumMedia', String(media.length)],
    ...oldestFirst(media).flatMap((medium, index) => [
      [`MediaContentType${index}`, medium.contentType ?? ''] as const,
      [`MediaUrl${index}`, folder + medium.sid] as const,
    ]),
    ['ApiVersion', '2010-04-01'],
  ];
}

const oldestFirst = (media: readonly ListedMedium[]): ListedMedium[] =>
  media.toSorted(
    (one, other) => (one.dateCreated?.getTime() ?? 0) - (other.dateCreated?.getTime() ?? 0),
  );
