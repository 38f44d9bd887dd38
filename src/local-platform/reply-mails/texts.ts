/** What is written to the address of a visitor. `#` is the shop's name. */
export interface MailTexts {
  /** The subject of the confirmation mail. */
  readonly confirmSubject: string;
  /** The confirmation mail; the link follows. */
  readonly asked: string;
  readonly ignore: string;
  /** The subject of the mails of replies. */
  readonly subject: string;
  /** Below each; the link follows. */
  readonly footer: string;
  /** On the page: above the button. */
  readonly question: string;
  readonly confirm: string;
  readonly confirmed: string;
  readonly stop: string;
  readonly stopped: string;
}

const ENGLISH: MailTexts = {
  confirmSubject: '#: confirm your email address',
  asked:
    'Someone asked us to send replies from a chat with # to this address. If it was you, please confirm:',
  ignore: 'If it wasn’t you, you can ignore this email.',
  subject: 'Reply from #',
  footer: 'You’re receiving this email because you asked for it in the chat. Unsubscribe:',
  question: 'Would you like to receive replies to your chat with # by email?',
  confirm: 'Confirm',
  confirmed: 'Thank you. When you’ve left the chat, # will reply by email.',
  stop: 'Don’t email me',
  stopped: 'You won’t receive these emails any more.',
};

/** The languages of the widget. */
export const TEXTS: Readonly<Record<string, MailTexts>> = {
  en: ENGLISH,
  de: {
    confirmSubject: '#: Bitte bestätigen Sie Ihre E-Mail-Adresse',
    asked:
      'Jemand hat darum gebeten, Antworten aus einem Chat mit # an diese Adresse zu senden. Wenn Sie das waren, bestätigen Sie bitte:',
    ignore: 'Wenn nicht, ignorieren Sie diese E-Mail.',
    subject: 'Antwort von #',
    footer: 'Sie erhalten dies, weil Sie im Chat darum gebeten haben. Keine E-Mails mehr:',
    question: 'Möchten Sie Antworten aus Ihrem Chat mit # per E-Mail erhalten?',
    confirm: 'Bestätigen',
    confirmed:
      'Danke. Antworten von # erreichen Sie per E-Mail, wenn Sie den Chat verlassen haben.',
    stop: 'Schreiben Sie mir nicht',
    stopped: 'Sie erhalten keine dieser E-Mails mehr.',
  },
  es: {
    confirmSubject: '#: confirme su correo electrónico',
    asked:
      'Alguien ha pedido recibir en esta dirección las respuestas de un chat con #. Si ha sido usted, confirme:',
    ignore: 'Si no, ignore este correo.',
    subject: 'Respuesta de #',
    footer: 'Recibe este correo porque lo pidió en el chat. No recibir más:',
    question: '¿Quiere recibir por correo las respuestas de su chat con #?',
    confirm: 'Confirmar',
    confirmed: 'Gracias. Las respuestas de # le llegarán por correo cuando haya salido del chat.',
    stop: 'No me escriban',
    stopped: 'No recibirá más correos de este tipo.',
  },
  fr: {
    confirmSubject: '# : confirmez votre adresse e-mail',
    asked:
      'Quelqu’un a demandé à recevoir à cette adresse les réponses d’un chat avec #. Si c’était vous, confirmez :',
    ignore: 'Sinon, ignorez cet e-mail.',
    subject: 'Réponse de #',
    footer: 'Vous recevez cet e-mail car vous l’avez demandé dans le chat. Ne plus en recevoir :',
    question: 'Voulez-vous recevoir par e-mail les réponses de votre chat avec # ?',
    confirm: 'Confirmer',
    confirmed:
      'Merci. Les réponses de # vous parviendront par e-mail quand vous aurez quitté le chat.',
    stop: 'Ne m’écrivez pas',
    stopped: 'Vous ne recevrez plus ces e-mails.',
  },
  it: {
    confirmSubject: '#: confermi il suo indirizzo e-mail',
    asked:
      'Qualcuno ha chiesto di ricevere a questo indirizzo le risposte di una chat con #. Se è stato lei, confermi:',
    ignore: 'Altrimenti ignori questa e-mail.',
    subject: 'Risposta da #',
    footer: 'Riceve questa e-mail perché l’ha chiesto nella chat. Per non riceverne più:',
    question: 'Vuole ricevere per e-mail le risposte della sua chat con #?',
    confirm: 'Conferma',
    confirmed: 'Grazie. Le risposte di # le arriveranno per e-mail quando avrà lasciato la chat.',
    stop: 'Non scrivetemi',
    stopped: 'Non riceverà più queste e-mail.',
  },
  ja: {
    confirmSubject: '#：メールアドレスのご確認',
    asked:
      '#とのチャットの返信をこのアドレスで受け取りたいとのご依頼がありました。ご本人の場合は、次のリンクからご確認ください。',
    ignore: 'お心当たりがない場合は、このメールを無視してください。',
    subject: '#からの返信',
    footer: 'このメールは、チャットでのご依頼によりお送りしています。配信の停止：',
    question: '#とのチャットの返信をメールで受け取りますか？',
    confirm: '確認する',
    confirmed: 'ありがとうございます。チャットを離れた後の#からの返信は、メールでお届けします。',
    stop: 'メールを受け取らない',
    stopped: '今後、このメールは届きません。',
  },
  nl: {
    confirmSubject: '#: bevestig uw e-mailadres',
    asked:
      'Iemand heeft gevraagd om antwoorden uit een chat met # naar dit adres te sturen. Was u dat, bevestig dan:',
    ignore: 'Zo niet, negeer deze e-mail.',
    subject: 'Antwoord van #',
    footer: 'U krijgt dit omdat u erom hebt gevraagd in de chat. Geen e-mails meer:',
    question: 'Wilt u antwoorden uit uw chat met # per e-mail ontvangen?',
    confirm: 'Bevestigen',
    confirmed: 'Bedankt. Antwoorden van # krijgt u per e-mail als u de chat hebt verlaten.',
    stop: 'Schrijf mij niet',
    stopped: 'U krijgt deze e-mails niet meer.',
  },
  pl: {
    confirmSubject: '#: potwierdź swój adres e-mail',
    asked: 'Ktoś poprosił o wysyłanie odpowiedzi z czatu (#) na ten adres. Jeśli to Ty, potwierdź:',
    ignore: 'Jeśli nie, zignoruj tę wiadomość.',
    subject: 'Odpowiedź: #',
    footer: 'Otrzymujesz tę wiadomość na prośbę wysłaną w czacie. Rezygnacja:',
    question: 'Czy chcesz otrzymywać e-mailem odpowiedzi z czatu (#)?',
    confirm: 'Potwierdź',
    confirmed: 'Dziękujemy. Gdy opuścisz czat, odpowiedzi (#) otrzymasz e-mailem.',
    stop: 'Nie piszcie do mnie',
    stopped: 'Nie otrzymasz więcej takich wiadomości.',
  },
  pt: {
    confirmSubject: '#: confirme o seu endereço de e-mail',
    asked:
      'Alguém pediu para receber neste endereço as respostas de um chat com #. Se foi você, confirme:',
    ignore: 'Caso contrário, ignore este e-mail.',
    subject: 'Resposta de #',
    footer: 'Recebe este e-mail porque o pediu no chat. Não receber mais:',
    question: 'Quer receber por e-mail as respostas do seu chat com #?',
    confirm: 'Confirmar',
    confirmed: 'Obrigado. As respostas de # chegam-lhe por e-mail quando sair do chat.',
    stop: 'Não me escrevam',
    stopped: 'Não receberá mais estes e-mails.',
  },
  ar: {
    confirmSubject: '#: أكّد بريدك الإلكتروني',
    asked: 'طلب شخص ما إرسال الردود من محادثة مع # إلى هذا العنوان. إذا كنت أنت، فأكّد ذلك:',
    ignore: 'وإلا فتجاهل هذه الرسالة.',
    subject: 'رد من #',
    footer: 'تصلك هذه الرسالة لأنك طلبت ذلك في المحادثة. لإيقافها:',
    question: 'هل تريد تلقي الردود من محادثتك مع # عبر البريد الإلكتروني؟',
    confirm: 'تأكيد',
    confirmed: 'شكرًا. ستصلك الردود من # عبر البريد الإلكتروني بعد مغادرتك المحادثة.',
    stop: 'لا تراسلوني',
    stopped: 'لن تصلك هذه الرسائل بعد الآن.',
  },
};

/** Whose language has no texts reads English. @param language BCP 47 */
export const textsIn = (language: string): MailTexts => TEXTS[languageIn(language)] ?? ENGLISH;

/** The language of the texts for somebody with this language. */
export function languageIn(language: string): string {
  const [primary = ''] = language.toLowerCase().split('-', 1);
  return Object.hasOwn(TEXTS, primary) ? primary : 'en';
}

export const filled = (text: string, shopName: string): string =>
  text.replaceAll('#', () => shopName);
