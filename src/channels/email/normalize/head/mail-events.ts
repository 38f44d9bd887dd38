import type { AddressMatcher } from '../../address-matcher.ts';
import type { CreateEventRequest } from '../../../../platform-api/schemas.ts';
import type { BounceReport, FailedRecipient } from './bounce-report.ts';
import { cleanLine } from '../../../../runtime/clean-text.ts';
import { platformAddress } from './recipients.ts';

const MAX_DIAGNOSTIC = 300;
const MAX_SUBJECT = 200;

/**
 * A bounce as lines on the timelines of those whom our mail did not reach. Delivery sends an event
 * only about a contact that the platform already has: anyone can forge a bounce.
 * @param at milliseconds since the epoch
 */
export function bounceEvents(
  { failed, originalId }: BounceReport,
  own: AddressMatcher,
  at: number,
): readonly CreateEventRequest[] {
  return failed.flatMap((recipient) => {
    const email = platformAddress(recipient.address);
    if (email === undefined || own.has(email)) return [];
    const lines = [reasonOf(recipient), originalId && `Message-ID: ${originalId}`].filter(Boolean);
    return [
      {
        name: 'Email not delivered',
        ...(lines.length > 0 && { description: lines.join('\n') }),
        event_time: new Date(at).toISOString(),
        contact: { email },
      },
    ];
  });
}

function reasonOf({ status, diagnostic }: FailedRecipient): string {
  return [status, diagnostic && cleanLine(diagnostic, MAX_DIAGNOSTIC)].filter(Boolean).join(' ');
}

/** A suppressed automatic reply as a line on its sender's timeline. */
export function autoReplyEvents(
  contact: { readonly email?: string },
  subject: string | undefined,
  at: number,
): readonly CreateEventRequest[] {
  const { email } = contact;
  if (email === undefined) return [];
  return [
    {
      name: 'Automatic reply',
      ...(subject !== undefined && { description: cleanLine(subject, MAX_SUBJECT) }),
      event_time: new Date(at).toISOString(),
      contact: { email },
    },
  ];
}
