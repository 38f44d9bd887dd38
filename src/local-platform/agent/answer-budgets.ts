import { getDomain } from 'tldts';
import type { UnverifiedAnswers } from '../authenticate.ts';
import type { ReachedLimit } from '../../domain/desk.ts';
import { domainOf, matchKey } from '../../domain/email-addresses.ts';
import { isSharedDomain } from '../../domain/shared-domains.ts';
import { FAILS_POLICY, UNKNOWN_NETWORK } from '../../platform-api/schemas.ts';
import { LIMITS } from '../open-points.ts';
import { around, total } from '../store/message-table.ts';
import { type ConversationRow, LIFTED, type MessageRow, personOf } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Stored as the network of an answer to somebody whom a person has answered before. */
const ANSWERED_BY_PEOPLE = 'answered-by-people';

/** Whom an automatic answer goes to. It is counted under both. */
export interface Addressee {
  readonly person: string;
  /**
   * Set if nothing confirms who wrote: the network that the message came from, `ANSWERED_BY_PEOPLE` or
   * `FAILS_POLICY`. Undefined for an email while nothing leaves by a relay.
   */
  readonly network: string | undefined;
  /** Nothing confirms who wrote the email: no word of it comes back. */
  readonly isNeutral: boolean;
  /** The From address, if it is not the one that the customer wrote to. */
  readonly from?: string | undefined;
}

export interface AnswerLimits {
  /** For the whole shop. */
  readonly answersPerHour: number;
  /** For emails that leave through a relay. */
  readonly unverifiedOf: (shop: string) => UnverifiedAnswers;
}

interface AnswerRoute {
  /** Whether answers by email leave. */
  readonly hasRelay: boolean;
  /** `ServedShops.listedEmail` */
  readonly listedEmail: (shop: string, writtenTo: string | null) => string | undefined;
}

export function addresseeOf(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
  { hasRelay, listedEmail }: AnswerRoute,
): Addressee {
  const person = personOf(conversation, message);
  const { shop, sender } = message;
  const isEmail = conversation.type === 'email';
  const { unverified_from: network } = message;
  if (network === null || (isEmail && !hasRelay)) {
    return { person, network: undefined, isNeutral: false };
  }
  const isKnown = network !== FAILS_POLICY && store.messages.isAnsweredByPeople(person);
  return {
    // Apart, so that forged emails do not use up what the customer may get; by mailbox, since each
    // `+tag` is another contact.
    person: isEmail ? `email:${shop}:${matchKey(sender ?? '') ?? person}:unverified` : person,
    network: isKnown ? ANSWERED_BY_PEOPLE : network,
    isNeutral: isEmail,
    ...(isEmail && { from: listedEmail(shop, message.agent_contact) }),
  };
}

/**
 * Which budget forbids a further automatic answer; undefined while all allow one. Nothing is kept in
 * memory: the answers in the store are counted, so that a restart changes nothing. Called before the
 * agent is asked, and again in the write that stores the answer; only the second call is binding.
 */
export function spentBudget(
  store: Store,
  { type }: ConversationRow,
  { shop, limit_reached: limit, sender, unverified_from: unverified }: MessageRow,
  { person, network }: Addressee,
  { answersPerHour, unverifiedOf }: AnswerLimits,
  nowMs: number,
): Exclude<ReachedLimit, 'repeated'> | undefined {
  if (network === FAILS_POLICY) return 'fails_policy';
  if (limit === LIFTED) return undefined;
  const toPerson = (ms: number) => store.messages.answersTo({ person, ...around(nowMs, ms) });
  const per10Min = type === 'web_chat' ? LIMITS.chatAnswersPer10Min : LIMITS.answersPer10Min;
  if (toPerson(TEN_MINUTES_MS) >= per10Min) return 'too_fast';
  if (toPerson(DAY_MS) >= LIMITS.answersPerDay) return 'too_fast';

  const hour = store.messages.answersOfShop({ shop, ...around(nowMs, HOUR_MS) });
  if (total(hour) >= answersPerHour) return 'shop_budget';
  const share = (part: number) => Math.max(1, Math.floor(answersPerHour / part));
  if (type === 'email' && unverified === null) {
    // Whoever owns a domain can confirm any number of addresses of it.
    const domain = ownDomain(sender ?? '');
    const toDomain = { shop, domain, ...around(nowMs, HOUR_MS) };
    const isUsedUp = domain !== '' && store.messages.answersToDomain(toDomain) >= share(4);
    return isUsedUp ? 'domain_budget' : undefined;
  }
  if (network === undefined || network === ANSWERED_BY_PEOPLE) return undefined;
  const toStrangers = hour.filter(
    (each) => each.network !== null && each.network !== ANSWERED_BY_PEOPLE,
  );
  const isUsedUp = (answers: typeof hour, ofAll: number, ofNetwork: number) =>
    total(answers) >= ofAll ||
    (network !== UNKNOWN_NETWORK &&
      total(answers.filter((each) => each.network === network)) >= ofNetwork);
  // Half of the hour is kept for the others, and no network gets more than half of the rest.
  if (isUsedUp(toStrangers, share(2), share(4))) return 'unverified';
  const { perHourPerShop, perHourPerNetwork } = unverifiedOf(shop);
  const emails = toStrangers.filter(({ isEmail }) => isEmail === 1);
  const isOver = type === 'email' && isUsedUp(emails, perHourPerShop, perHourPerNetwork);
  return isOver ? 'unverified' : undefined;
}

/** The part of an address's domain that somebody owns; empty where unrelated people share it. */
function ownDomain(address: string): string {
  const domain = domainOf(matchKey(address) ?? '');
  if (isSharedDomain(domain)) return '';
  const rules = { allowPrivateDomains: true, extractHostname: false };
  return getDomain(domain, rules) ?? domain;
}
