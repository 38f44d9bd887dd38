/**
 * What mail programs write in one language. Written from knowledge of the programs, apart from the
 * product's own tables, which it is to be measured against. `{d}` is the date, `{t}` the time, `{n}`
 * the name and `{a}` the address of the person who is answered.
 */
export interface ReplyLanguage {
  readonly code: string;
  /** For `Intl.DateTimeFormat`. */
  readonly locale: string;
  readonly gmail: string;
  readonly apple: string;
  readonly thunderbird: string;
  /** From, Sent, To, Subject, as Outlook writes them. */
  readonly fields: readonly [from: string, sent: string, to: string, subject: string];
  /** The title that Outlook and others put over the answered message. */
  readonly original: string;
  /** What Apple writes above a forwarded message, and the title of others. */
  readonly appleForward: string;
  readonly forward: string;
  /** What telephones and programs append. */
  readonly devices: readonly string[];
}

const language = (
  code: string,
  locale: string,
  [gmail, apple, thunderbird]: readonly [string, string, string],
  fields: ReplyLanguage['fields'],
  original: string,
  [appleForward, forward]: readonly [string, string],
  devices: readonly string[],
): ReplyLanguage => ({
  ...{ code, locale, gmail, apple, thunderbird, fields, original, appleForward, forward, devices },
});

export const REPLY_LANGUAGES: readonly ReplyLanguage[] = [
  language(
    'en',
    'en-US',
    [
      'On {d} at {t} {n} <{a}> wrote:',
      'On {d}, at {t}, {n} <{a}> wrote:',
      'On {d} {t}, {n} wrote:',
    ],
    ['From', 'Sent', 'To', 'Subject'],
    'Original Message',
    ['Begin forwarded message:', 'Forwarded Message'],
    [
      'Sent from my iPhone',
      'Sent from my iPod',
      'Sent from Outlook for iOS <https://aka.ms/o0ukef>',
      'Sent from Mail for Windows',
      'Sent from Yahoo Mail on Android',
      '(sent from my Windows PC)',
      'Sent from my Verizon, Samsung Galaxy smartphone',
      'Get Outlook for Android <https://aka.ms/AAb9ysg>',
      'Sent via BlueMail for Android',
      'Sent with Proton Mail secure email.',
    ],
  ),
  language(
    'de',
    'de-DE',
    [
      'Am {d} um {t} Uhr schrieb {n} <{a}>:',
      'Am {d} um {t} schrieb {n} <{a}>:',
      'Am {d} um {t} schrieb {n}:',
    ],
    ['Von', 'Gesendet', 'An', 'Betreff'],
    'Ursprüngliche Nachricht',
    ['Anfang der weitergeleiteten Nachricht:', 'Weitergeleitete Nachricht'],
    [
      'Von meinem iPhone gesendet',
      'Gesendet von Outlook für Android',
      'Von Samsung Galaxy-Smartphone gesendet.',
      'Diese Nachricht wurde von meinem Android-Mobiltelefon mit GMX Mail gesendet.',
      'Gesendet von Mail für Windows',
    ],
  ),
  language(
    'fr',
    'fr-FR',
    [
      'Le {d} à {t}, {n} <{a}> a écrit :',
      'Le {d} à {t}, {n} <{a}> a écrit :',
      'Le {d} à {t}, {n} a écrit :',
    ],
    ['De', 'Envoyé', 'À', 'Objet'],
    "Message d'origine",
    ['Début du message réexpédié :', 'Message transféré'],
    [
      'Envoyé de mon iPhone',
      'Envoyé depuis mon smartphone Samsung Galaxy.',
      'Envoyé à partir de Courrier pour Windows',
      'Télécharger Outlook pour Android<https://aka.ms/AAb9ysg>',
    ],
  ),
  language(
    'es',
    'es-ES',
    [
      'El {d} a las {t}, {n} (<{a}>) escribió:',
      'El {d}, a las {t}, {n} <{a}> escribió:',
      'El {d} a las {t}, {n} escribió:',
    ],
    ['De', 'Enviado', 'Para', 'Asunto'],
    'Mensaje original',
    ['Inicio del mensaje reenviado:', 'Mensaje reenviado'],
    [
      'Enviado desde mi iPhone',
      'Enviado desde mi smartphone Samsung Galaxy.',
      'Enviado desde Correo para Windows',
      'Obtener Outlook para iOS<https://aka.ms/o0ukef>',
    ],
  ),
  language(
    'it',
    'it-IT',
    [
      'Il giorno {d} alle ore {t} {n} <{a}> ha scritto:',
      'Il giorno {d}, alle ore {t}, {n} <{a}> ha scritto:',
      'Il {d} {t}, {n} ha scritto:',
    ],
    ['Da', 'Inviato', 'A', 'Oggetto'],
    'Messaggio originale',
    ['Inizio messaggio inoltrato:', 'Messaggio Inoltrato'],
    ['Inviato da iPhone', 'Inviato dal mio Galaxy', 'Inviato da Posta per Windows'],
  ),
  language(
    'pt-BR',
    'pt-BR',
    [
      'Em {d} às {t}, {n} <{a}> escreveu:',
      'Em {d}, à(s) {t}, {n} <{a}> escreveu:',
      'Em {d} {t}, {n} escreveu:',
    ],
    ['De', 'Enviado', 'Para', 'Assunto'],
    'Mensagem original',
    ['Início da mensagem encaminhada:', 'Mensagem encaminhada'],
    [
      'Enviado do meu iPhone',
      'Enviado do meu smartphone Samsung Galaxy.',
      'Obter o Outlook para Android<https://aka.ms/AAb9ysg>',
    ],
  ),
  language(
    'nl',
    'nl-NL',
    [
      'Op {d} om {t} schreef {n} <{a}>:',
      'Op {d}, om {t} heeft {n} <{a}> het volgende geschreven:',
      'Op {d} om {t} schreef {n}:',
    ],
    ['Van', 'Verzonden', 'Aan', 'Onderwerp'],
    'Oorspronkelijk bericht',
    ['Begin doorgestuurd bericht:', 'Doorgestuurd bericht'],
    [
      'Verstuurd vanaf mijn iPhone',
      'Verzonden met Outlook voor iOS',
      'Verzonden vanaf mijn Galaxy',
    ],
  ),
  language(
    'sv',
    'sv-SE',
    [
      'Den {d} kl {t} skrev {n} <{a}>:',
      '{d} kl. {t} skrev {n} <{a}>:',
      'Den {d} kl. {t}, skrev {n}:',
    ],
    ['Från', 'Skickat', 'Till', 'Ämne'],
    'Ursprungligt meddelande',
    ['Vidarebefordrat mejl:', 'Vidarebefordrat meddelande'],
    [
      'Skickat från min iPhone',
      'Skickat från min Galaxy',
      'Hämta Outlook för iOS<https://aka.ms/o0ukef>',
    ],
  ),
  language(
    'da',
    'da-DK',
    [
      'Den {d} kl. {t} skrev {n} <{a}>:',
      'Den {d} kl. {t} skrev {n} <{a}>:',
      'Den {d} kl. {t} skrev {n}:',
    ],
    ['Fra', 'Sendt', 'Til', 'Emne'],
    'Oprindelig meddelelse',
    ['Start på videresendt besked:', 'Videresendt meddelelse'],
    ['Sendt fra min iPhone', 'Sendt fra Outlook til Android', 'Sendt fra min Galaxy'],
  ),
  language(
    'nb',
    'nb-NO',
    ['{d} kl. {t} skrev {n} <{a}>:', '{d} kl. {t} skrev {n} <{a}>:', 'Den {d} {t}, skrev {n}:'],
    ['Fra', 'Sendt', 'Til', 'Emne'],
    'Opprinnelig melding',
    ['Videresendt melding:', 'Videresendt melding'],
    ['Sendt fra min iPhone', 'Skaff deg Outlook for iOS<https://aka.ms/o0ukef>'],
  ),
  language(
    'fi',
    'fi-FI',
    [
      '{d} klo {t} {n} ({a}) kirjoitti:',
      '{n} <{a}> kirjoitti {d} kello {t}:',
      '{n} kirjoitti {d} klo {t}:',
    ],
    ['Lähettäjä', 'Lähetetty', 'Vastaanottaja', 'Aihe'],
    'Alkuperäinen viesti',
    ['Välitetty viesti alkaa:', 'Välitetty viesti'],
    [
      'Lähetetty iPhonesta',
      'Lähetetty Samsung Galaxy -älypuhelimesta',
      'Hanki Outlook for Android',
    ],
  ),
  language(
    'pl',
    'pl-PL',
    [
      '{d} o {t} {n} <{a}> napisał(a):',
      'Wiadomość napisana przez {n} <{a}> w dniu {d}, o godz. {t}:',
      'W dniu {d} o {t}, {n} pisze:',
    ],
    ['Od', 'Wysłano', 'Do', 'Temat'],
    'Oryginalna wiadomość',
    ['Początek przekazywanej wiadomości:', 'Przekazywana wiadomość'],
    ["Wysłane z iPhone'a", 'Wysłano z mojego smartfonu Samsung Galaxy.'],
  ),
  language(
    'cs',
    'cs-CZ',
    [
      '{d} v {t} odesílatel {n} <{a}> napsal:',
      '{d} v {t}, {n} <{a}>:',
      'Dne {d} v {t} {n} napsal(a):',
    ],
    ['Od', 'Odesláno', 'Komu', 'Předmět'],
    'Původní zpráva',
    ['Začátek přeposílané zprávy:', 'Přeposlaná zpráva'],
    ['Odesláno z iPhonu', 'Odesláno ze smartphonu Samsung Galaxy.'],
  ),
  language(
    'hu',
    'hu-HU',
    [
      '{n} <{a}> ezt írta (időpont: {d}, {t}):',
      '{d} dátummal, {t} időpontban {n} <{a}> írta:',
      '{d} {t} keltezéssel, {n} írta:',
    ],
    ['Feladó', 'Elküldve', 'Címzett', 'Tárgy'],
    'Eredeti üzenet',
    ['Továbbított levél kezdete:', 'Továbbított üzenet'],
    ['Az iPhone készülékemről küldve', 'Elküldve az iPhone-omról'],
  ),
  language(
    'ro',
    'ro-RO',
    [
      'În {d} la {t}, {n} <{a}> a scris:',
      'Pe {d}, la {t}, {n} <{a}> a scris:',
      'La {d} {t}, {n} a scris:',
    ],
    ['De la', 'Trimis', 'Către', 'Subiect'],
    'Mesaj original',
    ['Începe mesajul redirecționat:', 'Mesaj redirecționat'],
    ['Trimis de pe iPhone-ul meu', 'Trimis din Yahoo Mail pe Android'],
  ),
  language(
    'tr',
    'tr-TR',
    [
      '{n} <{a}>, {d}, {t} tarihinde şunu yazdı:',
      '{n} <{a}> şunları yazdı ({d} {t}):',
      '{d} {t} tarihinde {n} yazdı:',
    ],
    ['Kimden', 'Gönderildi', 'Kime', 'Konu'],
    'Özgün İleti',
    ['İleti başlangıcı:', 'İletilen İleti'],
    ["iPhone'umdan gönderildi", 'Samsung Galaxy akıllı telefonumdan gönderildi.'],
  ),
  language(
    'ru',
    'ru-RU',
    ['{d} в {t}, {n} <{a}>:', '{d}, в {t}, {n} <{a}> написал(а):', '{d} {t}, {n} пишет:'],
    ['От', 'Отправлено', 'Кому', 'Тема'],
    'Исходное сообщение',
    ['Начало переадресованного сообщения:', 'Перенаправленное сообщение'],
    ['Отправлено с iPhone', 'Отправлено из мобильной Яндекс.Почты', 'Отправлено с моего iPad'],
  ),
  language(
    'uk',
    'uk-UA',
    ['{d} о {t} {n} <{a}> пише:', '{d} о {t} {n} <{a}> пише:', '{d} {t}, {n} пише:'],
    ['Від', 'Надіслано', 'Кому', 'Тема'],
    'Вихідне повідомлення',
    ['Початок листа, що пересилається:', 'Переслане повідомлення'],
    ['Надіслано з iPhone', 'Надіслано з мого iPad'],
  ),
  language(
    'el',
    'el-GR',
    [
      'Στις {d} στις {t}, ο/η {n} <{a}> έγραψε:',
      'Στις {d}, στις {t}, ο χρήστης {n} <{a}> έγραψε:',
      'Στις {d} {t}, ο/η {n} έγραψε:',
    ],
    ['Από', 'Στάλθηκε', 'Προς', 'Θέμα'],
    'Αρχικό μήνυμα',
    ['Έναρξη προωθημένου μηνύματος:', 'Προωθημένο μήνυμα'],
    ['Στάλθηκε από το iPhone μου'],
  ),
  language(
    'he',
    'he-IL',
    [
      'בתאריך {d} ב-{t} מאת {n} <{a}>:',
      'ב-{d}, בשעה {t}, {n} <{a}> כתב/ה:',
      'בתאריך {d} {t}, {n} כתב:',
    ],
    ['מאת', 'נשלח', 'אל', 'נושא'],
    'הודעה מקורית',
    ['תחילת ההודעה שהועברה:', 'הודעה שהועברה'],
    ['נשלח מה-iPhone שלי'],
  ),
  language(
    'ar',
    'ar-EG',
    [
      'في {d} في {t} تمت كتابة ما يلي بواسطة {n} <{a}>:',
      'في {d}، الساعة {t}، كتب {n} <{a}>:',
      'في {d} {t}، كتب {n}:',
    ],
    ['من', 'تم الإرسال', 'إلى', 'الموضوع'],
    'الرسالة الأصلية',
    ['بداية الرسالة المعاد توجيهها:', 'رسالة معاد توجيهها'],
    ['أُرسلت من الـ iPhone'],
  ),
  language(
    'vi',
    'vi-VN',
    [
      'Vào {d} vào lúc {t} {n} <{a}> đã viết:',
      'Vào {t}, {d}, {n} <{a}> đã viết:',
      'Vào {d} {t}, {n} đã viết:',
    ],
    ['Từ', 'Đã gửi', 'Đến', 'Chủ đề'],
    'Tin nhắn gốc',
    ['Bắt đầu thư được chuyển tiếp:', 'Thư đã chuyển tiếp'],
    ['Đã gửi từ iPhone của tôi'],
  ),
  language(
    'ja',
    'ja-JP',
    ['{d} {t} {n} <{a}>:', '{d} {t}、{n} <{a}>のメール:', 'On {d} {t}, {n} wrote:'],
    ['差出人', '送信日時', '宛先', '件名'],
    '元のメッセージ',
    ['転送されたメッセージ:', '転送メッセージ'],
    ['iPhoneから送信', 'Outlook for iOS を入手<https://aka.ms/o0ukef>'],
  ),
  language(
    'zh-CN',
    'zh-CN',
    ['{n} <{a}> 于{d}{t}写道：', '{n} <{a}> 在 {d} {t} 写道：', '在 {d} {t}, {n} 写道:'],
    ['发件人', '发送时间', '收件人', '主题'],
    '原始邮件',
    ['以下是转发的邮件：', '转发的消息'],
    ['发自我的 iPhone', '从我的 iPhone 发送'],
  ),
  language(
    'zh-TW',
    'zh-TW',
    ['{n} <{a}> 於 {d} {t} 寫道：', '{n} <{a}> 於 {d} {t} 寫道：', '於 {d} {t}, {n} 寫道:'],
    ['寄件者', '寄件日期', '收件者', '主旨'],
    '原始郵件',
    ['開始轉寄郵件：', '轉寄郵件'],
    ['從我的 iPhone 傳送'],
  ),
  language(
    'ko',
    'ko-KR',
    ['{d} {t}, {n} <{a}>님이 작성:', '{d} {t}, {n} <{a}> 작성:', '{d} {t}에 {n} 이(가) 쓴 글:'],
    ['보낸 사람', '보낸 날짜', '받는 사람', '제목'],
    '원본 메시지',
    ['전달된 메시지:', '전달된 메시지'],
    ['나의 iPhone에서 보냄', '내 Galaxy에서 보냄'],
  ),
];
