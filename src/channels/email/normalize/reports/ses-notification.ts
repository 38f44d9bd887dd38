import { z } from 'zod';
import { canonicalAddress } from '../../../../domain/email-addresses.ts';
import type { FailedRecipient } from './report-parts.ts';

const MAX_RECIPIENTS = 100;
/** https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html#bounced-recipients */
const bounceSchema = z.object({
  bounce: z.object({
    bouncedRecipients: z.array(
      z.object({
        emailAddress: z.string(),
        status: z.string().optional(),
        diagnosticCode: z.string().optional(),
      }),
    ),
  }),
});

/** SNS may send the notification as a text within JSON (`"Message" : "{…}"`). */
const envelopeSchema = z.object({ Message: z.string().startsWith('{') });

/** A notification of Amazon SES without the envelope in which SNS sends it; any other text as it is. */
export function sesNotification(text: string): string {
  return envelopeSchema.safeParse(jsonIn(text)).data?.Message ?? text;
}

/** The recipients that were not reached, according to a notification of Amazon SES. */
export function sesRecipients(text: string): readonly FailedRecipient[] {
  const recipients = bounceSchema.safeParse(jsonIn(text)).data?.bounce.bouncedRecipients ?? [];
  return recipients.slice(0, MAX_RECIPIENTS).flatMap(({ emailAddress, status, diagnosticCode }) => {
    const address = canonicalAddress(emailAddress);
    if (address === undefined) return [];
    return [
      { address, ...(status && { status }), ...(diagnosticCode && { diagnostic: diagnosticCode }) },
    ];
  });
}

/** SNS writes a footer below. */
function jsonIn(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text.slice(0, text.lastIndexOf('}') + 1));
  } catch {
    return undefined;
  }
}
