import type { Agent, AgentAnswer, AgentContext } from '../agent.ts';
import { firstName, inForm } from '../channel-form.ts';
import { handedOver, languageSpoken } from '../handover.ts';
import { intentOf } from '../intent.ts';
import { answersTo } from '../knowledge/answers-to.ts';
import type { Hit } from '../knowledge/knowledge.ts';
import type { KnowledgeFolder } from '../knowledge/knowledge-folder.ts';
import { type Sentences, sentencesIn } from '../sentences.ts';
import { smsText } from '../sms-text.ts';
import { withoutMarkup } from '../../without-markup.ts';

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
