import type { ReplyLanguage } from './languages.ts';

/** What is known of the answered message when a program writes a reply to it. */
export interface Answered {
  readonly language: ReplyLanguage;
  /** In the form of `Intl.DateTimeFormat` with the options. */
  date(options: Intl.DateTimeFormatOptions): string;
  readonly iso: string;
  readonly name: string;
  readonly address: string;
  readonly subject: string;
}

/**
 * How a program writes a reply.
 * - `marked`: its quotes are marked line by line or by an element, so that answers can stand in them
 * - `plain`: the quote is text of its own, from the head of the quote to the end
 */
export type ReplyClient = {
  readonly name: string;
  /** The only languages in which the program is used; undefined for all. */
  readonly languages?: readonly string[];
} & (
  | { readonly kind: 'text'; readonly marked: boolean; head(to: Answered): readonly string[] }
  | { readonly kind: 'html'; readonly marked: boolean; quote(to: Answered, old: string): string }
);

export const LONG: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
};
export const FULL: Intl.DateTimeFormatOptions = { ...LONG, weekday: 'long', month: 'long' };
export const SHORT: Intl.DateTimeFormatOptions = {
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
};
export const TIME: Intl.DateTimeFormatOptions = { hour: 'numeric', minute: '2-digit' };

const fill = (template: string, to: Answered, day = LONG) =>
  template
    .replace('{d}', to.date(day))
    .replace('{t}', to.date(TIME))
    .replace('{n}', to.name)
    .replace('{a}', to.address);
/** The attribution of Gmail, Apple and Thunderbird. */
export const gmail = (to: Answered) => fill(to.language.gmail, to);
export const apple = (to: Answered) => fill(to.language.apple, to, { ...LONG, weekday: undefined });
export const thunderbird = (to: Answered) => fill(to.language.thunderbird, to, SHORT);

/** The fields of the answered message, as Outlook writes them above it. */
export function fields(to: Answered, colon = ':'): readonly string[] {
  const [from, sent, recipient, subject] = to.language.fields;
  return [
    `${from}${colon} ${to.name} <${to.address}>`,
    `${sent}${colon} ${to.date(FULL)} ${to.date(TIME)}`,
    `${recipient}${colon} Ann Customer <ann@customer.example>`,
    `${subject}${colon} Re: ${to.subject}`,
  ];
}

export const colonOf = ({ language }: Answered) => (language.code === 'fr' ? ' :' : ':');

/** The fields of the answered message in HTML. */
export const boldFields = (to: Answered) =>
  fields(to, colonOf(to))
    .map((line) => {
      const [label = '', ...rest] = line.split(': ');
      return `<b>${label}:</b> ${htmlOf(rest.join(': '))}`;
    })
    .join('<br>');

export function htmlOf(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
