import type { Agent, AgentAnswer, AgentContext } from './agent.ts';
import {
  firstName,
  handedOver,
  inForm,
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
/** About three segments of a text message for one section. */
const SMS_SECTION_CHARS = 440;

/**
 * Answers from a folder of Markdown files by full-text search. It quotes the section with its
 * heading, says so when it finds nothing, and hands over to a person when it is asked to.
 */
export class BuiltinAgent implements Agent {
  readonly #folder: KnowledgeFolder;

  constructor(folder: KnowledgeFolder) {
    this.#folder = folder;
  }

  async answer(context: AgentContext): Promise<AgentAnswer | undefined> {
    const { text, channel, history } = context;
    // Later mails of a thread repeat its subject.
    const subject = history.length === 0 ? context.subject : undefined;
    // A thumb, or a row of hearts: nobody expects an answer.
    if (!/[\p{L}\p{N}?]/u.test(`${subject ?? ''}${text}`)) return undefined;
    const language = languageSpoken(context);
    const own = sentencesIn(language);
    switch (intentOf(text, subject)) {
      case 'person':
        return handedOver(context);
      case 'greeting':
        return { text: said(context, own, own.howCanIHelp), escalate: false };
      case 'thanks':
        return { text: said(context, own, own.welcome), escalate: false };
      case 'question': {
        const knowledge = await this.#folder.current();
        const limit = channel === 'sms' ? 1 : SECTIONS_MAX;
        const hits = answersTo(knowledge, text, subject, language, limit);
        const sentences = sentencesIn(language ?? hits[0]?.section.language);
        const body = hits.length === 0 ? own.notFound : quoted(hits, channel, sentences);
        return { text: said(context, sentences, body), escalate: false };
      }
    }
  }
}

/** In a chat and by SMS, the first answer begins with a greeting. */
function said(context: AgentContext, sentences: Sentences, body: string): string {
  const { channel, history, contactName } = context;
  if (channel === 'email') return inForm(context, sentences, body);
  if (history.length > 0) return body;
  const greeting = sentences.hi(firstName(contactName));
  const space = body.includes('\n') ? '\n\n' : ' ';
  return `${greeting}${space}${body}`;
}

/** By SMS it is plain text already: what stands between marks there is no emphasis any more. */
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

/** Markdown as a telephone shows it. What does not fit is left out after a whole sentence, if it can. */
export function smsText(markdown: string, maxChars: number): string {
  return smsParts(withoutMarkup(markdown), maxChars, 1)[0] ?? '';
}

const PARTS_MAX = 20;
const READ_CHARS = 4000;

/**
 * The sections that answer a message, best first: each question in it is looked up alone, for a
 * letter says much that is no question. Without a question mark, the sentence that fits best counts.
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
  const said = [subject ?? '', ...parts, text].flatMap((part) => best(part) ?? []).sort(byFit);
  return distinct(said).slice(0, 1);
}

/** A word that is rare makes a high score: it counts less where the other words are not found. */
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
