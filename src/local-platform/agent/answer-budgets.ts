import type { UnverifiedAnswers } from '../authenticate.ts';
import { FAILS_POLICY, UNKNOWN_NETWORK } from '../../platform-api/schemas.ts';
import { LIMITS } from '../open-points.ts';
import { around } from '../store/message-table.ts';
import { type ConversationRow, LIFTED, type MessageRow, personOf } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Stored as the network of an answer to somebody whom a person has answered before. */
const KNOWN = 'known';

/** Whom an automatic answer goes to. It is counted under both. */
export interface Addressee {
  readonly person: string;
  /**
   * Set if nothing confirms who wrote: the network that the message came from, `KNOWN` or
   * `FAILS_POLICY`. Undefined for an email while nothing leaves by a relay.
   */
  readonly network: string | undefined;
  /** Whence an email goes, if not from the address that was written to. */
  readonly from?: string | undefined;
}

export interface AnswerLimits {
  /** For the whole shop. */
  readonly answersPerHour: number;
  /** For emails that leave through a relay. */
  readonly unverifiedOf: (shop: string) => UnverifiedAnswers;
}

/** A limit of automatic answers that leaves a message to people. */
export type SpentBudget = 'too_fast' | 'unverified' | 'fails_policy' | 'shop_budget';

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
  const isEmail = conversation.type === 'email';
  const { unverified_from: network } = message;
  if (network === null || (isEmail && !hasRelay)) return { person, network: undefined };
  const isKnown = network !== FAILS_POLICY && store.messages.isAnsweredByPeople(person);
  return {
    // Apart, so that forged emails do not use up what the customer may get.
    person: isEmail ? `${person}:unverified` : person,
    network: isKnown ? KNOWN : network,
    ...(isEmail && { from: listedEmail(message.shop, message.agent_contact) }),
  };
}

/**
 * Which budget forbids a further automatic answer; undefined while all allow one. Nothing is kept in
 * memory: the answers in the store are counted, so that a restart changes nothing. Must run within the
 * write that stores the answer.
 */
export function spentBudget(
  store: Store,
  { type }: ConversationRow,
  { shop, left_because: left }: MessageRow,
  { person, network }: Addressee,
  { answersPerHour, unverifiedOf }: AnswerLimits,
  nowMs: number,
): SpentBudget | undefined {
  if (network === FAILS_POLICY) return 'fails_policy';
  if (left === LIFTED) return undefined;
  const toPerson = (ms: number) => store.messages.answersTo({ person, ...around(nowMs, ms) });
  const per10Min = type === 'web_chat' ? LIMITS.chatAnswersPer10Min : LIMITS.answersPer10Min;
  if (toPerson(TEN_MINUTES_MS) >= per10Min) return 'too_fast';
  if (toPerson(DAY_MS) >= LIMITS.answersPerDay) return 'too_fast';

  const hour = store.messages.answersOfShop({ shop, ...around(nowMs, HOUR_MS) });
  if (sum(hour) >= answersPerHour) return 'shop_budget';
  if (network === undefined || network === KNOWN) return undefined;
  const toStrangers = hour.filter((each) => each.network !== null && each.network !== KNOWN);
  const isUsedUp = (answers: typeof hour, ofAll: number, ofNetwork: number) =>
    sum(answers) >= ofAll ||
    (network !== UNKNOWN_NETWORK &&
      sum(answers.filter((each) => each.network === network)) >= ofNetwork);
  const share = (part: number) => Math.max(1, Math.floor(answersPerHour / part));
  // Half of the hour is kept for the others, and no network gets more than half of the rest.
  if (isUsedUp(toStrangers, share(2), share(4))) return 'unverified';
  const { perHourPerShop, perHourPerNetwork } = unverifiedOf(shop);
  const emails = toStrangers.filter(({ isEmail }) => isEmail === 1);
  const isOver = type === 'email' && isUsedUp(emails, perHourPerShop, perHourPerNetwork);
  return isOver ? 'unverified' : undefined;
}

const sum = (answers: readonly { readonly n: number }[]): number =>
  answers.reduce((all, { n }) => all + n, 0);
