import type { Agent, AgentAnswer, AgentContext } from './agent.ts';
import {
  firstName,
  handOverOnRequest,
  formatAnswer,
  languageSpoken,
  type Sentences,
  sentencesIn,
} from './sentences.ts';
import { intentOf } from './intent.ts';
import { type Hit, isSure, type Knowledge } from './knowledge.ts';
import type { KnowledgeFolder } from './knowledge-folder.ts';
import { withoutMarkup } from '../plain-text.ts';
import { smsParts } from '../outbound/sms.ts';
import type { Language } from './language.ts';

const SECTIONS_MAX = 2;
/** About three SMS segments. */
const SMS_SECTION_CHARS = 440;

/**
 * Answers from a folder of Markdown files by full-text search. It quotes the sections that it finds
 * with their headings, says so when it finds none, and hands over to a person on request.
 */
export class BuiltinAgent implements Agent {
  readonly #folder: KnowledgeFolder;

  constructor(folder: KnowledgeFolder) {
    this.#folder = folder;
  }

  async answer(context: AgentContext): Promise<AgentAnswer | undefined> {
    const { text, channel, history } = context;
    // Later emails of a thread repeat its subject.
    const subject = history.length === 0 ? context.subject : undefined;
    // Emoji alone, such as a thumbs up, need no answer.
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
      case 'question': {
        const knowledge = await this.#folder.current();
        const limit = channel === 'sms' ? 1 : SECTIONS_MAX;
        const hits = answersTo(knowledge, text, subject, language, limit);
        const sentences = sentencesIn(language ?? hits[0]?.section.language);
        const body = hits.length === 0 ? own.notFound : quoted(hits, channel, sentences);
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
function quoted(hits: readonly Hit[], channel: string, { didThatHelp }: Sentences): string {
  if (channel === 'sms') {
    return hits
      .map(({ section: { heading, text } }) => {
        return `${withoutMarkup(heading)}: ${smsText(text, SMS_SECTION_CHARS)}`;
      })
      .join(' ');
  }
  const sections = hits.map(({ section }) => `**${section.heading}**\n\n${section.text}`);
  return [...sections, didThatHelp].join('\n\n');
}

/** Markdown as plain text of at most `maxChars`, cut at the end of a sentence if possible. */
export function smsText(markdown: string, maxChars: number): string {
  return smsParts(withoutMarkup(markdown), maxChars, 1)[0] ?? '';
}

const PARTS_MAX = 20;
const READ_CHARS = 4000;

/**
 * The sections that answer a message, best first. Each question is looked up by itself, because an
 * email has much other text. Without a question mark, the best match of all sentences is taken.
 */
export function answersTo(
  knowledge: Knowledge,
  text: string,
  subject: string | undefined,
  language: Language | undefined,
  limit: number,
): Hit[] {
  const parts = sentencesOf(text);
  const best = (question: string) =>
    knowledge.search(question, language, 5).filter(isSure).sort(byFit)[0];
  const asked = parts.filter((part) => part.endsWith('?')).flatMap((part) => best(part) ?? []);
  if (asked.length > 0) return distinct(asked).slice(0, limit);
  const hits = [subject ?? '', ...parts, text].flatMap((part) => best(part) ?? []).sort(byFit);
  return distinct(hits).slice(0, 1);
}

/** A rare word gives a high score, which counts less when the other words are missing. */
const byFit = (a: Hit, b: Hit) => b.share * b.score - a.share * a.score;

function sentencesOf(text: string): string[] {
  return text
    .slice(0, READ_CHARS)
    .split(/(?<=[.?!])\s+|\n+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .slice(0, PARTS_MAX);
}

function distinct(hits: readonly Hit[]): Hit[] {
  const seen = new Set<unknown>();
  return hits.filter(({ section }) => !seen.has(section) && seen.add(section));
}
