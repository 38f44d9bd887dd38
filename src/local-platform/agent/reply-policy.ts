import { LIMITS } from '../open-points.ts';
import { senderOf } from '../outbound/address-reply.ts';
import { wordsTo } from './emoji.ts';
import { isAutomatedAddress } from '../addresses.ts';
import {
  type ConversationRow,
  emailOf,
  isWithPeople,
  LIFTED,
  type MessageRow,
} from '../store/rows.ts';
import { isInternetHost } from '../../domain/strict-addresses.ts';
import { asksToStop } from '../../domain/opt-out-words.ts';
import { saysDispleasure } from '../../domain/reactions.ts';
import { ANSWER_LIMITS, type ReachedLimit } from '../../domain/desk.ts';
import type { Store } from '../store/store.ts';

/** Why a message gets no answer. */
export type NoReplyReason =
  | 'escalated'
  | 'person'
  | 'empty'
  | 'emoji'
  | 'displeased'
  | 'own_address'
  | 'no_reply_address'
  | 'auto_reply'
  | 'bounce'
  | 'opt_out'
  | 'echo'
  | ReachedLimit;

/** Limits that leave a message to people: the customer may still wait for an answer. */
export const LIMITED: ReadonlySet<string | undefined> = new Set<NoReplyReason>(ANSWER_LIMITS);
/** With these, too, a person has to look. */
export const LEFT_TO_PEOPLE: ReadonlySet<string | undefined> = new Set<NoReplyReason>([
  ...ANSWER_LIMITS,
  'escalated',
  'opt_out',
  'echo',
  'displeased',
]);

/** Subjects of automatic replies, in the agent's languages and some others. */
const AUTO_REPLY =
  /^(?:(?:re|aw|fwd?): *)*(?:auto(?:matic|mated)?[- ]?(?:reply|response|answer)|auto:|out of (?:the )?office|away from (?:the|my) office|automatische? (?:antwort|abwesenheit)|abwesenheitsnotiz|abwesend\b|réponse automatique|absence du bureau|respuesta automática|fuera de la oficina|risposta automatica|automatisch antwoord|resposta automática)/i;
const BOUNCE =
  /^(?:undeliver(?:able|ed)\b|delivery (?:status notification|failure|has failed)|mail delivery (?:failed|system|subsystem)|returned mail|failure notice|unzustellbar|nicht zustellbar|message non distribué|no se puede entregar)/i;

/**
 * Why the agent must not answer a message; undefined when it may. The API does not say whether a
 * program wrote the message: some programs are recognized by their address or subject, and the
 * others by a conversation that is too fast or repeats itself.
 */
export function reasonNotToReply(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
): NoReplyReason | undefined {
  if (conversation.resolution === 'escalated') return 'escalated';
  if (isWithPeople(conversation)) return 'person';
  const isFirst = store.messages.before(message, 1).length === 0;
  // Later emails of a thread repeat the subject, so only the first email's subject counts.
  const content = isFirst ? `${conversation.title ?? ''}${message.text}` : message.text;
  // A file without a text goes to a person.
  if (store.media.ofMessage(message.id).length === 0) {
    if (content.trim() === '') return 'empty';
    if (wordsTo(store, message) === undefined) {
      return saysDispleasure(message.text) ? 'displeased' : 'emoji';
    }
  }
  if (conversation.type === 'sms' && asksToStop(message.text)) return 'opt_out';
  const automated = automatedSender(store, conversation, message);
  return automated ?? (isRepeated(store, conversation, message) ? 'repeated' : undefined);
}

/** Whether somebody of the shop answers on their own phone: they wrote within this time. */
export const isEchoed = (
  { echoed_at: at }: Pick<ConversationRow, 'echoed_at'>,
  nowMs: number,
  silenceMs: number,
): boolean => at !== null && Date.parse(at) > nowMs - silenceMs;

function automatedSender(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
): NoReplyReason | undefined {
  const { shop } = message;
  const address = senderOf(store, conversation, message);
  if (address && store.conversations.isAgentContact(shop, address)) return 'own_address';
  if (conversation.type !== 'email') return undefined;
  if (address && isAutomatedAddress(address)) return 'no_reply_address';
  // A stranger must not choose an address literal or a local name for the relay to deliver to.
  if (address && message.unverified_from !== null && !isInternetHost(address)) {
    return 'no_reply_address';
  }
  const { subject = '' } = emailOf(message);
  if (AUTO_REPLY.test(subject.trim())) return 'auto_reply';
  return BOUNCE.test(subject.trim()) ? 'bounce' : undefined;
}

/** Whether the customer has written the same again and again, which only a program does. */
function isRepeated(store: Store, { type }: ConversationRow, message: MessageRow): boolean {
  if (type === 'web_chat' || message.limit_reached === LIFTED) return false;
  const before = store.messages
    .before(message, 2 * LIMITS.agentRepeatsMax)
    .filter(({ role }) => role === 'customer')
    .slice(-LIMITS.agentRepeatsMax);
  const isSame = before.every(({ text }) => text.trim() === message.text.trim());
  return isSame && before.length === LIMITS.agentRepeatsMax;
}
