import type { Language } from './language.ts';

/** What the agent says of its own, in one language. */
export interface Sentences {
  /** Of an email; the name is empty when it is not known. */
  readonly dear: (name: string) => string;
  /** Of a chat or a text message. */
  readonly hi: (name: string) => string;
  readonly regards: string;
  readonly howCanIHelp: string;
  readonly welcome: string;
  /** A person takes over because the customer asked for one. */
  readonly handover: string;
  /** A person takes over because the agent cannot answer. */
  readonly passedOn: string;
  readonly notFound: string;
  readonly didThatHelp: string;
}

const named = (greeting: string) => (name: string) =>
  name === '' ? greeting : `${greeting} ${name}`;

const SENTENCES: Readonly<Record<Language, Sentences>> = {
  en: {
    dear: (name) => `${named('Hello')(name)},`,
    hi: (name) => `${named('Hi')(name)}!`,
    regards: 'Best regards',
    howCanIHelp:
      'How can I help? You can ask me about orders, shipping, returns, sizes, payment or our opening hours.',
    welcome: 'You are welcome!',
    handover:
      'Of course. I have passed this on to my colleagues; one of them will answer you here.',
    passedOn:
      'Thank you for your message. I have passed it on to my colleagues; one of them will answer you here.',
    notFound:
      "I'm sorry, I could not find anything about that. Could you put it another way? " +
      'Or write "human", and a person will take over.',
    didThatHelp: 'Does that answer your question?',
  },
  de: {
    dear: (name) => `${named('Guten Tag')(name)},`,
    hi: (name) => `${named('Hallo')(name)}!`,
    regards: 'Freundliche Grüße',
    howCanIHelp:
      'Wie kann ich helfen? Fragen Sie mich nach Bestellungen, Versand, Rückgabe, Größen, Zahlung oder unseren Öffnungszeiten.',
    welcome: 'Gern geschehen!',
    handover:
      'Gern. Ich habe das an meine Kollegen weitergegeben; jemand von ihnen antwortet Ihnen hier.',
    passedOn:
      'Danke für Ihre Nachricht. Ich habe sie an meine Kollegen weitergegeben; jemand von ihnen antwortet Ihnen hier.',
    notFound:
      'Dazu habe ich leider nichts gefunden. Können Sie es anders sagen? ' +
      'Oder schreiben Sie „Mensch“, dann übernimmt ein Mensch.',
    didThatHelp: 'Beantwortet das Ihre Frage?',
  },
  fr: {
    dear: (name) => `${named('Bonjour')(name)},`,
    hi: (name) => `${named('Bonjour')(name)} !`,
    regards: 'Cordialement',
    howCanIHelp:
      'Comment puis-je vous aider ? Vous pouvez me parler de commandes, de livraison, de retours, de pointures, de paiement ou de nos horaires.',
    welcome: 'Je vous en prie !',
    handover:
      "Bien sûr. J'ai transmis votre demande à mes collègues ; l'un d'eux vous répondra ici.",
    passedOn:
      "Merci de votre message. Je l'ai transmis à mes collègues ; l'un d'eux vous répondra ici.",
    notFound:
      "Désolé, je n'ai rien trouvé à ce sujet. Pouvez-vous le dire autrement ? " +
      'Ou écrivez « humain », et une personne prendra le relais.',
    didThatHelp: 'Cela répond-il à votre question ?',
  },
  es: {
    dear: (name) => `${named('Hola')(name)}:`,
    hi: (name) => `¡${named('Hola')(name)}!`,
    regards: 'Un saludo',
    howCanIHelp:
      '¿En qué puedo ayudarle? Puede preguntarme por pedidos, envíos, devoluciones, tallas, pagos o nuestro horario.',
    welcome: '¡De nada!',
    handover: 'Por supuesto. Se lo he pasado a mis compañeros; uno de ellos le responderá aquí.',
    passedOn:
      'Gracias por su mensaje. Se lo he pasado a mis compañeros; uno de ellos le responderá aquí.',
    notFound:
      'Lo siento, no he encontrado nada sobre eso. ¿Puede decirlo de otra manera? ' +
      'O escriba «humano», y le atenderá una persona.',
    didThatHelp: '¿Responde eso a su pregunta?',
  },
};

/** In English when the language is not known. */
export const sentencesIn = (language: Language | undefined): Sentences =>
  SENTENCES[language ?? 'en'];
