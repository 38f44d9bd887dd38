import type { LookupFunction } from 'node:net';
import { reactionOf } from '../../domain/reactions.ts';
import type { LanePerson } from '../../domain/person-names.ts';
import { writtenAt } from '../../domain/written-at.ts';
import { type Normalized, type Normalizer, NotYet, type Verdict } from '../../intake/normalizer.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { CreateMessageRequest } from '../../platform-api/schemas.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Claimed } from '../../spool/entry.ts';
import type { Conversations } from '../../spool/spool.ts';
import type { OptOutStore } from '../../spool/opt-out-store.ts';
import { type ChannelAddress, isE164, isUserId, parseAddress } from './address.ts';
import { type CountMessage, floodHold } from './limits.ts';
import { consentVerdict } from './normalize/consent.ts';
import { contentOf, followUpContentOf } from './normalize/content.ts';
import { type MediaParts, type MessageMedia, readMedia } from './normalize/medium.ts';
import { fetchLate, onDemand, TextMedia, type TextMediaOptions } from './normalize/text-media.ts';
import type { ProviderTexts, TextMessage } from './provider.ts';
import { contactNumber, countedAs, optOutsOf } from './person.ts';
import { createDownloader } from './providers/media-download.ts';
import type { SmsShop } from './shop.ts';
import { type LateMedia, readStored, toFollowUp } from './stored.ts';

export interface SmsNormalizerOptions {
  /** The current shops, read for each message, so it may be a getter. */
  readonly shops: readonly SmsShop[];
  /** A folder for media between download and upload; created if it is missing. */
  readonly scratchDir: string;
  readonly media?: {
    /** 100 MiB by default. WhatsApp allows documents of that size; an MMS has 5 MB. */
    readonly maxBytes?: number;
    /** One try of one medium, with its redirects. 60 s by default. */
    readonly tryTimeoutMs?: number;
    /** 4 retries after 1, 3, 10 and 30 s by default. */
    readonly retry?: { readonly retries: number; readonly minTimeoutMs: number };
    /** The minimum time for all media of a text whose attempt begins late. 15 s by default. */
    readonly overdueMs?: number;
  };
}

export interface SmsNormalizerDeps {
  readonly optOuts: OptOutStore;
  readonly countMessage: CountMessage;
  readonly personOf: Conversations['personOf'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The resolver for media hosts; the system's by default. */
  readonly lookup?: LookupFunction;
}

/**
 * Turns a stored message into a create-message request (API §4.7): a text with its media, or
 * the follow-up with late media.
 */
export function createSmsNormalizer(
  options: SmsNormalizerOptions,
  deps: SmsNormalizerDeps,
): Normalizer {
  const { clock, logger, metrics, personOf } = deps;
  const mediaParts: MediaParts = {
    download: createDownloader({
      maxBytes: options.media?.maxBytes ?? 100 * 1024 * 1024,
      tryTimeoutMs: options.media?.tryTimeoutMs ?? 60_000,
      clock,
      ...(deps.lookup && { lookup: deps.lookup }),
    }),
    scratchDir: options.scratchDir,
    logger,
    metrics,
  };
  const textOptions: TextMediaOptions = {
    retry: options.media?.retry ?? { retries: 4, minTimeoutMs: 1000 },
    overdueMs: options.media?.overdueMs ?? 15_000,
    clock,
  };

  return async (claimed, signal) => {
    const { provider, message: read, late, isEcho } = readStored(claimed);
    const message = isEcho ? { ...read, context: [...read.context, FROM_THE_PHONE] } : read;
    const shop = shopOf(options.shops, claimed, provider, message.account);
    const from = parseAddress(message.from);
    const person = from.transport === 'whatsapp' ? await personOf(claimed.entry) : undefined;
    if (person?.isWaiting === true && !claimed.entry.detached) {
      throw new NotYet({ code: 'joined_lane' }, JOINED_LANE_MS);
    }
    const reaction = reactionOf(message.words);
    const content =
      late === undefined
        ? contentOf({ ...message, words: reaction ?? message.words })
        : followUpContentOf(message);
    const request = requestOf(claimed, message, content, person);
    const found = readMedia({ message, provider, account: shop.account }, mediaParts);
    if (late !== undefined) {
      const normalized = await followUp(claimed, request, found, { late, clock, from, signal });
      if (!isEcho) return normalized;
      return {
        ...normalized,
        isEcho,
        ...(shop.hasNotes !== true && { verdict: echoVerdict(shop) }),
      };
    }
    const media = new TextMedia(found.media, claimed.entry.receivedAt, textOptions);
    const text: ReadText = {
      claimed,
      shop,
      provider,
      message,
      from,
      person,
      request,
      media: found,
    };
    return {
      verdict: isEcho ? echoVerdict(shop) : await verdictOf(text, deps),
      isEcho,
      request,
      attachments: media.attachments,
      findings: {
        transport: from.transport,
        media: media.attachments.length,
        ...(reaction !== undefined && { reaction: true }),
        ...(found.refused > 0 && { mediaRefused: found.refused }),
      },
      followUp: (parts) => toFollowUp(claimed, media.late(parts)),
      dispose: () => found.dispose(),
    };
  };
}

/** A line in the note of what the shop wrote. */
const FROM_THE_PHONE = '[Written on your own phone]';

/** Only the embedded platform has notes; any other one would take it for the customer's words. */
const echoVerdict = ({ hasNotes }: SmsShop): Verdict =>
  hasNotes === true ? { kind: 'deliver' } : { kind: 'suppressed', reason: { code: 'echo' } };

/** When a text is looked at again that waits for texts of a lane that was joined with its own. */
const JOINED_LANE_MS = 1000;

interface ReadText {
  readonly claimed: Claimed;
  readonly shop: SmsShop;
  readonly provider: ProviderTexts;
  readonly message: TextMessage;
  readonly from: ChannelAddress;
  readonly person: LanePerson | undefined;
  readonly request: CreateMessageRequest;
  readonly media: MessageMedia;
}

/** The first rule that holds or suppresses the text decides. */
async function verdictOf(
  { claimed, shop, provider, message, from, person, request, media }: ReadText,
  { optOuts, countMessage }: SmsNormalizerDeps,
): Promise<Verdict> {
  // The operator who released it has seen it, so it is delivered unchanged.
  if (claimed.released) return { kind: 'deliver' };
  const text = {
    from: countedAs(from.address, person),
    content: message.words,
    media: media.media.map(({ identity }) => identity),
  };
  const first = noticeOf(message) ?? senderHold(from);
  if (first !== undefined) return first;
  const consent = await consentVerdict(
    { claimed, shop, provider, message, request },
    optOutsOf(optOuts, person),
  );
  if (consent?.kind === 'suppressed') return consent;
  return (
    transportHold(shop, from) ??
    (await floodHold(claimed.entry, text, shop.loop, countMessage)) ??
    consent ?? { kind: 'deliver' }
  );
}

/**
 * The text was delivered, so no rule holds its follow-up. Without any media the follow-up is
 * suppressed, since it would add nothing to the text; an operator may release it.
 * @throws {NotYet}
 */
async function followUp(
  claimed: Claimed,
  request: CreateMessageRequest,
  found: MessageMedia,
  when: {
    readonly late: LateMedia;
    readonly clock: Clock;
    readonly from: ChannelAddress;
    readonly signal: AbortSignal;
  },
): Promise<Normalized> {
  const { late, clock, from, signal } = when;
  const media = found.media.filter(({ part }) => late.parts.includes(part));
  try {
    const attachments = claimed.released
      ? media.map(onDemand)
      : await fetchLate(media, { late, saved: claimed.media, clock }, signal);
    const isEmpty = attachments.length === 0;
    return {
      verdict: isEmpty
        ? { kind: 'suppressed', reason: { code: 'media_never_came' } }
        : { kind: 'deliver' },
      request,
      attachments,
      findings: { transport: from.transport, media: media.length },
      dispose: () => found.dispose(),
    };
  } catch (error) {
    await found.dispose();
    throw error;
  }
}

/** Among the shop's numbers, those of the text's account; those of another one only if need be. */
function shopOf(
  shops: readonly SmsShop[],
  claimed: Claimed,
  provider: ProviderTexts,
  account: string,
): SmsShop {
  const ofShop = shops.filter(({ shopId }) => shopId === claimed.entry.shopId);
  const ofProvider = ofShop.filter((shop) => shop.account.provider === provider.name);
  const shop = ofProvider.find((each) => each.account.id === account) ?? ofProvider[0] ?? ofShop[0];
  if (shop === undefined) throw new Error('The shop of this entry is no longer configured');
  return shop;
}

function requestOf(
  { entry }: Claimed,
  message: TextMessage,
  content: string,
  person: LanePerson | undefined,
): CreateMessageRequest {
  const from = parseAddress(message.from);
  const phone = contactNumber(isE164(from.address) ? from.address : undefined, person);
  // A WhatsApp user without a number, or a released short code or brand, would have neither a name
  // nor an address. The conversation is stored with the lane.
  const name = message.name ?? (phone === undefined ? from.address : undefined);
  return {
    contact: { ...(phone !== undefined && { phone }), ...(name !== undefined && { name }) },
    conversation: {
      direction: 'inbound',
      type: 'sms',
      agent_contact: parseAddress(message.to).address,
    },
    message: {
      content,
      format: 'TEXT',
      remote_id: entry.remoteId,
      timestamp: new Date(writtenAt(message.writtenAt ?? NaN, entry.receivedAt)).toISOString(),
    },
  };
}

/** An agent that answered a thumb up would seem odd; an operator can see and release it. */
const noticeOf = ({ isNotice }: TextMessage): Verdict | undefined =>
  isNotice === true ? { kind: 'suppressed', reason: { code: 'notice' } } : undefined;

/** One-time codes and advertising, whose senders cannot be answered. */
function senderHold(from: ChannelAddress): Verdict | undefined {
  const { address } = from;
  if (isE164(address) || isUserId(from)) return undefined;
  if (/^\d{3,8}$/.test(address)) return { kind: 'held', reason: { code: 'short_code' } };
  const code = /^\+?\d+$/.test(address) ? 'impossible_number' : 'alphanumeric_sender';
  return { kind: 'held', reason: { code } };
}

function transportHold(shop: SmsShop, { transport }: ChannelAddress): Verdict | undefined {
  return transport === 'whatsapp' && shop.whatsapp === 'hold'
    ? { kind: 'held', reason: { code: 'whatsapp' } }
    : undefined;
}
