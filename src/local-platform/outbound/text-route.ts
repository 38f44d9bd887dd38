import type { ConversationRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { type OutgoingReply, SendFailed } from './outbound.ts';

/** The transport of a conversation's texts, as recorded by the gateway that received them. */
export interface TextRoute {
  readonly transport: 'sms' | 'whatsapp' | 'rcs';
  /** The shop's number or sender, without the transport's prefix. */
  readonly ours: string;
  /** The customer's number, or their id when the number is hidden. */
  readonly theirs: string;
  readonly isOptedOut: boolean;
  /** On WhatsApp: further conversations of the same person, if several names of theirs were joined. */
  readonly conversations?: readonly string[];
}

/**
 * Finds the route by the customer's message or the conversation. `lost`: the message is a text, and
 * its route is no longer known; undefined: it did not come through the gateway's webhook.
 */
export type FindTextRoute = (message: {
  readonly shop: string;
  readonly remoteId: string | undefined;
  readonly conversationId: string;
}) => Promise<TextRoute | 'lost' | undefined>;

/** Since the customer's last message (Twilio, "Customer service windows"). */
const WHATSAPP_WINDOW_MS = 24 * 60 * 60_000;

/**
 * Sends a text reply over the transport that the customer used, such as WhatsApp or RCS, and from the
 * sender that received their message; never by SMS instead. A reply to a message that did not come
 * through the gateway's webhook is unchanged.
 * @throws {SendFailed} permanent: the customer has opted out, or the route is no longer known;
 *   transient: the route could not be looked up
 */
export async function routeText(
  store: Store,
  conversation: ConversationRow,
  reply: OutgoingReply,
  findRoute: FindTextRoute,
  nowMs: number,
): Promise<OutgoingReply> {
  const last = store.messages.lastOfCustomer(conversation.id);
  const remoteId = last?.remote_id ?? undefined;
  const route = await lookUp(findRoute, reply.shop, remoteId, conversation.id);
  if (route === undefined) return reply;
  if (route === 'lost') {
    throw new SendFailed('permanent', 'the route of the conversation is no longer known', {
      code: 'unknown_route',
    });
  }
  if (route.isOptedOut) throw new SendFailed('permanent', 'opted out', { code: 'opted_out' });
  const { transport, ours, theirs } = route;
  const prefix = transport === 'sms' ? '' : `${transport}:`;
  const saidAt = Date.parse(store.messages.customerWroteAt(conversation.id) ?? '');
  const isOpen = transport !== 'whatsapp' || nowMs - saidAt < WHATSAPP_WINDOW_MS;
  return {
    ...reply,
    from: prefix + ours,
    to: prefix + (reply.to ?? theirs),
    ...(!isOpen && { needsTemplate: true }),
  };
}

/** Whether the customer has opted out of texts: then neither the agent nor a person may write. */
export async function isOptedOut(
  store: Store,
  { id, shop, type }: ConversationRow,
  findRoute: FindTextRoute | undefined,
): Promise<boolean> {
  if (type !== 'sms' || findRoute === undefined) return false;
  const remoteId = store.messages.lastOfCustomer(id)?.remote_id ?? undefined;
  const route = await findRoute({ shop, remoteId, conversationId: id });
  return typeof route === 'object' && route.isOptedOut;
}

async function lookUp(
  findRoute: FindTextRoute,
  shop: string,
  remoteId: string | undefined,
  conversationId: string,
): ReturnType<FindTextRoute> {
  try {
    return await findRoute({ shop, remoteId, conversationId });
  } catch (cause) {
    throw new SendFailed('transient', 'the route could not be looked up', { cause });
  }
}
