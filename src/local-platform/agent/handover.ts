import type { AgentAnswer, AgentContext } from './agent.ts';
import { inForm } from './channel-form.ts';
import { type Language, languageOf } from './language.ts';
import { type Sentences, sentencesIn } from './sentences.ts';

/** Of the message, else of what the customer wrote before. */
export function languageSpoken({ text, subject, history }: AgentContext): Language | undefined {
  const before = history.filter(({ role }) => role === 'customer').map((said) => said.text);
  return (
    languageOf(text) ?? languageOf(`${subject ?? ''}\n${text}`) ?? languageOf(before.join('\n'))
  );
}

/** A person takes over, as the customer wished. */
export const handedOver = (context: AgentContext): AgentAnswer =>
  escalation(context, ({ handover }) => handover);

/** A person takes over, for the agent has no answer. */
export const passedOn = (context: AgentContext): AgentAnswer =>
  escalation(context, (sentences) => sentences.passedOn);

function escalation(context: AgentContext, say: (sentences: Sentences) => string): AgentAnswer {
  const sentences = sentencesIn(languageSpoken(context));
  return { text: inForm(context, sentences, say(sentences)), escalate: true };
}
