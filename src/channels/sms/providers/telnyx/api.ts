import { z } from 'zod';
import type { OutgoingText, ProviderApi, TextSender } from '../../provider.ts';
import { ProviderFailed } from '../requests.ts';
import { asTextNotSent, TextNotSent } from '../text-not-sent.ts';
import type { TelnyxAccount, TelnyxShopAccount } from './account.ts';
import { callTelnyx } from './calls.ts';
import { findOutgoing, telnyxLists } from './lists.ts';

const TIMEOUT_MS = 30_000;

/** A message has at most 10 parts (Telnyx, "Message encoding"): 153 or 67 characters each. */
const MAX_GSM_CHARS = 1530;
const MAX_UCS2_CHARS = 670;
/** Those of GSM 03.38 that take one of its septets and are in ASCII, or common in Europe. */
const GSM = /^[A-Za-z0-9 \r\n@£$¥èéùìòÇØøÅåÆæßÉÄÖÑÜ§äöñüà!"#%&'()*+,\-./:;<=>?_¡¿]*$/;

const sentSchema = z.object({ data: z.object({ id: z.string() }) });

export const telnyxApi: ProviderApi<TelnyxShopAccount> = {
  name: 'telnyx',
  createSender: createTextSender,
  lists: telnyxLists,
};

function createTextSender(account: TelnyxAccount, timeoutMs = TIMEOUT_MS): TextSender {
  return {
    sendText: (text) =>
      asTextNotSent('Telnyx', async () => {
        const call = { method: 'POST', path: '/messages', data: requested(text) } as const;
        const answer = await callTelnyx(account, call, { timeoutMs }).catch(refusedIfBlocked);
        const sent = sentSchema.safeParse(answer);
        if (sent.success) return sent.data.data.id;
        throw new TextNotSent('unsure', 'Telnyx answered without an id', 'no_id');
      }),
    findSent: (text, since) =>
      asTextNotSent('Telnyx', () => findOutgoing(account, requested(text), since, timeoutMs)),
    maxChars: (text) => (GSM.test(text) ? MAX_GSM_CHARS : MAX_UCS2_CHARS),
  };
}

/**
 * The person wrote STOP (Telnyx, "Messaging error codes": 40300). By its status alone, it could be
 * a matter of the credentials, which an operator can correct.
 */
function refusedIfBlocked(error: unknown): never {
  if (!(error instanceof ProviderFailed) || error.code !== '40300') throw error;
  const { message, status = 0, code } = error;
  throw new ProviderFailed('never', message, { status, code });
}

/** @throws {TextNotSent} */
function requested(text: OutgoingText) {
  const { from, to } = text;
  if (!('body' in text)) throw new TextNotSent('permanent', 'Telnyx has no templates', 'template');
  return { from, to, text: text.body };
}
