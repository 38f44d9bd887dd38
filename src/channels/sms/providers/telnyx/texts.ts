import { z } from 'zod';
import { cleanLine } from '../../../../runtime/clean-text.ts';
import { NO_TEXT } from '../../../../domain/no-text.ts';
import { submittable } from '../../normalize/content.ts';
import type { ProviderTexts, ReceivedText } from '../../provider.ts';
import { ACCOUNT_ID, type TelnyxShopAccount } from './account.ts';
import { readEvent, readMessage, type TelnyxMessage } from './event.ts';
import { telnyxMedium } from './media.ts';

/** The limit of the API for one message; more would be no message of it. */
const MAX_MEDIA = 10;
const MAX_SUBJECT = 200;
const MAX_SHOWN_RECIPIENTS = 20;

/**
 * The text of an event, which is stored as it came.
 * @param event as JSON
 */
export function receivedText(message: TelnyxMessage, event: Uint8Array): ReceivedText {
  const { id, from, recipients } = message;
  const [to = '', ...alsoTo] = recipients;
  return {
    ...{ id, account: ACCOUNT_ID, from, to, alsoTo },
    name: '',
    meta: { provider: 'telnyx' },
    raw: event,
  };
}

export const telnyxTexts: ProviderTexts<TelnyxShopAccount> = {
  name: 'telnyx',
  read: (meta, raw) => {
    const message = readMessage(readEvent(raw).payload);
    const to = String(meta['to']);
    return {
      ...{ id: message.id, account: ACCOUNT_ID, from: message.from, to },
      body: message.text,
      words: submittable(message.text) ?? NO_TEXT,
      context: contextOf(message, to),
      name: undefined,
      optOutType: message.optOutType,
      writtenAt: message.receivedAt,
      media: message.media.slice(0, MAX_MEDIA),
    };
  },
  /** Telnyx's ids are UUIDs (Telnyx, "Message object"). */
  isMessageId: (id) => z.uuid().safeParse(id).success,
  parametersIn: () => undefined,
  // Texts have no names, and the meta has the addresses.
  sendersIn: () => ({ from: '', to: '', name: '' }),
  /** Telnyx, "Advanced opt-in/out": the default behavior. */
  keywords: {
    optOut: new Set(['STOP', 'STOPALL', 'STOP ALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT']),
    optIn: new Set(['START', 'UNSTOP']),
  },
  mediaSource: ({ url }, _message, account) => telnyxMedium(url, account),
};

/** The subject of an MMS, and who else is in its group. */
function contextOf({ subject, recipients }: TelnyxMessage, ours: string): string[] {
  const title = cleanLine(subject, MAX_SUBJECT);
  const others = recipients.filter((number) => number !== ours).map((each) => cleanLine(each, 40));
  const shown = others.slice(0, MAX_SHOWN_RECIPIENTS).join(', ');
  return [
    ...(title === '' ? [] : [`[Subject: ${title}]`]),
    ...(others.length === 0 ? [] : [`[Sent to a group, also to ${shown}]`]),
  ];
}
