import { z } from 'zod';
import { parseAddress } from '../../address.ts';
import type { OutgoingText, ProviderApi, SenderOptions, TextSender } from '../../provider.ts';
import { asTextNotSent, TextNotSent } from '../text-not-sent.ts';
import type { WhatsAppAccount, WhatsAppShopAccount } from './account.ts';
import { callGraph } from './calls.ts';
import { idsSent, noteSent, tagOf } from '../sent-texts.ts';

/** A status comes within seconds; without one for this long, Meta has not accepted the message. */
const STATUS_WITHIN_MS = 5 * 60_000;

const sentSchema = z.object({ messages: z.tuple([z.object({ id: z.string() })], z.unknown()) });

export const whatsappApi: ProviderApi<WhatsAppShopAccount> = {
  name: 'whatsapp',
  createSender: createTextSender,
  // Meta lists no messages; it repeats webhooks for seven days instead.
  lists: undefined,
};

function createTextSender(account: WhatsAppAccount, options: SenderOptions = {}): TextSender {
  const { timeoutMs = 30_000 } = options;
  return {
    sendText: (text) =>
      asTextNotSent('WhatsApp', async () => {
        const path = `/${phoneNumberIdOf(text.from, account)}/messages`;
        const data = requested(text, account);
        const answer = await callGraph(account, path, { timeoutMs }, data);
        const { success, data: sent } = sentSchema.safeParse(answer);
        if (!success) throw new TextNotSent('unsure', 'WhatsApp answered without an id', 'no_id');
        const [{ id }] = sent.messages;
        noteSent(id, { tag: tagOf(text), hasFailed: false, at: Date.now() });
        return id;
      }),
    findSent: (text, since) => {
      const found = idsSent(tagOf(text), since.getTime());
      const isOver = Date.now() - since.getTime() > STATUS_WITHIN_MS;
      if (found.length > 0 || isOver) return Promise.resolve(found);
      const words = 'WhatsApp may still report the text';
      return Promise.reject(new TextNotSent('unsure', words, 'no_status_yet'));
    },
    /** Of a text message (Meta, "Text messages"). */
    maxChars: () => 4096,
  };
}

/** @throws {TextNotSent} */
function phoneNumberIdOf(from: string, { senders }: WhatsAppAccount): string {
  const { address } = parseAddress(from);
  const sender = senders.find(({ number }) => number === address);
  if (sender !== undefined) return sender.phoneNumberId;
  // An operator can correct the numbers.
  throw new TextNotSent('transient', 'The sender is no number of the shop', 'unknown_sender');
}

/** The platform sends templates of shops that have one only. */
function requested(text: OutgoingText, { template }: WhatsAppAccount): object {
  const { address } = parseAddress(text.to);
  return {
    ...{ messaging_product: 'whatsapp', recipient_type: 'individual' },
    // An id in place of a hidden number (Meta, "Business-scoped user IDs").
    ...(address.startsWith('+') ? { to: address } : { recipient: address }),
    biz_opaque_callback_data: tagOf(text),
    ...('body' in text
      ? { type: 'text', text: { body: text.body } }
      : { type: 'template', template: filledIn(text.shown, template) }),
  };
}

const filledIn = (shown: string, template: WhatsAppAccount['template']): object => ({
  name: template?.name,
  language: { code: template?.language },
  components: [{ type: 'body', parameters: [{ type: 'text', text: shown }] }],
});
