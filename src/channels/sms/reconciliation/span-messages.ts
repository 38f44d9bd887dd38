import { type ListedMessage, sentAt } from '../providers/twilio/listed-message.ts';
import type { Span } from './spans.ts';
import type { MessageLists } from '../providers/twilio/message-lists.ts';

export interface SentMessage {
  readonly message: ListedMessage;
  readonly sentAt: number;
}

/**
 * The inbound messages of a span that `keep` wants, in the order of DateSent, each once.
 * Undefined when there are more than can be listed in one go.
 * @param maxPages requests for one list
 * @param addresses the values of To to list by; undefined for all
 * @throws {ApiFailed}
 */
export async function messagesOf(
  lists: MessageLists,
  addresses: readonly string[] | undefined,
  span: Span,
  maxPages: number,
  keep: (message: ListedMessage, sentAt: number) => boolean,
): Promise<readonly SentMessage[] | undefined> {
  const found = new Map<string, SentMessage>();
  for (const to of addresses ?? [undefined]) {
    const listed: SentMessage[] = [];
    let pages = 0;
    for await (const page of lists.pages(to, span)) {
      pages += 1;
      if (pages > maxPages) return undefined;
      for (const message of page) {
        // Twilio dates every message; one without a date is better early than lost.
        const at = sentAt(message) ?? span.from;
        if (hasArrived(message) && keep(message, at)) listed.push({ message, sentAt: at });
      }
    }
    for (const sent of oldestFirst(listed)) found.set(sent.message.sid, sent);
  }
  return [...found.values()].sort((one, other) => one.sentAt - other.sentAt);
}

/** One that is still `receiving` is listed again as `received`. */
const hasArrived = ({ direction, status }: ListedMessage): boolean =>
  direction === 'inbound' && status !== 'receiving';

/**
 * A list comes newest first, and its dates have whole seconds: of two texts in one second only
 * their places tell which was first. The dates tell which way the list goes.
 */
function oldestFirst(listed: readonly SentMessage[]): readonly SentMessage[] {
  const [first] = listed;
  const last = listed.at(-1);
  if (first === undefined || last === undefined) return listed;
  return first.sentAt < last.sentAt ? listed : listed.toReversed();
}
