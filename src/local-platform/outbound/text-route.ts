import type { ConversationRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { type OutgoingReply, SendFailed } from './outbound.ts';

/** How the texts of a conversation come and go, as the gateway that received them knows. */
export interface TextRoute {
  readonly transport: 'sms' | 'whatsapp' | 'rcs';
  /** The shop's number or sender that was written to, without Twilio's prefix. */
  readonly ours: string;
  /** The customer's: their number in one of its forms, or the id of who shows no number. */
  readonly theirs: string;
  readonly isOptedOut: boolean;
}

/** Finds it by the customer's message, or the conversation. Undefined: nothing is known of it. */
export type FindTextRoute = (message: {
  readonly shop: string;
  readonly remoteId: string | undefined;
  readonly conversationId: string;
}) => Promise<TextRoute | undefined>;

/** Twilio, "Customer service windows": from the last message that the customer sent. */
const WHATSAPP_WINDOW_MS = 24 * 60 * 60_000;
const MESSAGE_SID = /^(?:SM|MM)[0-9a-f]{32}/i;

/**
 * A reply by text on the way that its customer chose: over WhatsApp to who wrote over WhatsApp, over
 * RCS to who wrote over RCS, from the sender that received it, and never by SMS instead. What came
 * from elsewhere than a gateway's webhook goes as it is.
 * @throws {SendFailed} permanent: they have opted out, or how their texts came is known no more;
 *   transient: the gateway cannot say now
 */
export async function onItsRoute(
  store: Store,
  conversation: ConversationRow,
  reply: OutgoingReply,
  findRoute: FindTextRoute,
  nowMs: number,
): Promise<OutgoingReply> {
  const last = store.messages.lastOfCustomer(conversation.id);
  const remoteId = last?.remote_id ?? undefined;
  const route = await found(findRoute, reply.shop, remoteId, conversation.id);
  if (route === undefined) {
    if (remoteId === undefined || !MESSAGE_SID.test(remoteId)) return reply;
    throw new SendFailed('permanent', 'nobody knows any more how their texts came', {
      code: 'unknown_route',
    });
  }
  if (route.isOptedOut) throw new SendFailed('permanent', 'opted out', { code: 'opted_out' });
  const { transport, ours, theirs } = route;
  const prefix = transport === 'sms' ? '' : `${transport}:`;
  const saidAt = Date.parse(last?.created_at ?? '');
  const isOpen = transport !== 'whatsapp' || nowMs - saidAt < WHATSAPP_WINDOW_MS;
  return {
    ...reply,
    from: prefix + ours,
    to: prefix + (reply.to ?? theirs),
    ...(!isOpen && { needsTemplate: true }),
  };
}

async function found(
  findRoute: FindTextRoute,
  shop: string,
  remoteId: string | undefined,
  conversationId: string,
): Promise<TextRoute | undefined> {
  try {
    return await findRoute({ shop, remoteId, conversationId });
  } catch (cause) {
    throw new SendFailed('transient', 'the gateway was not asked how to reply', { cause });
  }
}
