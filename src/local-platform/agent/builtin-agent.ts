import type { Agent, AgentAnswer, AgentContext } from './agent.ts';
import { Knowledge } from './knowledge.ts';

const WANTS_A_PERSON =
  /\b(?:human|real person|(?:live|human|real) agent|an agent|(?:speak|talk|chat) (?:to|with) (?:a|an|someone|somebody|the)? ?(?:agent|person|human|someone|somebody|representative|manager)|representative)\b|^\W*agent\W*$/i;
const GREETS_ONLY =
  /^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|hallo|hej)\b[\s\w]{0,20}\W*$/i;
const THANKS_ONLY = /^\W*(?:thanks|thank you|thx|cheers|great|perfect|ok|okay)\b[\s\w,]{0,30}\W*$/i;

/**
 * Answers from a folder of Markdown files by full-text search. It says so when it finds nothing,
 * and hands over to a person when it is asked to.
 */
export class BuiltinAgent implements Agent {
  readonly #knowledge: Knowledge;

  /** @throws when the folder cannot be read */
  constructor(knowledgeDir: string) {
    this.#knowledge = new Knowledge(knowledgeDir);
  }

  answer(context: AgentContext): Promise<AgentAnswer | undefined> {
    return Promise.resolve(this.#answer(context));
  }

  #answer(context: AgentContext): AgentAnswer {
    const { text } = context;
    const reply = (body: string) => ({ text: letter(context, body), escalate: false });
    if (WANTS_A_PERSON.test(text)) {
      const body =
        'Of course. I have passed this on to my colleagues; one of them will answer you here.';
      return { text: letter(context, body), escalate: true };
    }
    if (GREETS_ONLY.test(text) && !context.subject) {
      return reply(
        'How can I help? You can ask me about orders, shipping, returns, sizes, payment or our opening hours.',
      );
    }
    if (THANKS_ONLY.test(text)) return reply('You are welcome!');
    const section = this.#knowledge.find(`${context.subject ?? ''}\n${text}`);
    if (section === undefined) {
      return reply(
        "I'm sorry, I could not find anything about that. Could you put it another way? " +
          'Or write "human", and a person will take over.',
      );
    }
    return reply(`${section.text}\n\nDoes that answer your question?`);
  }
}

/** A letter by email; in a text message or a chat, only what is said. */
function letter({ channel, contactName, shopName, history }: AgentContext, body: string): string {
  const name = firstName(contactName);
  if (channel === 'email')
    return `Hello${name ? ` ${name}` : ''},\n\n${body}\n\nBest regards\n${shopName}`;
  return history.length === 0 ? `Hi${name ? ` ${name}` : ''}! ${body}` : body;
}

/** "Visitor 7F3A" is a label and no name to be called by. */
function firstName(name: string | undefined): string | undefined {
  const first = name?.trim().split(/\s+/, 1)[0];
  return first && /^\p{L}[\p{L}'’-]{0,30}$/u.test(first) && first !== 'Visitor' ? first : undefined;
}
