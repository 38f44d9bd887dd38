import {
  CANNOT_BE_ANSWERED,
  CONTACTS_NOT_READABLE,
  NO_SUCH_CONTACT,
  UNCLEAR,
} from '../../../domain/reasons.ts';
import type { EntryState } from '../../contract.ts';

/** What a reason means and what an operator can do about it. */
export interface Explanation {
  /** Beside the state, in a few words. */
  readonly short: string;
  /** One or two sentences. */
  readonly meaning: string;
  readonly todo: string;
}

type Known = Readonly<Record<string, Explanation>>;

const RELEASE = 'Release it when a person wrote it; discard it otherwise.';

/** By the whole reason. */
const KNOWN: Known = {
  several_from: {
    short: 'Several senders',
    meaning: 'The mail names more than one author, which is how forged mail hides its sender.',
    todo: RELEASE,
  },
  'auto-generated': {
    short: 'Machine-written',
    meaning: 'The mail says that a machine wrote it, and not whether for a person.',
    todo: 'Release it when it carries a customer’s words (a form, a shop system) and put that sender into allowSenders, so that the next one goes through.',
  },
  no_sender: {
    short: 'No sender',
    meaning: 'There is no address to answer to, neither in the mail nor on its envelope.',
    todo: RELEASE,
  },
  dmarc: {
    short: 'Fails DMARC',
    meaning:
      'The sender’s domain asks that mail like this be quarantined or refused: nothing proves that it comes from there. The sender is named in From, or in Reply-To or a header like it.',
    todo: 'Look at the verdict below. Release it only when you know the sender some other way. When it comes from a form of yours, name the form’s sender in formSenders.',
  },
  unverified: {
    short: 'Unverified sender',
    meaning: 'Nothing vouches for the address in From, and this shop holds such mail.',
    todo: RELEASE,
  },
  postmaster: {
    short: 'To postmaster',
    meaning: 'It was sent to postmaster or abuse, which people rarely write to.',
    todo: 'Read it: such mail is often about your own mail server. Release it to have it answered.',
  },
  'auto-reply': {
    short: 'Automatic answer',
    meaning: 'An out-of-office note or another automatic answer. Answering it could start a loop.',
    todo: 'Nothing, usually. Release it when it is a person’s words after all.',
  },
  bounce: {
    short: 'Bounce',
    meaning: 'A mail server reports that a message could not be delivered.',
    todo: 'Nothing for this message; check the address that it names.',
  },
  loop: {
    short: 'Own mail',
    meaning: 'Our own mail came back to us. Submitting it would make the agent answer itself.',
    todo: 'Look for a forwarding rule that sends your replies back to the support address.',
  },
  bulk: {
    short: 'Bulk mail',
    meaning: 'A newsletter or a mailing list.',
    todo: 'Release it when it is a customer’s; put the sender into allowSenders when it always is.',
  },
  'short-code': {
    short: 'Short code',
    meaning: 'The sender is a short code: one-time codes and advertising. It cannot be answered.',
    todo: RELEASE,
  },
  'impossible-number': {
    short: 'Impossible number',
    meaning: 'The sender’s number cannot exist, so no answer would reach anybody.',
    todo: RELEASE,
  },
  'alphanumeric-sender': {
    short: 'Named sender',
    meaning: 'The sender is a name instead of a number. It cannot be answered.',
    todo: RELEASE,
  },
  whatsapp: {
    short: 'WhatsApp',
    meaning: 'It came by WhatsApp, and this shop holds those.',
    todo: 'Release it, or set sms.whatsapp to deliver.',
  },
  'help-keyword': {
    short: 'HELP keyword',
    meaning: 'Only the keyword HELP or INFO, which Twilio answers by itself.',
    todo: 'Nothing.',
  },
  'media-never-came': {
    short: 'No late picture',
    meaning:
      'None of a text’s late pictures could be fetched within the hour. The text was delivered without them and names each.',
    todo: 'Release it to try once more; it is then sent even if none can be fetched.',
  },
  'opt-out': {
    short: 'Opted out',
    meaning:
      'The person sent STOP: from now on no text may go there. The contact has a note of it.',
    todo: 'Nothing.',
  },
  'opt-in': {
    short: 'Opted in',
    meaning: 'The person sent START: texts may go there again. The contact has a note of it.',
    todo: 'Nothing.',
  },
  [UNCLEAR]: {
    short: 'Unclear answer',
    meaning:
      'The platform answered without an error, but not with the message, and the message is not in its list: nobody knows whether it was taken.',
    todo: 'Look for it at the platform. When it is there, discard this one; otherwise release it.',
  },
  [CANNOT_BE_ANSWERED]: {
    short: 'Cannot be answered',
    meaning:
      'The platform refused the sender’s address, so the message was delivered without it; the address stands in the contact’s name. Replies do not reach the sender.',
    todo: 'Write to the person yourself.',
  },
  [CONTACTS_NOT_READABLE]: {
    short: 'Contacts not readable',
    meaning:
      'This is a note for a contact. The shop’s key may not read contacts, so nobody knows whether the contact exists, and a note never creates one.',
    todo: 'Allow the shop’s key to read contacts, then release it.',
  },
  [NO_SUCH_CONTACT]: {
    short: 'No such contact',
    meaning: 'A note for a contact whom the platform does not know. A note never creates one.',
    todo: 'Nothing.',
  },
};

const LOOP_LIMITS: Readonly<Record<string, string>> = {
  per10min: 'in ten minutes',
  perHour: 'in an hour',
  perDay: 'in a day',
  perThreadPer10min: 'in one thread in ten minutes',
  sameBodyPerHour: 'with the same text in an hour',
};

const FIX_THE_CAUSE = 'Fix what the answer complains of, then retry.';

/** By the beginning of the reason; the first that fits. */
const BY_PATTERN: readonly {
  readonly pattern: RegExp;
  readonly explain: (found: readonly string[]) => Explanation;
}[] = [
  {
    pattern: /^loop: (\w+)/,
    explain: ([, limit = '']) => ({
      short: 'Too many',
      meaning: `One sender wrote more than is allowed ${LOOP_LIMITS[limit] ?? ''}: probably two machines that answer each other.`,
      todo: 'Release it when a person wrote it. The limits are shops[].email.loop and shops[].sms.loop.',
    }),
  },
  {
    pattern: /^gave up after (\d+) attempts/,
    explain: ([, attempts = '']) => ({
      short: `Gave up after ${attempts}`,
      meaning: `${attempts} attempts failed until delivery.giveUpAfter was over.`,
      todo: 'See the last answer in the timeline. Once its cause is gone, retry.',
    }),
  },
  {
    pattern: /^gave up after (\d+) requests/,
    explain: ([, requests = '']) => ({
      short: `Gave up after ${requests} requests`,
      meaning: `It was submitted ${requests} times, and the platform never confirmed it.`,
      todo: 'See the last answer in the timeline. Once its cause is gone, retry.',
    }),
  },
  {
    pattern: /^the platform answered (3\d\d|401|403|404|405|410)\b/,
    explain: ([, status = '']) => ({
      short: `Refused (${status})`,
      meaning:
        'The platform does not accept the shop’s key or the URL, or a firewall in front of it blocks this text.',
      todo: 'The Overview shows whether others are refused as well; the Doctor tests the key. Look at the answer, then retry.',
    }),
  },
  {
    pattern: /^the platform answered 4(?:08|25|29)\b/,
    explain: () => ({
      short: 'Asked to wait',
      meaning: 'The platform accepts no more requests at the moment.',
      todo: 'Nothing: it is tried again by itself.',
    }),
  },
  {
    pattern: /^the platform answered (4\d\d)\b/,
    explain: ([, status = '']) => ({
      short: `Refused (${status})`,
      meaning: 'The platform refused this message in every form that was tried.',
      todo: FIX_THE_CAUSE,
    }),
  },
  {
    pattern: /^the platform answered (5\d\d)\b/,
    explain: ([, status = '']) => ({
      short: `Platform error (${status})`,
      meaning: 'The platform failed at it.',
      todo: 'Nothing while it is tried again; look at the platform when many messages say so.',
    }),
  },
  {
    pattern: /^the platform answered (\w+)/,
    explain: ([, code = '']) => ({
      short: code === 'timeout' ? 'No answer' : 'Unreachable',
      meaning:
        code === 'timeout'
          ? 'The platform did not answer in time.'
          : `The platform could not be reached (${code}).`,
      todo: 'It is tried again by itself. Check the platform and the way there.',
    }),
  },
  {
    pattern: /^interrupted/,
    explain: () => ({
      short: 'Interrupted',
      meaning: 'The gateway was stopped, or another one took over.',
      todo: 'Nothing: it is tried again at once.',
    }),
  },
  {
    pattern: /^it failed here: (\w+)/,
    explain: ([, name = '']) => ({
      short: 'Failed here',
      meaning: `The gateway itself failed at it (${name}). That is a fault of ours.`,
      todo: 'It is tried again. Please report it, with the gateway’s log of this id.',
    }),
  },
];

/** Undefined for a reason that nobody has words for: then the reason itself is shown. */
export function explain(reason: string | undefined): Explanation | undefined {
  if (reason === undefined || reason === '') return undefined;
  if (Object.hasOwn(KNOWN, reason)) return KNOWN[reason];
  for (const { pattern, explain: words } of BY_PATTERN) {
    const found = pattern.exec(reason);
    if (found !== null) return words(found);
  }
  return undefined;
}

/** A reason that is shown of a delivered message; any other is the failure of an earlier attempt. */
export const isCaveat = (reason: string | undefined): boolean => reason === CANNOT_BE_ANSWERED;

/** For a row of a list; longer reasons are shown on the message's page. */
export const shortReason = (reason: string): string => explain(reason)?.short ?? reason;

/** Reasons that are offered as a filter, the ones that people look for most first. */
export const OFFERED_REASONS: readonly { readonly reason: string; readonly words: string }[] = [
  { reason: 'the platform answered', words: 'The platform’s answer' },
  { reason: 'gave up', words: 'Gave up' },
  { reason: 'loop:', words: 'Too many from one sender' },
  ...Object.entries(KNOWN).map(([reason, { short }]) => ({ reason, words: short })),
];

/** One sentence that explains the term. */
export const STATE_MEANING: Readonly<Record<EntryState, string>> = {
  queued: 'It is safe on disk and waits for its turn.',
  delivering: 'An attempt is under way.',
  delivered: 'The platform has it.',
  dead: 'The gateway will not try again by itself: you decide.',
  held: 'A rule says that a person decides first. Nothing was submitted.',
  suppressed: 'Kept and visible, but not submitted.',
  discarded: 'An operator set it aside. It can be restored until it is swept.',
};
