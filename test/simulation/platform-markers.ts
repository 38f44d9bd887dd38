import type { FieldError } from './platform-answers.ts';

/** Whether a message can be stored: unchanged, after one element is removed, or not at all. */
export type Acceptability = 'always' | 'ladder' | 'never';

/** The parts of a message that markers depend on, in normalized messages and in payloads. */
export interface MarkedMessage {
  readonly contact?: {
    readonly email?: string | null | undefined;
    readonly name?: string | null | undefined;
  };
  readonly message: {
    readonly content: string;
    readonly format?: string | undefined;
    readonly attachments?: readonly unknown[] | undefined;
    readonly email?: { readonly cc?: readonly unknown[] | undefined } | undefined;
  };
}

/** A text in `message.content` that decides how the platform treats that message. */
export interface Marker {
  readonly text: string;
  readonly description: string;
  readonly effect: MarkerEffect;
  acceptable(message: MarkedMessage): Acceptability;
}

/** How the platform handles a marked message, apart from storing it. */
export type MarkerEffect =
  | { readonly kind: 'refuse'; readonly status: number; readonly field?: FieldError }
  /** A firewall's page, different each time. */
  | { readonly kind: 'firewall' }
  | { readonly kind: 'silence' }
  /** The answer to a repetition, with another sender's message. */
  | { readonly kind: 'other message' }
  /** The first attempts are answered 500 and not stored. */
  | { readonly kind: 'fail first'; readonly attempts: number }
  /** The first attempt is stored and its connection reset. */
  | { readonly kind: 'lose first answer' };

const refuse = (status: number, field?: string): MarkerEffect => ({
  kind: 'refuse',
  status,
  ...(field === undefined ? {} : { field: { field, message: 'is not accepted' } }),
});

const never = (text: string, description: string, effect: MarkerEffect): Marker => ({
  text,
  description,
  effect,
  acceptable: () => 'never',
});

const whilePresent = (
  text: string,
  description: string,
  effect: MarkerEffect,
  isPresent: (message: MarkedMessage) => boolean,
): Marker => ({
  text,
  description,
  effect,
  acceptable: (message) => (isPresent(message) ? 'ladder' : 'always'),
});

const atFirst = (text: string, description: string, effect: MarkerEffect): Marker => ({
  text,
  description,
  effect,
  acceptable: () => 'always',
});

/** All markers. The platform checks them in this order; the first that applies decides. */
export const MARKERS: readonly Marker[] = [
  never('[[500]]', 'answers 500 and stores nothing', refuse(500)),
  never('[[422]]', 'answers 422 and names no field', refuse(422)),
  never('[[400]]', 'answers 400 and names no field', refuse(400)),
  never('[[403]]', "answers with a firewall's page, 403, whose incident number differs each time", {
    kind: 'firewall',
  }),
  never('[[409-other]]', 'answers 409 for a reason other than a repetition', refuse(409)),
  never('[[dup-other]]', "answers as to a repetition, with somebody else's message", {
    kind: 'other message',
  }),
  never('[[hang]]', 'never answers and stores nothing', { kind: 'silence' }),
  whilePresent(
    '[[422:contact.email]]',
    'answers 422 while contact.email is given',
    refuse(422, 'contact.email'),
    ({ contact }) => typeof contact?.email === 'string',
  ),
  whilePresent(
    '[[422:contact.name]]',
    'answers 422 while contact.name is given',
    refuse(422, 'contact.name'),
    ({ contact }) => typeof contact?.name === 'string',
  ),
  whilePresent(
    '[[422:cc]]',
    'answers 422 while message.email.cc has members',
    refuse(422, 'message.email.cc'),
    ({ message }) => (message.email?.cc?.length ?? 0) > 0,
  ),
  whilePresent(
    '[[413-attachments]]',
    'answers 413 while message.attachments has members',
    refuse(413),
    ({ message }) => (message.attachments?.length ?? 0) > 0,
  ),
  whilePresent(
    '[[415-html]]',
    'answers 415 unless message.format is TEXT',
    refuse(415),
    ({ message }) => message.format !== 'TEXT',
  ),
  atFirst('[[flaky]]', 'answers 500 to the first two attempts', {
    kind: 'fail first',
    attempts: 2,
  }),
  atFirst('[[lost-once]]', 'stores the first attempt and resets its connection', {
    kind: 'lose first answer',
  }),
];

/** The markers in a message's content, in the platform's order. */
export function markersOf(content: string): readonly Marker[] {
  if (!content.includes('[[')) return NONE;
  return MARKERS.filter(({ text }) => content.includes(text));
}

const NONE: readonly Marker[] = [];

/** The worst acceptability of a message's markers; two `ladder` markers need two removals. */
export function acceptabilityOf(message: MarkedMessage): Acceptability {
  let worst: Acceptability = 'always';
  for (const marker of markersOf(message.message.content)) {
    const acceptable = marker.acceptable(message);
    if (acceptable === 'never') return 'never';
    if (acceptable === 'ladder') worst = 'ladder';
  }
  return worst;
}
