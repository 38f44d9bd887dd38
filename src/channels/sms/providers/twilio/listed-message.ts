import { z } from 'zod';
import type { FormPairs } from '../../form.ts';

/**
 * A message as the Messages list has it (REST API, Message resource), in the names that `twilio`
 * gives its members. Only what is used; Twilio adds members as it likes.
 */
export const listedMessage = z.object({
  sid: z.string(),
  accountSid: z.string(),
  direction: z.string(),
  status: z.string().nullish(),
  from: z.string().nullish(),
  to: z.string().nullish(),
  body: z.string().nullish(),
  numSegments: z.coerce.string().nullish(),
  numMedia: z.coerce.number().int().min(0).catch(0),
  messagingServiceSid: z.string().nullish(),
  // The package hands on what is no date as it came.
  dateSent: z.date().nullish().catch(undefined),
  dateCreated: z.date().nullish().catch(undefined),
});
export type ListedMessage = z.output<typeof listedMessage>;

export const listedMedium = z.object({
  sid: z.string(),
  contentType: z.string().nullish(),
  dateCreated: z.date().nullish().catch(undefined),
});
export type ListedMedium = z.output<typeof listedMedium>;

/** When it was sent, in milliseconds; undefined when Twilio does not say. */
export function sentAt({ dateSent, dateCreated }: ListedMessage): number | undefined {
  return (dateSent ?? dateCreated)?.getTime();
}

/**
 * The parameters with which the webhook would have brought this message, as far as the REST API
 * knows them: not ProfileName, ButtonText, the location or OptOutType, which only webhooks have.
 */
export function toPairs(message: ListedMessage, media: readonly ListedMedium[]): FormPairs {
  const { sid, accountSid, messagingServiceSid, numSegments } = message;
  const folder = `https://api.twilio.com/2010-04-01/Accounts/${accountSid}/Messages/${sid}/Media/`;
  return [
    ['MessageSid', sid],
    ['SmsSid', sid],
    ['SmsMessageSid', sid],
    ['AccountSid', accountSid],
    ...(messagingServiceSid ? [['MessagingServiceSid', messagingServiceSid] as const] : []),
    ['From', message.from ?? ''],
    ['To', message.to ?? ''],
    ['Body', message.body ?? ''],
    ['SmsStatus', 'received'],
    ['NumSegments', numSegments ?? '1'],
    ['NumMedia', String(media.length)],
    ...oldestFirst(media).flatMap((medium, index) => [
      [`MediaContentType${index}`, medium.contentType ?? ''] as const,
      [`MediaUrl${index}`, folder + medium.sid] as const,
    ]),
    ['ApiVersion', '2010-04-01'],
  ];
}

const oldestFirst = (media: readonly ListedMedium[]): ListedMedium[] =>
  media.toSorted(
    (one, other) => (one.dateCreated?.getTime() ?? 0) - (other.dateCreated?.getTime() ?? 0),
  );
