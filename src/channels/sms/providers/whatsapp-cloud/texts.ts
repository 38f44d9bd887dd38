import { parseAddress } from '../../address.ts';
import { readContent } from '../../normalize/whatsapp-message.ts';
import type { ProviderTexts } from '../../provider.ts';
import type { WhatsAppShopAccount } from './account.ts';
import { readMessage } from './event.ts';
import { whatsappMedium } from './media.ts';

export const whatsappTexts: ProviderTexts<WhatsAppShopAccount> = {
  name: 'whatsapp',
  read: (meta, raw) => {
    const received = readMessage(raw);
    if (received === undefined) throw new Error('The stored message is damaged');
    const { id, account, from, name } = received.text;
    const to = String(meta['to']);
    return {
      ...{ id, account, from, to, name: name === '' ? undefined : name, optOutType: '' },
      writtenAt: Number(received.message.timestamp || NaN) * 1000,
      ...readContent(received.message, parseAddress(to).address),
    };
  },
  isMessageId: (id) => /^wamid\.[\w+/=-]{1,250}$/.test(id),
  parametersIn: () => undefined,
  sendersIn: (raw) => ({ from: '', to: '', name: readMessage(raw)?.text.name ?? '' }),
  /** Meta answers no keywords. */
  keywords: { optOut: new Set(), optIn: new Set() },
  mediaSource: ({ url: id }, _message, account) => whatsappMedium(id, account),
};
