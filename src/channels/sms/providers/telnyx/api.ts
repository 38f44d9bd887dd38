import { z } from 'zod';
import { isGsm } from '../../../../domain/gsm.ts';
import type { OutgoingText, ProviderApi, SenderOptions, TextSender } from '../../provider.ts';
import { parseAddress } from '../../address.ts';
import { mmsMedia } from '../mms.ts';
import { ProviderFailed } from '../requests.ts';
import { asTextNotSent, TextNotSent } from '../text-not-sent.ts';
import type { TelnyxAccount, TelnyxShopAccount } from './account.ts';
import { callTelnyx } from './calls.ts';
import { OPT_OUT_CODE } from './event.ts';
import { findOutgoing, telnyxLists } from './lists.ts';

const TIMEOUT_MS = 30_000;

/** A message has at most 10 parts (Telnyx, "Message encoding"): 153 or 67 characters each. */
const MAX_GSM_CHARS = 1530;
const MAX_UCS2_CHARS = 670;
/** The search of the detail records may find a message only some time after it was sent. */
const LISTED_WITHIN_MS = 5 * 60_000;

const sentSchema = z.object({ data: z.object({ id: z.string() }) });

export const telnyxApi: ProviderApi<TelnyxShopAccount> = {
  name: 'telnyx',
  optOutCode: OPT_OUT_CODE,
  createSender: createTextSender,
  lists: telnyxLists,
};

/** Telnyx reports each message to the webhook of the messaging profile. */
function createTextSender(
  account: TelnyxAccount,
  { timeoutMs = TIMEOUT_MS }: SenderOptions = {},
): TextSender {
  return {
    sendText: (text) =>
      asTextNotSent('Telnyx', async () => {
        const call = { method: 'POST', ...callFor(requested(text)) } as const;
        const answer = await callTelnyx(account, call, { timeoutMs }).catch(refusedIfBlocked);
        const sent = sentSchema.safeParse(answer);
        if (sent.success) return sent.data.data.id;
        throw new TextNotSent('unsure', 'Telnyx answered without an id', 'no_id');
      }),
    findSent: (text, since) =>
      asTextNotSent('Telnyx', async () => {
        const { from, to, text: words } = requested(text);
        const ends = { from: parseAddress(from).address, to: parseAddress(to).address };
        const found = await findOutgoing(account, { ...ends, text: words }, since, timeoutMs);
        if (found.length > 0 || Date.now() - since.getTime() > LISTED_WITHIN_MS) return found;
        throw new TextNotSent('unsure', 'Telnyx may not list the text yet', 'not_listed_yet');
      }),
    maxChars: (text) => (isGsm(text) ? MAX_GSM_CHARS : MAX_UCS2_CHARS),
    mediaPerMessage: ({ from, to }) => mmsMedia(from, to),
  };
}

/** By its status alone, it could be a matter of the credentials, which an operator can correct. */
function refusedIfBlocked(error: unknown): never {
  if (!(error instanceof ProviderFailed) || error.code !== OPT_OUT_CODE) throw error;
  const { message, status = 0, code } = error;
  throw new ProviderFailed('never', message, { status, code });
}

/**
 * WhatsApp has a path and a form of its own (Telnyx, "Send WhatsApp Messages").
 * @throws {TextNotSent} over RCS, which asks for a messaging profile as well
 */
function callFor(message: ReturnType<typeof requested>) {
  const [from, to] = [parseAddress(message.from), parseAddress(message.to)];
  if (to.transport === 'rcs') {
    throw new TextNotSent('permanent', 'Replies by RCS are not sent through Telnyx', 'rcs');
  }
  if (to.transport === 'sms') return { path: '/messages', data: message };
  const whatsapp_message = { type: 'text', text: { body: message.text } };
  return {
    path: '/messages/whatsapp',
    data: { from: from.address, to: to.address, whatsapp_message },
  };
}

/** @throws {TextNotSent} */
function requested(text: OutgoingText) {
  const { from, to } = text;
  if (!('body' in text)) throw new TextNotSent('permanent', 'Telnyx has no templates', 'template');
  return { from, to, text: text.body, ...(text.media && { media_urls: text.media }) };
}
