import { type Reason, sentence } from './reasons.ts';

/** How one email was read: for the operator who asks why the agent got what it got. */
export interface EmailReading {
  readonly sender: SenderReading;
  /** The MIME parts, in the order of the message. */
  readonly parts: readonly PartReading[];
  /** Why the content is made of the parts that it is made of. */
  readonly body: BodyChoice;
  readonly quotes: QuotesReading;
  /** Deviations from the standards that were corrected, and limits that were reached. */
  readonly findings: Readonly<Record<string, string | number | boolean>>;
  readonly decision: {
    readonly kind: 'deliver' | 'held' | 'suppressed';
    readonly reason?: Reason;
  };
}

export interface SenderReading {
  /** The address of the platform's contact; absent if there is none. */
  readonly address?: string;
  /** Why the person is not simply the one in From. */
  readonly because: SenderChoice;
  /** Absent if the sender was not checked. */
  readonly checks?: Readonly<Record<string, string>>;
  readonly verified: boolean;
}

export interface PartReading {
  /** `1.2` is the second part of the first part. */
  readonly number: string;
  readonly type: string;
  /** Absent for a part that consists of parts. */
  readonly bytes?: number;
  readonly charset?: string;
  readonly name?: string;
  readonly use: PartUse;
}

export interface QuotesReading {
  readonly why: TrimDecision;
  /** What was removed, in the order of the message. */
  readonly cut: readonly {
    readonly rule: CutRule;
    readonly lines: number;
    /** The line by which the rule was recognized. */
    readonly at: string;
  }[];
  /** What stays although it looks like a signature or a quote, in the same form. */
  readonly stayed: readonly {
    readonly rule: StayRule;
    readonly lines: number;
    readonly at: string;
  }[];
}

/** What a part is in the platform's message. */
export const PART_USES = {
  container: 'contains the parts below',
  body: 'the content',
  other_form: 'another form of the content',
  inline: 'attachment, shown in the content',
  attachment: 'attachment',
} as const;
export type PartUse = keyof typeof PART_USES;

export const SENDER_CHOICES = {
  from: 'the address in From',
  'no-reply': 'From is a no-reply address, so the person is the one in Reply-To',
  form: 'From is a form or marketplace, so the person is the one in Reply-To',
  'list-rewrite': 'a list or group has replaced From',
  'own-address': 'From is an address of the shop: a contact form, so the person is in Reply-To',
  'no-author': 'there is no usable From, so the person is in Reply-To or Sender',
  several: 'there are several addresses in From',
  none: 'no header names an author, so the envelope sender is used',
} as const;
export type SenderChoice = keyof typeof SENDER_CHOICES;

export const BODY_CHOICES = {
  none: 'there is no text',
  only_form: 'it is the only form of the text',
  plain_text: 'the plain text is what was written',
  configured: 'the shop is configured for HTML (email.body)',
  plain_is_stub: 'the plain text is empty, refers to the HTML, or has much less text than it',
  html_places_images: 'only the HTML shows where the pictures belong',
} as const;
export type BodyChoice = keyof typeof BODY_CHOICES;

export const TRIM_DECISIONS = {
  configured: 'the shop is configured to keep quotes (email.quotes)',
  forward: 'it is a forwarded message',
  no_reply: 'it answers no message',
  unknown_reply: 'it answers a message that has not passed through here',
  reply: 'it answers a message of the shop',
  always: 'the shop is configured to trim every message (email.quotes)',
  inline_answers: 'answers are between the quoted lines or below them',
  points_into_quote: 'the text says that there is more of it in the quote',
  nothing_left: 'nothing of its own would be left',
} as const;
export type TrimDecision = keyof typeof TRIM_DECISIONS;

export const CUT_RULES = {
  client_mark: 'the mail program marked it as a quote',
  attribution: 'the line before it says who wrote the quoted message',
  header_block: 'the header of the quoted message begins it',
  title: 'a title such as "Original message" begins it',
  quote_marks: 'its lines begin with >',
  signature_mark: 'the mail program marked it as the signature',
  signature_delimiter: 'it follows the line "-- "',
  device: 'a line that a phone or program appends',
} as const;
export type CutRule = keyof typeof CUT_RULES;

export const STAY_RULES = {
  own_quotation: 'nothing introduces this quotation, so the person may have made it',
  letter: 'a postscript, a quotation or a longer text stands below the dashes',
  separator: 'the dashes separate paragraphs',
  pointed_to: 'the text announces what is in the signature',
  nothing_else: 'the text above is empty, or a greeting only',
  written_by_person: 'it does not read like a signature',
} as const;
export type StayRule = keyof typeof STAY_RULES;

/** The same with a sentence beside each code, for programs and the console. */
export type WordedReading = ReturnType<typeof inWords>;

export function inWords({ sender, parts, body, quotes, findings, decision }: EmailReading) {
  const { kind, reason } = decision;
  return {
    decision: {
      kind,
      ...(reason && {
        reason: sentence(reason),
        reasonCode: reason.code,
        reasonParams: reason.params ?? {},
      }),
    },
    sender: { ...sender, words: SENDER_CHOICES[sender.because] },
    parts: parts.map((part) => ({ ...part, words: PART_USES[part.use] })),
    body: { why: body, words: BODY_CHOICES[body] },
    quotes: {
      why: quotes.why,
      words: TRIM_DECISIONS[quotes.why],
      cut: quotes.cut.map((each) => ({ ...each, words: CUT_RULES[each.rule] })),
      stayed: quotes.stayed.map((each) => ({ ...each, words: STAY_RULES[each.rule] })),
    },
    findings,
  };
}
