import type { Agent, AgentAnswer, AgentContext } from './agent.ts';
import {
  firstName,
  handOverOnRequest,
  handOverUnanswered,
  formatAnswer,
  languageSpoken,
  type Sentences,
  sentencesIn,
} from './sentences.ts';
import { intentOf } from './intent.ts';
import { type Fit, fitness, fitnessForPeople, isForPeople, sureFit } from './fit.ts';
import type { Knowledge } from './knowledge.ts';
import type { Section } from './sections.ts';
import type { KnowledgeSource } from './knowledge-folder.ts';
import { withoutMarkup } from '../plain-text.ts';
import { smsParts } from '../outbound/sms.ts';
import type { Language } from './language.ts';

const SECTIONS_MAX = 2;
/** About three SMS segments. */
const SMS_SECTION_CHARS = 440;

/**
 * Answers from a folder of Markdown files by full-text search. It quotes the sections that it finds,
 * with their headings except in a chat's single answer. Without a sure answer, or on request, it hands over to a person.
 */
export class BuiltinAgent implements Agent {
  readonly #knowledge: KnowledgeSource;

  constructor(knowledge: KnowledgeSource) {
    this.#knowledge = knowledge;
  }

  async answer(context: AgentContext): Promise<AgentAnswer | undefined> {
    const { text, channel, history } = context;
    // Later emails of a thread repeat its subject.
    const subject = history.length === 0 ? context.subject : undefined;
    // Neither words nor a question: "…", "!".
    if (!/[\p{L}\p{N}?]/u.test(`${subject ?? ''}${text}`)) return undefined;
    const language = languageSpoken(context);
    const own = sentencesIn(language);
    switch (intentOf(text, subject)) {
      case 'person':
        return handOverOnRequest(context);
      case 'greeting':
        return { text: withGreeting(context, own, own.howCanIHelp), escalate: false };
      case 'thanks':
        return { text: withGreeting(context, own, own.welcome), escalate: false };
      case 'no':
        return handOverUnanswered(context);
      case 'question': {
        const knowledge = await this.#knowledge.current();
        const limit = channel === 'sms' ? 1 : SECTIONS_MAX;
        const sections = answersTo(knowledge, text, subject, language, limit);
        if (sections.length === 0) return handOverUnanswered(context);
        const sentences = sentencesIn(language ?? sections[0]?.language);
        const body = quoted(sections, channel, sentences);
        return { text: withGreeting(context, sentences, body), escalate: false };
      }
    }
  }
}

/** Adds the greeting, which a chat or an SMS conversation has in its first answer only. */
function withGreeting(context: AgentContext, sentences: Sentences, body: string): string {
  const { channel, history, contactName } = context;
  if (channel === 'email') return formatAnswer(context, sentences, body);
  if (history.length > 0) return body;
  const greeting = sentences.hi(firstName(contactName));
  const space = body.includes('\n') ? '\n\n' : ' ';
  return `${greeting}${space}${body}`;
}

/** By SMS the sections become plain text here, because they are shortened. */
function quoted(sections: readonly Section[], channel: string, { didThatHelp }: Sentences): string {
  if (channel === 'sms') {
    return sections
      .map(({ heading, text }) => `${withoutMarkup(heading)}: ${smsText(text, SMS_SECTION_CHARS)}`)
      .join(' ');
  }
  // In a conversation, a single answer needs no heading: the customer has just asked.
  const isAnswer = channel === 'web_chat' && sections.length === 1;
  const parts = sections.map(({ heading, text }) =>
    isAnswer ? text : `**${heading}**\n\n${text}`,
  );
  return [...parts, didThatHelp].join('\n\n');
}

/** Markdown as plain text of at most `maxChars`, cut at the end of a sentence if possible. */
export function smsText(markdown: string, maxChars: number): string {
  return smsParts(withoutMarkup(markdown), maxChars, 1)[0] ?? '';
}

const PARTS_MAX = 20;
const READ_CHARS = 4000;

/** How well a section fits the whole message, at least, beside the one that fits it best. */
const OF_WHOLE = 0.6;
/** The same beside all sections for people together, so that nothing is answered that is for them. */
const OF_PEOPLE = 1.2;

/**
 * The sections that surely answer a message, best first. Each question is looked up by itself, because
 * an email has much other text, which must not be about something else. Without a question that is
 * answered, the best match of all sentences is taken. None, if one of the questions is for people, or
 * if what fits the whole message best is not among the answers.
 */
export function answersTo(
  knowledge: Knowledge,
  text: string,
  subject: string | undefined,
  language: Language | undefined,
  limit: number,
): Section[] {
  const parts = [...(subject === undefined ? [] : [subject]), ...sentencesOf(text)];
  const whole = knowledge.fits(parts.join('\n'), language);
  const least = Math.max(OF_WHOLE * fitness(whole[0]), OF_PEOPLE * fitnessForPeople(whole));
  const possible = new Set(
    whole.filter((fit) => fitness(fit) >= least).map(({ section }) => section),
  );
  const answers = parts.map((part) => {
    const fits = knowledge.fits(part, language);
    const fit = sureFit(fits);
    return {
      isQuestion: part.endsWith('?'),
      isForPeople: isForPeople(fits),
      fits: fit !== undefined && possible.has(fit.section) ? [fit] : [],
    };
  });
  // A person answers the whole message.
  if (answers.some((answer) => answer.isQuestion && answer.isForPeople)) return [];
  const fits = answers.flatMap((answer) => answer.fits);
  // Otherwise a sentence beside the question was taken for one.
  if (!fits.some(({ section }) => section === whole[0]?.section)) return [];
  const asked = answers.flatMap((answer) => (answer.isQuestion ? answer.fits : []));
  if (asked.length > 0) return distinct(asked).slice(0, limit);
  return distinct(fits.sort((one, other) => fitness(other) - fitness(one))).slice(0, 1);
}

function sentencesOf(text: string): string[] {
  return text
    .slice(0, READ_CHARS)
    .split(/(?<=[.?!])\s+|\n+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .slice(0, PARTS_MAX);
}

const distinct = (fits: readonly Fit[]): Section[] => [
  ...new Set(fits.map(({ section }) => section)),
];
