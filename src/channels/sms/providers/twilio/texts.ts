import { z } from 'zod';
import { parsedJson } from '../../../../spool/stored-form.ts';
import { isUserId } from '../../address.ts';
import { oneLine } from '../../normalize/whatsapp-words.ts';
import type { MediaReference, ProviderTexts, ReceivedText, TextMessage } from '../../provider.ts';
import type { TwilioShopAccount } from './account.ts';
import { contextOf, mediaCount, messageText } from './content.ts';
import {
  ACCOUNT_SID,
  FormFields,
  type FormPairs,
  MESSAGE_SID,
  type MessageIdentity,
} from './form.ts';
import { twilioMedium } from './media.ts';

/** The stored form of Twilio's texts: the identity in the meta, the parameters as a JSON list. */

const metaSchema = z.object({
  messageSid: z.string().regex(MESSAGE_SID),
  accountSid: z.string().regex(ACCOUNT_SID),
  from: z.string(),
  to: z.string(),
});
const rawSchema = z.array(z.tuple([z.string(), z.string()]));

const MAX_NAME_LENGTH = 200;

/** The text of these parameters, pushed or listed. */
export function receivedText(identity: MessageIdentity, pairs: FormPairs): ReceivedText {
  const { messageSid: id, accountSid: account, from, to } = identity;
  const fields = new FormFields(pairs);
  const ids = ['ExternalUserId', 'ExternalUserIdentifier'].flatMap((name) => fields.all(name));
  const userId = ids.find((each) => isUserId({ transport: 'whatsapp', address: each }));
  return {
    ...{ id, account, from, to },
    ...(userId !== undefined && { names: { userId } }),
    service: fields.first('MessagingServiceSid'),
    name: fields.first('ProfileName') ?? '',
    // Without a provider's name: entries had none when Twilio was the only one.
    meta: { messageSid: id, accountSid: account },
    raw: Buffer.from(JSON.stringify(pairs)),
  };
}

export function readText(identity: MessageIdentity, fields: FormFields): TextMessage {
  const { messageSid: id, accountSid: account, from, to } = identity;
  return {
    ...{ id, account, from, to },
    body: fields.first('Body') ?? '',
    words: messageText(fields),
    context: contextOf(fields, to),
    name: oneLine(fields.first('ProfileName'), MAX_NAME_LENGTH),
    optOutType: fields.first('OptOutType') ?? '',
    media: mediaIn(fields),
  };
}

/** The media in `MediaUrl0` to `MediaUrl9`; one without a URL is shown as not retrieved. */
const mediaIn = (fields: FormFields): MediaReference[] =>
  Array.from({ length: mediaCount(fields) }, (_, index) => ({
    url: fields.first(`MediaUrl${index}`) ?? '',
    contentType: fields.first(`MediaContentType${index}`),
  }));

export const twilioTexts: ProviderTexts<TwilioShopAccount> = {
  name: 'twilio',
  read: (meta, raw) => {
    const pairs = rawSchema.parse(JSON.parse(Buffer.from(raw).toString('utf8')));
    return readText(metaSchema.parse(meta), new FormFields(pairs));
  },
  isMessageId: (id) => MESSAGE_SID.test(id),
  parametersIn: (raw) => rawSchema.safeParse(parsedJson(raw)).data,
  sendersIn: (raw) => {
    const pairs = parsedJson(raw);
    const field = (name: string): string => {
      for (const pair of Array.isArray(pairs) ? (pairs as unknown[]) : []) {
        const [key, value] = Array.isArray(pair) ? (pair as unknown[]) : [];
        if (key === name && typeof value === 'string') return value;
      }
      return '';
    };
    return { from: field('From'), to: field('To'), name: field('ProfileName') };
  },
  /** Twilio, "Twilio support for opt-out keywords": single-word messages, in any case. */
  keywords: {
    optOut: new Set('STOP STOPALL UNSUBSCRIBE END QUIT CANCEL REVOKE OPTOUT'.split(' ')),
    optIn: new Set(['START', 'UNSTOP', 'YES']),
  },
  mediaSource: ({ url }, { account: accountSid, id: messageSid }, account) =>
    twilioMedium(url, { accountSid, messageSid }, account),
};
