/**
 * What customers write in their language and script, by language; `{w}` is a made-up word. Some begin
 * like the line above a quote, or like what a telephone appends.
 */
export const OWN_SENTENCES: Readonly<Record<string, readonly string[]>> = {
  en: [
    'Hello, the {w} does not work any more.',
    'I bought it on 3 March in {w} and paid 49.90 EUR.',
    'On Friday I called {w}, who said that {w} would write back.',
    'From what I see, the {w} went to the wrong address.',
    'Sent it back yesterday with {w}.',
  ],
  de: [
    'Guten Tag, das {w} geht leider nicht mehr.',
    'Am 3. März habe ich bei {w} angerufen, dort schrieb man mir nichts.',
    'Von {w} nach {w} dauert es zu lange.',
    'Gesendet habe ich es am Montag mit {w}.',
    'Antwort auf Ihre Frage: {w}',
  ],
  fr: [
    'Bonjour, l’article {w} ne marche plus.',
    'Le 3 mars, j’ai écrit à {w} sans réponse.',
    'De {w} à {w}, il faut compter trois jours.',
    'Envoyé hier par {w} en recommandé.',
  ],
  es: [
    'Hola, el {w} ya no funciona.',
    'El 3 de marzo escribí a {w} y no contestaron.',
    'De {w} a {w} tarda demasiado.',
    'Enviado ayer por {w}.',
  ],
  it: [
    'Buongiorno, il {w} non funziona più.',
    'Il 3 marzo ho scritto a {w} senza risposta.',
    'Inviato ieri con {w}.',
  ],
  'pt-BR': [
    'Olá, o {w} já não funciona.',
    'Em 3 de março escrevi a {w} sem resposta.',
    'Enviado ontem por {w}.',
  ],
  nl: [
    'Hallo, de {w} doet het niet meer.',
    'Op 3 maart schreef ik {w}, maar ik kreeg geen antwoord over dit onderwerp.',
    'Verzonden gisteren met {w}.',
  ],
  sv: ['Hej, {w} fungerar inte längre.', 'Den 3 mars skrev jag till {w} utan svar.'],
  da: ['Hej, {w} virker ikke mere.', 'Den 3. marts skrev jeg til {w} uden svar.'],
  nb: ['Hei, {w} virker ikke lenger.', 'Sendt i går med {w}.'],
  fi: ['Hei, {w} ei enää toimi.', 'Kirjoitin 3.3. osoitteeseen {w} ilman vastausta.'],
  pl: [
    'Dzień dobry, {w} już nie działa.',
    'Dnia 3 marca napisałem do {w} bez odpowiedzi.',
    'Wysłano wczoraj przez {w}.',
  ],
  cs: ['Dobrý den, {w} už nefunguje.', 'Dne 3. března jsem napsal {w} bez odpovědi.'],
  hu: ['Jó napot, a {w} nem működik.', 'Március 3-án írtam {w} címre válasz nélkül.'],
  ro: ['Bună ziua, {w} nu mai funcționează.', 'Pe 3 martie am scris la {w} fără răspuns.'],
  tr: ['Merhaba, {w} artık çalışmıyor.', '3 Mart’ta {w} adresine yazdım, cevap yok.'],
  ru: [
    'Здравствуйте, {w} больше не работает.',
    '3 марта я написал на {w} и не получил ответа.',
    'Отправлено вчера через {w}.',
  ],
  uk: ['Добрий день, {w} більше не працює.', '3 березня я написав на {w} без відповіді.'],
  el: ['Καλημέρα, το {w} δεν λειτουργεί πια.', 'Στις 3 Μαρτίου έγραψα στο {w} χωρίς απάντηση.'],
  he: ['שלום, {w} לא עובד יותר.', 'ב-3 במרץ כתבתי אל {w} ללא תשובה.'],
  ar: ['مرحبا، {w} لا يعمل.', 'في 3 مارس كتبت إلى {w} دون رد.'],
  ja: ['こんにちは、 {w} が動きません。', '3月3日に {w} へ連絡しました。', '{w} 様'],
  'zh-CN': ['您好， {w} 坏了。', '3月3日我联系过 {w} 没有回复。'],
  'zh-TW': ['您好， {w} 壞了。', '3月3日我聯絡過 {w} 沒有回覆。'],
  ko: ['안녕하세요, {w} 고장났습니다.', '3월 3일에 {w} 문의했습니다.'],
  vi: ['Xin chào, {w} không hoạt động.', 'Ngày 3 tháng 3 tôi đã viết cho {w}.'],
  id: ['Halo, {w} tidak berfungsi.', 'Pada 3 Maret saya menulis ke {w}.'],
};
