import type { AgentAnswer, AgentContext } from './agent.ts';
import { type Language, languageOf } from './language.ts';
import { withoutMarkup } from '../plain-text.ts';

/** The language of the message, else of the customer's earlier messages. */
export function languageSpoken({ text, subject, history }: AgentContext): Language | undefined {
  const before = history.filter(({ role }) => role === 'customer').map((message) => message.text);
  return (
    languageOf(text) ?? languageOf(`${subject ?? ''}\n${text}`) ?? languageOf(before.join('\n'))
  );
}

/** Hands the conversation to a person because the customer asked for one. */
export const handOverOnRequest = (context: AgentContext): AgentAnswer =>
  escalation(context, ({ handover }) => handover);

/** Hands the conversation to a person because the agent has no answer. */
export const handOverUnanswered = (context: AgentContext): AgentAnswer =>
  escalation(context, ({ handoverUnanswered }) => handoverUnanswered);

function escalation(context: AgentContext, bodyOf: (sentences: Sentences) => string): AgentAnswer {
  const sentences = sentencesIn(languageSpoken(context));
  return { text: formatAnswer(context, sentences, bodyOf(sentences)), escalate: true };
}

/**
 * Formats an answer for its channel: Markdown with a greeting and a signature by email, plain text
 * by SMS, Markdown in the chat.
 */
export function formatAnswer(
  { channel, contactName, shopName }: AgentContext,
  sentences: Sentences,
  body: string,
): string {
  switch (channel) {
    case 'email':
      return `${sentences.dear(firstName(contactName))}\n\n${body}\n\n${sentences.regards}\n${shopName}`;
    case 'sms':
      return withoutMarkup(body);
    default:
      return body;
  }
}

/** The first name for a greeting; empty for a label such as "Visitor 7F3A" or a name of no letters. */
export function firstName(name: string | undefined): string {
  const first = name?.trim().split(/\s+/, 1)[0] ?? '';
  return /^\p{L}[\p{L}\p{M}'’-]{0,30}$/u.test(first) && first !== 'Visitor' ? first : '';
}

/** The agent's own sentences in one language. */
export interface Sentences {
  /** The greeting of an email; the name is empty when it is not known. */
  readonly dear: (name: string) => string;
  /** The greeting of a chat or text message. */
  readonly hi: (name: string) => string;
  readonly regards: string;
  readonly howCanIHelp: string;
  readonly welcome: string;
  /** A person takes over because the customer asked for one. */
  readonly handover: string;
  /** A person takes over because the agent cannot answer. */
  readonly handoverUnanswered: string;
  readonly didThatHelp: string;
  readonly yes: string;
  readonly no: string;
  readonly talkToPerson: string;
}

const withName = (greeting: string) => (name: string) =>
  name === '' ? greeting : `${greeting} ${name}`;

const SENTENCES: Readonly<Record<Language, Sentences>> = {
  en: {
    dear: (name) => `${withName('Hello')(name)},`,
    hi: (name) => `${withName('Hi')(name)}!`,
    regards: 'Best regards',
    howCanIHelp: 'How can I help?',
    welcome: 'You’re welcome!',
    handover: 'Of course. I’ve passed this on to my colleagues, and one of them will reply here.',
    handoverUnanswered:
      'Thank you for your message. I’ve passed it on to my colleagues, and one of them will reply here.',
    didThatHelp: 'Does that answer your question?',
    yes: 'Yes',
    no: 'No',
    talkToPerson: 'Talk to a person',
  },
  de: {
    dear: (name) => `${withName('Guten Tag')(name)},`,
    hi: (name) => `${withName('Hallo')(name)}!`,
    regards: 'Freundliche Grüße',
    howCanIHelp: 'Wie kann ich helfen?',
    welcome: 'Gern geschehen!',
    handover:
      'Gern. Ich habe das an meine Kollegen weitergegeben; jemand von ihnen antwortet Ihnen hier.',
    handoverUnanswered:
      'Danke für Ihre Nachricht. Ich habe sie an meine Kollegen weitergegeben; jemand von ihnen antwortet Ihnen hier.',
    didThatHelp: 'Beantwortet das Ihre Frage?',
    yes: 'Ja',
    no: 'Nein',
    talkToPerson: 'Mit einem Menschen sprechen',
  },
  fr: {
    dear: (name) => `${withName('Bonjour')(name)},`,
    hi: (name) => `${withName('Bonjour')(name)} !`,
    regards: 'Cordialement',
    howCanIHelp: 'Comment puis-je vous aider ?',
    welcome: 'Je vous en prie !',
    handover:
      "Bien sûr. J'ai transmis votre demande à mes collègues ; l'un d'eux vous répondra ici.",
    handoverUnanswered:
      "Merci de votre message. Je l'ai transmis à mes collègues ; l'un d'eux vous répondra ici.",
    didThatHelp: 'Cela répond-il à votre question ?',
    yes: 'Oui',
    no: 'Non',
    talkToPerson: 'Parler à une personne',
  },
  es: {
    dear: (name) => `${withName('Hola')(name)}:`,
    hi: (name) => `¡${withName('Hola')(name)}!`,
    regards: 'Un saludo',
    howCanIHelp: '¿En qué puedo ayudarle?',
    welcome: '¡De nada!',
    handover: 'Por supuesto. Se lo he pasado a mis compañeros; uno de ellos le responderá aquí.',
    handoverUnanswered:
      'Gracias por su mensaje. Se lo he pasado a mis compañeros; uno de ellos le responderá aquí.',
    didThatHelp: '¿Responde eso a su pregunta?',
    yes: 'Sí',
    no: 'No',
    talkToPerson: 'Hablar con una persona',
  },
  it: {
    dear: (name) => `${withName('Buongiorno')(name)},`,
    hi: (name) => `${withName('Ciao')(name)}!`,
    regards: 'Cordiali saluti',
    howCanIHelp: 'Come posso aiutarla?',
    welcome: 'Prego!',
    handover: "Certo. L'ho passato ai miei colleghi; uno di loro le risponderà qui.",
    handoverUnanswered:
      "Grazie del suo messaggio. L'ho passato ai miei colleghi; uno di loro le risponderà qui.",
    didThatHelp: 'Risponde alla sua domanda?',
    yes: 'Sì',
    no: 'No',
    talkToPerson: 'Parlare con una persona',
  },
};

export const ALL_SENTENCES: readonly Sentences[] = Object.values(SENTENCES);

/** The choices of an answer that ends with the agent's question; undefined without one. */
export function choicesOf(answer: string): { id: string; text: string }[] | undefined {
  const asked = ALL_SENTENCES.find(({ didThatHelp }) => answer.endsWith(didThatHelp));
  if (asked === undefined) return undefined;
  const { yes, no, talkToPerson: person } = asked;
  return Object.entries({ yes, no, person }).map(([id, text]) => ({ id, text }));
}

/** The sentences of a language; English when the language is not known. */
export const sentencesIn = (language: Language | undefined): Sentences =>
  SENTENCES[language ?? 'en'];
