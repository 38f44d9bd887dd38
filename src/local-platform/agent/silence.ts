import { LIMITS } from '../open-points.ts';
import { senderOf } from '../outbound/addressed.ts';
import { isMachine } from '../addresses.ts';
import { type ConversationRow, emailOf, type MessageRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

/** Why a message gets no answer. */
export type Silence =
  | 'escalated'
  | 'empty'
  | 'own_address'
  | 'no_reply_address'
  | 'auto_reply'
  | 'bounce'
  | 'opt_out'
  | 'repeated'
  | 'too_fast';

const TEN_MINUTES_MS = 600_000;
const DAY_MS = 86_400_000;

/** What mail programs write over an answer that nobody wrote; in the languages of the agent. */
const AUTO_REPLY =
  /^(?:(?:re|aw|fwd?): *)*(?:auto(?:matic|mated)?[- ]?(?:reply|response|answer)|auto:|out of (?:the )?office|away from (?:the|my) office|automatische? (?:antwort|abwesenheit)|abwesenheitsnotiz|abwesend\b|réponse automatique|absence du bureau|respuesta automática|fuera de la oficina|risposta automatica|automatisch antwoord|resposta automática)/i;
const BOUNCE =
  /^(?:undeliver(?:able|ed)\b|delivery (?:status notification|failure|has failed)|mail delivery (?:failed|system|subsystem)|returned mail|failure notice|unzustellbar|nicht zustellbar|message non distribué|no se puede entregar)/i;
/** What carriers take for an end of the subscription; Twilio answers these itself. */
const OPT_OUT = /^\W*(?:stop|stopall|unsubscribe|cancel|end|quit|start|unstop|optout|revoke)\W*$/i;

/**
 * Why this message gets no answer; undefined when it may get one. The API does not say whether a
 * message was written by a machine: addresses and subjects tell some of them, and a conversation
 * that goes too fast, or turns in a circle, is taken for one.
 */
export function silence(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
  nowMs: number,
): Silence | undefined {
  if (conversation.resolution === 'escalated') return 'escalated';
  const isFirst = store.messages.before(message, 1).length === 0;
  // Later mails of a thread repeat its subject: only the first one's says something.
  const spoken = isFirst ? `${conversation.title ?? ''}${message.text}` : message.text;
  if (spoken.trim() === '') return 'empty';
  if (conversation.type === 'sms' && OPT_OUT.test(message.text)) return 'opt_out';
  return machine(store, conversation, message) ?? circle(store, conversation, message, nowMs);
}

function machine(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
): Silence | undefined {
  const { shop } = message;
  const address = senderOf(store, conversation, message);
  if (address && store.conversations.isAgentContact(shop, address)) return 'own_address';
  if (conversation.type !== 'email') return undefined;
  if (address && isMachine(address)) return 'no_reply_address';
  const { subject = '' } = emailOf(message);
  if (AUTO_REPLY.test(subject.trim())) return 'auto_reply';
  return BOUNCE.test(subject.trim()) ? 'bounce' : undefined;
}

function circle(
  store: Store,
  conversation: ConversationRow,
  message: MessageRow,
  nowMs: number,
): Silence | undefined {
  const repliesSince = (ms: number) =>
    store.messages.repliesSince(conversation.id, new Date(nowMs - ms).toISOString());
  if (repliesSince(TEN_MINUTES_MS) >= LIMITS.agentRepliesPer10Min) return 'too_fast';
  if (repliesSince(DAY_MS) >= LIMITS.agentRepliesPerDay) return 'too_fast';
  if (conversation.type === 'web_chat') return undefined;
  const before = store.messages
    .before(message, 2 * LIMITS.agentRepeatsMax)
    .filter(({ role }) => role === 'customer')
    .slice(-LIMITS.agentRepeatsMax);
  const isSame = before.every(({ text }) => text.trim() === message.text.trim());
  return isSame && before.length === LIMITS.agentRepeatsMax ? 'repeated' : undefined;
}
