import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { ReplyReport } from '../../domain/reply-fate.ts';
import type { Sighting } from '../../domain/person-names.ts';
import type { CreateEventRequest } from '../../platform-api/schemas.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { EntryMeta } from '../../spool/entry.ts';
import type { BadParameter } from './webhook-request.ts';

/**
 * What a provider of texts has to say; `providers/registry.ts` lists those that there are. A
 * provider has three parts, because each thread of the gateway loads only the one that it needs:
 *
 * - `ProviderWebhook` (the doors): reads a request, says which account signed it, and what to
 *   answer. The message it hands over has the account and the addresses by which `shop.ts` finds
 *   the shop. A delivery status is read here, too.
 * - `ProviderTexts` (delivery): reads a stored text back, and says where its media may be fetched.
 * - `ProviderApi` (calls of the provider): sends texts, and lists those that no webhook delivered.
 *
 * Everything else (acknowledgement, lanes, rates, consent, late media, conversations) is the
 * channel's, and is the same for all providers.
 */
export interface SmsProvider<Account extends ProviderAccount = ProviderAccount> {
  readonly webhook: ProviderWebhook<Account>;
  readonly texts: ProviderTexts<Account>;
  readonly api: ProviderApi<Account>;
}

/**
 * A shop's account. Its other members, such as credentials, are the provider's own. Methods below
 * take the account of their own provider only: callers choose the provider by `provider`.
 */
export interface ProviderAccount {
  /** The provider's name: in the webhook's path, in the configuration and in stored entries. */
  readonly provider: string;
  /** Tells this account from others of the provider, in requests and in lanes. */
  readonly id: string;
}

/** A request as it arrived; nothing of it is authenticated. */
export interface WebhookRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The public URL with the path and the raw query of the request; undefined if it has no path. */
  readonly url: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** One thing that a request says. `other`: nothing that concerns the gateway. */
export type WebhookContent =
  | { readonly kind: 'message'; readonly text: ReceivedText }
  /** What the shop wrote on its own phone, between the same two addresses: `from` is the customer's. */
  | { readonly kind: 'echo'; readonly text: ReceivedText }
  /** What a person has decided at the provider, for their timeline. */
  | {
      readonly kind: 'event';
      readonly text: Pick<ReceivedText, 'id' | 'account' | 'service' | 'from' | 'to'>;
      readonly event: CreateEventRequest;
    }
  /** One of our messages: its status for each of its recipients. */
  | {
      readonly kind: 'status';
      readonly account: string;
      readonly id: string;
      /** What we sent along with the message, if the provider returns it. */
      readonly tag?: string | undefined;
      readonly statuses: readonly DeliveryStatus[];
      /** Its addresses, if the provider tells them. */
      readonly between?: { readonly ours: string; readonly theirs: string };
    }
  | { readonly kind: 'other'; readonly account: string; readonly event: string }
  /** A message that cannot be read, in a request whose other contents can be. */
  | { readonly kind: 'unreadable'; readonly account: string; readonly refusal: BadParameter };

export interface DeliveryStatus extends Pick<ReplyReport, 'code' | 'reason'> {
  /** One of a fixed set, because it is a label of a metric. */
  readonly status: string;
  /** What it says of a reply; absent while the message is on its way to the provider's network. */
  readonly state?: ReplyReport['state'] | undefined;
}

export interface ReadRequest<Account extends ProviderAccount = ProviderAccount> {
  /**
   * In the order of the request; most providers send one message in each. A function reads those of
   * a request that may be large: it is called only if a key of some shop signed the request.
   */
  readonly contents: readonly WebhookContent[] | (() => readonly WebhookContent[]);
  /** Whether a key of this account signed the request. */
  isSignedBy(account: Account): boolean;
  /** Why nobody did, for the log. */
  readonly unsigned: 'missing' | 'wrong' | 'old';
  /** The id of the key that the request says to be signed with; empty if it cannot be read. */
  readonly sharedKey?: string;
}

export interface ProviderWebhook<Account extends ProviderAccount = ProviderAccount> {
  /** The path is `/sms/<name>`. */
  readonly name: string;
  readonly contentTypes: readonly string[];
  /** The largest request that the provider sends; 64 KiB by default. */
  readonly maxBodyBytes?: number;
  /** @throws {WebhookRefused} nothing of it can be read */
  read(request: WebhookRequest): ReadRequest<Account>;
  /** The code of a text that the provider blocks, because the person has opted out. */
  readonly optOutCode?: string;
  /** The response to messages that are durable. */
  readonly accepted: { readonly type: string; readonly body: string };
  /** The response to a request without messages; 204 by default. */
  readonly notedStatus?: 200;
  /**
   * Answers the GET by which the provider checks that the URL is ours: the text to respond with,
   * or undefined if the query has no secret of these accounts.
   */
  challenge?(query: URLSearchParams, accounts: readonly Account[]): string | undefined;
  /** Called with each status that one of the shop's keys signed. */
  note?(status: WebhookContent & { readonly kind: 'status' }, now: number): void;
}

/** A text as it arrived by webhook, or was listed: what routes it, and its stored form. */
export interface ReceivedText {
  /** The provider's id of the message: dedup key and remote id. */
  readonly id: string;
  readonly account: string;
  /** A group of numbers that may find the shop if `to` does not. */
  readonly service?: string | undefined;
  /** With a `whatsapp:` or `rcs:` prefix, if it came over one of these. */
  readonly from: string;
  readonly to: string;
  /** The provider's console sends it to try the URL: its number is nobody's. */
  readonly isTest?: boolean;
  /** Of a text to several: the others, one of which may be the shop's. */
  readonly alsoTo?: readonly string[];
  /** Of WhatsApp: what else it says of the sender's names (`domain/person-names.ts`). */
  readonly names?: Partial<Omit<Sighting, 'scope' | 'ours' | 'at'>> | undefined;
  /** When the person wrote it, in ms since the epoch; NaN or absent if the provider does not say. */
  readonly writtenAt?: number;
  /** The sender's own name, for lists. */
  readonly name: string;
  /** The provider's part of the meta; `from` and `to` are added to it. */
  readonly meta: EntryMeta;
  readonly raw: Uint8Array;
}

/** A text, read back from its stored form. */
export interface TextMessage {
  readonly id: string;
  readonly account: string;
  readonly from: string;
  readonly to: string;
  /** As received. */
  readonly body: string;
  /** What the person said, never empty: the body, or what stands for it. */
  readonly words: string;
  /** Lines about the text: what it replies to, where it came from. */
  readonly context: readonly string[];
  /** When the person wrote it, in ms since the epoch; NaN or absent if the provider does not say. */
  readonly writtenAt?: number;
  /** It asks nothing, so nobody expects an answer: a reaction, a change of number. */
  readonly isNotice?: boolean;
  /** The sender's own name on one line; undefined if there is none. */
  readonly name: string | undefined;
  /** `STOP`, `START` or `HELP` if the provider says that it handled one; otherwise anything. */
  readonly optOutType: string;
  readonly media: readonly MediaReference[];
}

/** One of a message's media, as the message names it. */
export interface MediaReference {
  readonly url: string;
  /** The declared type, as received. */
  readonly contentType: string | undefined;
}

/** An allowed target of a request. */
export interface MediaTarget {
  readonly url: URL;
  /** The host is configured, so its address may be private. */
  readonly trusted: boolean;
}

/** Where a medium is fetched. */
export interface MediaSource {
  /** The provider's id of the medium, if it has one. */
  readonly id: string | undefined;
  /** A function asks the provider, at each try, for a link that is valid for minutes only. */
  readonly target: MediaTarget | AskForTarget;
  /** For the first request of the target only. */
  readonly credential: Credential | undefined;
  /** The target of a redirect; undefined if it may not be followed. */
  redirect(location: string, from: URL): MediaTarget | undefined;
}

/** Rejects with {ProviderFailed}. */
export type AskForTarget = (signal: AbortSignal) => Promise<MediaTarget>;

/** Of Basic authentication (RFC 7617), or a Bearer token (RFC 6750). */
export type Credential =
  | { readonly username: string; readonly password: string }
  | { readonly token: string };

/** Words that opt a person out or in if they are the whole text, in capitals. */
export interface Keywords {
  readonly optOut: ReadonlySet<string>;
  /** They opt in a person who had opted out, but are ordinary text from others. */
  readonly optIn: ReadonlySet<string>;
}

/** An empty text is none; the addresses are in the meta, too. */
export interface SendersInRaw {
  readonly from: string;
  readonly to: string;
  readonly name: string;
}

/** The parameters of a form in their order. A name may occur more than once. */
export type FormParameters = readonly (readonly [name: string, value: string])[];

export interface ProviderTexts<Account extends ProviderAccount = ProviderAccount> {
  readonly name: string;
  /** @throws the stored form is damaged */
  read(meta: EntryMeta, raw: Uint8Array): TextMessage;
  /** Whether the provider could have given a message this id. */
  isMessageId(id: string): boolean;
  /** The parameters in a raw form; undefined if the provider sends none, or if it is cut off. */
  parametersIn(raw: Uint8Array): FormParameters | undefined;
  /** Sender and recipient in a raw form, which may be cut off or damaged. */
  sendersIn(raw: Uint8Array): SendersInRaw;
  /** What the provider answers itself, without saying so. */
  readonly keywords: Keywords;
  /** Undefined if the URL is not one of the provider's media for this message. */
  mediaSource(
    reference: MediaReference,
    message: TextMessage,
    account: Account,
  ): MediaSource | undefined;
}

export interface Download {
  readonly size: number;
  /** The declared Content-Type, if any. */
  readonly contentType: string | undefined;
}

/** Fetches one medium into a file that must not exist. @throws {ProviderFailed} */
export type Downloader = (
  source: MediaSource,
  path: string,
  signal: AbortSignal,
) => Promise<Download>;

export interface DownloaderOptions {
  readonly maxBytes: number;
  /** For one try: all redirects and the whole body. */
  readonly tryTimeoutMs: number;
  readonly clock: Clock;
  /** The resolver used by the check for private addresses; the system's by default. */
  readonly lookup?: LookupFunction;
}

export interface SenderOptions {
  readonly timeoutMs?: number;
  /** Where providers that ask for it with each message report what became of it. */
  readonly statusUrl?: string | undefined;
}

export interface ProviderApi<Account extends ProviderAccount = ProviderAccount> {
  readonly name: string;
  /** As in `ProviderWebhook`. */
  readonly optOutCode?: string;
  /** @param timeoutMs for one call */
  createSender(account: Account, options?: SenderOptions): TextSender;
  /** Undefined if the provider does not list what it received. */
  readonly lists: ProviderLists<Account> | undefined;
}

/** A text; or a template of the account, by its name, with the value of its variable 1. */
export type OutgoingText = {
  /** With a `whatsapp:` or `rcs:` prefix, if it goes over one of these. */
  readonly from: string;
  readonly to: string;
} & (
  | {
      /** May be empty if there are media. */
      readonly body: string;
      /** Links to files that the provider fetches. */
      readonly media?: readonly string[];
    }
  | { readonly template: string; readonly shown: string }
);

export interface TextSender {
  /** Resolves with the id of the message that the provider has accepted. @throws {TextNotSent} */
  sendText(text: OutgoingText): Promise<string>;
  /**
   * The ids of messages with this text between these two addresses that were created since then and
   * have not failed. @throws {TextNotSent}
   */
  findSent(text: OutgoingText, since: Date): Promise<readonly string[]>;
  /** The length of one message, in UTF-16 units; a longer text is sent in several. */
  maxChars(text: string): number;
  /** How many files one message between these addresses can carry; none by default. */
  readonly mediaPerMessage?: (ends: { readonly from: string; readonly to: string }) => number;
}

export interface ProviderLists<Account extends ProviderAccount = ProviderAccount> {
  /** The accounts that can be listed, each once. */
  accountsOf(shops: readonly ListedShop<Account>[]): readonly ListedAccount[];
  /** How long a message may still be on its way to the webhook. */
  readonly inFlightMs: number;
  /** The most pages that are read of one list; a span with more is listed in halves. */
  readonly maxPages: number;
}

/** The part of a shop that says what to list. */
export interface ListedShop<Account extends ProviderAccount = ProviderAccount> {
  readonly numbers: readonly string[];
  readonly services?: readonly string[];
  readonly account: Account;
}

export interface ListedAccount {
  /** As in its messages. */
  readonly id: string;
  /** Tells it from all other accounts, in the log and in what is remembered of its last run. */
  readonly name: string;
  /** The values of `to` to list by. Undefined lists the whole account. */
  readonly addresses: readonly string[] | undefined;
  connect(options: ListOptions): Promise<MessageLists>;
}

export interface ListOptions {
  readonly pace?: ApiPace;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The request rate; the defaults are for production. */
export interface ApiPace {
  /** Between two requests: four per second by default. */
  readonly gapMs?: number;
  /** The number of retries per request, after 1, 2, 4 s or up to twice that. */
  readonly retries?: number;
  readonly minTimeoutMs?: number;
}

/** A period by the time of sending. The last one has no end, so messages meanwhile belong to it. */
export interface Span {
  readonly from: number;
  readonly to?: number;
}

/** The lists of one account. Every method throws {ProviderFailed}. */
export interface MessageLists {
  /** The maximum by which this machine's clock was ahead of the provider's. */
  readonly clockAheadMs: number;
  /**
   * Pages of the account's received messages within a span, to one address if it is given. Pages
   * of other times only, which a filter by day lists too, are left out: they do not count.
   */
  pages(to: string | undefined, span: Span): AsyncIterable<readonly ListedText[]>;
  /**
   * The text as its webhook would have delivered it, as far as the API has it.
   * @param onMediaLost the API no longer has its media, for this reason
   * @throws {BadParameter} it cannot be read
   */
  receive(listed: ListedText, onMediaLost: (reason: string) => void): Promise<ReceivedText>;
}

export interface ListedText {
  readonly id: string;
  readonly account: string;
  readonly service: string | undefined;
  readonly to: string;
  /** Milliseconds since the epoch; undefined if the provider does not say. */
  readonly sentAt: number | undefined;
}
