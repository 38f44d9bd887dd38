import { phraseList } from '../words.ts';

/*
 * The words with which mail programs head a quoted or forwarded message, by language. Sources: the
 * locale files of Thunderbird (mime.properties, compose: mailnews.*), Roundcube
 * (program/localization), K-9 Mail and Zimbra (AjxMsg, ZmMsg); Apple's localized strings of Mail and
 * the support articles of Outlook, Gmail, Yahoo, GMX, Yandex, Mail.ru, QQ, NetEase and Naver; what is
 * from one client only is named after it.
 */

/** Titles above the message that is answered; they stand between dashes. */
const ORIGINAL_TITLES = {
  en: 'original message|original appointment|original email|original e-mail|original mail',
  enClients: 'reply message|replied message|original|original message follows', // HTC, NetEase, QQ
  de: 'ursprüngliche nachricht|antwort nachricht|original-nachricht|original nachricht|originalnachricht',
  deClients: 'ursprüngliche e-mail|ursprüngliche mail|originalmail|original-mail',
  fr: "message d'origine|message original|message initial|mail original|e-mail d'origine",
  frClients: "courriel d'origine|courriel original|mail d'origine", // Zimbra of Free and Laposte
  es: 'mensaje original|mensaje de origen|correo original|mensaje inicial',
  it: 'messaggio originale|messaggio di origine|messaggio originario|mail originale',
  pt: 'mensagem original|mensagem de origem|mensagem inicial|email original|e-mail original',
  ca: "missatge original|missatge d'origen",
  gl: 'mensaxe orixinal',
  eu: 'jatorrizko mezua',
  ro: 'mesaj original|mesajul original|mesaj inițial|mesajul inițial|mesajul iniţial',
  nl: 'oorspronkelijk bericht|oorspronkelijke bericht|origineel bericht|originele bericht',
  af: 'oorspronklike boodskap',
  sv: 'ursprungligt meddelande|originalmeddelande|ursprungligt mejl|ursprungsmeddelande',
  da: 'oprindelig meddelelse|original meddelelse|oprindelig besked|originalmeddelelse|original besked',
  nb: 'opprinnelig melding|original melding|originalmelding|opprinneleg melding',
  is: 'upprunaleg skilaboð|upphafleg skilaboð|upprunalegur póstur',
  fi: 'alkuperäinen viesti|alkuperäinen sähköposti',
  et: 'algne kiri|algsõnum|originaalsõnum|algne sõnum',
  lv: 'sākotnējā ziņa|oriģinālā ziņa|sākotnējais ziņojums|oriģinālais ziņojums',
  lt: 'pradinis laiškas|originalus laiškas|pirminis pranešimas|originalus pranešimas',
  pl: 'wiadomość oryginalna|oryginalna wiadomość|pierwotna wiadomość|wiadomość pierwotna',
  cs: 'původní zpráva|původní e-mail|původní mail|původní email', // Seznam: e-mail
  sk: 'pôvodná správa|pôvodný e-mail|originálna správa|pôvodná zpráva',
  hu: 'eredeti üzenet|eredeti levél',
  sl: 'izvirno sporočilo|originalno sporočilo|prvotno sporočilo',
  hr: 'izvorna poruka|originalna poruka|izvorna e-pošta|prvobitna poruka',
  sr: 'оригинална порука|изворна порука|првобитна порука',
  mk: 'оригинална порака|изворна порака',
  bg: 'оригинално съобщение|първоначално съобщение|оригинално писмо',
  ru: 'исходное сообщение|оригинальное сообщение|первоначальное сообщение|исходное письмо',
  uk: 'початкове повідомлення|вихідне повідомлення|оригінальне повідомлення|оригінал повідомлення',
  be: 'зыходнае паведамленне|арыгінальнае паведамленне',
  el: 'αρχικό μήνυμα|πρωτότυπο μήνυμα|αρχικο μηνυμα',
  sq: 'mesazhi origjinal|mesazh origjinal',
  tr: 'orijinal ileti|orijinal mesaj|özgün ileti|asıl ileti|özgün mesaj',
  az: 'orijinal mesaj|ilkin mesaj',
  he: 'ההודעה המקורית|הודעה מקורית|הודעת המקור',
  ar: 'الرسالة الأصلية|رسالة أصلية|الرسالة الاصلية',
  fa: 'پیام اصلی|پیغام اصلی',
  hi: 'मूल संदेश',
  th: 'ข้อความต้นฉบับ|ข้อความเดิม|จดหมายต้นฉบับ',
  vi: 'tin nhắn gốc|thư gốc|bản gốc',
  id: 'pesan asli|pesan orisinal|pesan asal',
  ms: 'mesej asal|mesej asli',
  ja: '元のメッセージ|オリジナルメッセージ|元のメール|転送元のメッセージ',
  zh: '原始邮件|原始郵件|原邮件|原郵件|原始信件|原始訊息|回复的原邮件|回復的原郵件|回覆的原郵件',
  ko: '회신 메시지|원본 메시지|원본 메일|원본메시지|원본메일|원래 메시지|원본 이메일',
};

/** Titles and introductions of a forwarded message: between dashes, or before a colon. */
const FORWARD_TITLES = {
  en: 'forwarded message|begin forwarded message|start of forwarded message|fwd message',
  enClients: 'forwarded mail|forwarded email|forwarded by|forwarded from|forwarded message from',
  de: 'weitergeleitete nachricht|anfang der weitergeleiteten nachricht|weitergeleitet von',
  deClients: 'weitergeleitete e-mail|weitergeleitete mail|beginn der weitergeleiteten nachricht',
  fr: 'message transféré|début du message réexpédié|début du message transféré|message réexpédié',
  frClients: 'message transmis|courriel transféré|mail transféré|e-mail transféré|transféré par',
  es: 'mensaje reenviado|inicio del mensaje reenviado|correo reenviado|reenviado por',
  it: 'messaggio inoltrato|inizio messaggio inoltrato|inizio del messaggio inoltrato|inoltrato da',
  pt: 'mensagem encaminhada|início da mensagem encaminhada|encaminhado por',
  ptPT: 'mensagem reencaminhada|início da mensagem reencaminhada|reencaminhado por',
  ca: 'missatge reenviat|inici del missatge reenviat',
  gl: 'mensaxe reenviada',
  eu: 'birbidalitako mezua',
  ro: 'mesaj redirecționat|mesaj redirecţionat|mesaj transmis|începe mesajul redirecționat',
  roClients:
    'mesaj înaintat|mesaj forwardat|mesajul redirecționat|începutul mesajului redirecționat',
  nl: 'doorgestuurd bericht|begin doorgestuurd bericht|doorgestuurde e-mail|doorgestuurd door',
  af: 'aangestuurde boodskap',
  sv: 'vidarebefordrat meddelande|vidarebefordrat brev|vidarebefordrat mejl|vidarebefordrat av',
  da: 'videresendt meddelelse|start på videresendt besked|videresendt besked|videresendt af',
  nb: 'videresendt melding|start på videresendt melding|videresendt e-post|vidaresend melding',
  is: 'framsend skilaboð|áframsend skilaboð|framsendur póstur',
  fi: 'välitetty viesti|välitetty viesti alkaa|edelleenlähetetty viesti|edelleen lähetetty viesti',
  et: 'edastatud kiri|edastatud sõnum|edasisaadetud kiri|edasi saadetud kiri',
  lv: 'pārsūtīta ziņa|pārsūtītā ziņa|pārsūtīts ziņojums|pārsūtītais ziņojums',
  lt: 'persiųstas laiškas|persiunčiamas laiškas|persiųstas pranešimas',
  pl: 'wiadomość przekazana|przekazana wiadomość|wiadomość przesłana dalej|przesłana wiadomość',
  plClients:
    'treść przekazanej wiadomości|początek przekazywanej wiadomości|przekazywana wiadomość',
  cs: 'přeposlaná zpráva|začátek přeposílané zprávy|přeposlaný e-mail|přeposílaná zpráva',
  sk: 'preposlaná správa|začiatok preposlanej správy|preposielaná správa|preposlaný e-mail',
  hu: 'továbbított üzenet|továbbított levél kezdete|továbbított levél|továbbított üzenet kezdete',
  sl: 'posredovano sporočilo|začetek posredovanega sporočila',
  hr: 'proslijeđena poruka|započni proslijeđenu poruku|početak proslijeđene poruke',
  sr: 'прослеђена порука|prosleđena poruka|prosledjena poruka|проследена порука',
  mk: 'препратена порака|проследена порака',
  bg: 'препратено съобщение|препратено писмо|начало на препратеното съобщение',
  ru: 'пересылаемое сообщение|пересланное сообщение|перенаправленное сообщение',
  ruApple: 'начало переадресованного сообщения|начало пересылаемого сообщения|пересланное письмо',
  uk: 'переслане повідомлення|перенаправлене повідомлення|початок листа, що пересилається',
  ukClients: 'пересилання повідомлення|переадресоване повідомлення|пересланий лист',
  be: 'перасланае паведамленне|перасланы ліст',
  el: 'προωθημένο μήνυμα|έναρξη προωθημένου μηνύματος|αρχή προωθημένου μηνύματος',
  sq: 'mesazh i përcjellë|mesazhi i përcjellë',
  tr: 'iletilen mesaj|yönlendirilmiş ileti|iletilmiş mesaj|iletilen ileti|yönlendirilen ileti',
  trApple: 'ileti başlangıcı|iletilen iletinin başlangıcı|yönlendirilen mesaj|yönlendirilmiş mesaj',
  az: 'yönləndirilmiş mesaj|ötürülmüş mesaj',
  he: 'הודעה שהועברה|תחילת ההודעה שהועברה|ההודעה שהועברה|הודעה מועברת',
  ar: 'رسالة معاد توجيهها|بداية الرسالة المعاد توجيهها|رسالة مُعاد توجيهها|الرسالة المعاد توجيهها',
  fa: 'پیام بازارسال شده|پیام هدایت شده|پیام ارسال شده|شروع پیام بازارسال شده',
  hi: 'अग्रेषित संदेश|फ़ॉरवर्ड किया गया संदेश',
  th: 'ข้อความที่ส่งต่อ|เริ่มข้อความที่ส่งต่อ|จดหมายที่ส่งต่อ',
  vi: 'tin nhắn đã chuyển tiếp|thư đã chuyển tiếp|bắt đầu thư được chuyển tiếp',
  viClients: 'thư được chuyển tiếp|tin nhắn được chuyển tiếp|chuyển tiếp thư',
  id: 'pesan terusan|pesan yang diteruskan|mulai pesan terusan|awal pesan yang diteruskan',
  ms: 'mesej yang dimajukan|mesej dimajukan|permulaan mesej yang dimajukan',
  ja: '転送メッセージ|転送されたメッセージ|メッセージを転送|転送されるメッセージ|転送メール',
  zh: '转发的邮件|转发邮件|转发邮件信息|下面是被转发的邮件|以下是转发的邮件|被转发的邮件|转发的消息',
  zhTW: '轉寄的郵件|轉寄郵件|開始轉寄郵件|以下是轉寄的郵件|轉寄訊息|轉寄的訊息|轉發郵件|已轉寄郵件',
  ko: '전달된 메시지|전달된 메일|전달 메시지|전달된 메세지|전달된 이메일|전달메일',
};

/**
 * What help desks write above their mail, between dashes, so that the answer stands above it.
 * Sources: Zendesk (##- … -##) in these languages, Jira, Intercom, Help Scout, UserVoice, Teamwork
 * and Basecamp.
 */
export const ABOVE_THIS_LINE = [
  'above this line',
  'über dieser zeile',
  'oberhalb dieser zeile',
  'au-dessus de cette ligne',
  'encima de esta línea',
  'sobre esta línea',
  'acima desta linha',
  'sopra questa riga',
  'sopra questa linea',
  'boven deze regel',
  'ovanför den här raden',
  'ovanför denna rad',
  'over denne linje',
  'tämän rivin yläpuolelle',
  'powyżej tej linii',
  'nad tímto řádkem',
  'nad tento řádek',
  'bu satırın üst',
  'выше этой строки',
  'выше этой линии',
  'この行より上',
  'この行の上',
  '此行上方',
  '此行之上',
  '이 줄 위에',
];

/**
 * The labels of the quoted message's header, for each language: From; Subject; the other fields. As
 * written by Outlook, Outlook on the web, Samsung, GMX, Thunderbird's forwards and the webmails.
 */
const HEADER_LABELS = {
  en: 'from|sender ; subject ; sent|date|to|cc|bcc|reply-to|sent at|sent on|sent time',
  de: 'von|absender ; betreff|thema ; gesendet|datum|an|cc|kopie|kopie (cc)|antwort an|gesendet am|empfänger',
  fr: "de|expéditeur ; objet|sujet ; envoyé|envoyé le|date|date d'envoi|message du|à|a|pour|cc|copie à|copie|répondre à",
  es: 'de|remitente ; asunto ; enviado|enviado el|fecha|para|a|cc|cco|responder a|enviados',
  it: 'da|mittente ; oggetto ; inviato|inviato il|spedito|spedito il|data|data invio|a|per|destinatario|destinatari|cc|ccn|rispondi a',
  pt: 'de|remetente ; assunto ; enviado|enviado em|enviada|enviada em|data|para|cc|cco|responder a',
  ca: 'de ; assumpte|tema ; enviat|enviat el|data|per a|a',
  ro: 'de la|de|expeditor|expeditorul ; subiect|subiectul ; trimis|trimis la|data|dată|către|catre|destinatarul|la',
  nl: 'van|afzender ; onderwerp ; verzonden|verstuurd|datum|aan|cc|antwoord aan',
  sv: 'från|avsändare ; ämne ; skickat|skickades|datum|till|kopia|svara till',
  da: 'fra|afsender ; emne ; sendt|dato|til|kopi|svar til',
  nb: 'fra|frå|avsender ; emne ; sendt|dato|til|kopi|svar til',
  is: 'frá|sendandi ; efni ; sent|dagsetning|til|afrit|dags',
  fi: 'lähettäjä ; aihe|otsikko ; lähetetty|päivämäärä|päiväys|vastaanottaja|kopio|saaja|pvm',
  et: 'saatja|kellelt ; teema ; saadetud|kuupäev|saaja|adressaat|kellele|koopia',
  lv: 'no|sūtītājs ; temats|tēma|tēmats ; nosūtīts|datums|kam|uz|kopija',
  lt: 'nuo|siuntėjas ; tema ; išsiųsta|data|kam|gavėjas|kopija',
  pl: 'od|nadawca ; temat ; wysłano|wysłane|data|do|dw|adresat|odbiorca',
  cs: 'od|odesílatel ; předmět ; odesláno|datum|komu|kopie|posláno|poslal',
  sk: 'od|odosielateľ ; predmet ; odoslané|poslané|dátum|komu|kópia|pre',
  hu: 'feladó|küldő ; tárgy ; elküldve|küldve|dátum|címzett|másolat|másolatot kap|válaszcím',
  sl: 'od|pošiljatelj ; zadeva ; poslano|datum|za|kp|prejemnik',
  hr: 'od|šalje|pošiljatelj|pošiljalac ; predmet|naslov|tema ; poslano|poslato|datum|za|prima|kopija',
  sr: 'од|шаље|пошиљалац ; наслов|тема|предмет ; послато|датум|за|прима',
  bg: 'от|подател ; относно|тема ; изпратено|дата|до|копие|получател',
  mk: 'од ; предмет|наслов ; испратено|датум|до|за',
  ru: 'от|от кого|отправитель ; тема ; отправлено|дата|кому|копия',
  uk: 'від|від кого|відправник ; тема ; надіслано|дата|кому|копія',
  be: 'ад|ад каго ; тэма ; адпраўлена|дата|каму',
  el: 'από|αποστολέας ; θέμα ; στάλθηκε|εστάλη|ημερομηνία|προς|κοιν|κοιν.|κοινοποίηση',
  tr: 'kimden|gönderen ; konu ; gönderildi|gönderme tarihi|gönderilme tarihi|gönderilme|tarih|kime|bilgi|alıcı',
  he: 'מאת ; נושא ; נשלח|תאריך|אל|עותק',
  ar: 'من|المرسل ; الموضوع ; إلى|تم الإرسال|التاريخ|أرسلت|تاريخ الإرسال|نسخة|المرسل إليه',
  fa: 'از|فرستنده ; موضوع ; ارسال شده|ارسال‌شده|تاریخ|به|گیرنده',
  hi: 'प्रेषक|से ; विषय ; भेजा गया|दिनांक|प्रति|को',
  th: 'จาก|ผู้ส่ง ; เรื่อง|หัวเรื่อง|หัวข้อ ; ส่ง|ส่งเมื่อ|วันที่|ถึง|สำเนา',
  vi: 'từ|người gửi ; chủ đề|tiêu đề ; đã gửi|gửi|ngày|ngày gửi|tới|đến|người nhận',
  id: 'dari|pengirim ; subjek|perihal|judul ; terkirim|dikirim|tanggal|kepada|ke|untuk',
  ms: 'daripada ; subjek|perkara ; dihantar|tarikh|kepada',
  ja: '差出人|送信者|送信元 ; 件名|題名 ; 送信日時|日付|日時|宛先|送信先|送信日|受信者|cc',
  zh: '发件人|发件者|发送人 ; 主题|标题 ; 发送时间|发件时间|发送日期|日期|时间|收件人|抄送|已发送',
  zhTW: '寄件者|寄件人|發件人 ; 主旨|主題|標題 ; 寄件日期|傳送時間|發送時間|日期|收件者|收件人|副本|已傳送',
  ko: '보낸 사람|보낸사람|보낸이|발신|발신인 ; 제목 ; 보낸 날짜|보낸날짜|날짜|일시|받는 사람|받는사람|받는이|수신|참조',
};

export const originalTitles = phraseList(ORIGINAL_TITLES);
export const forwardTitles = phraseList(FORWARD_TITLES);

const labelKinds = [0, 1, 2].map((kind) =>
  phraseList(
    Object.fromEntries(
      Object.entries(HEADER_LABELS).map(([language, kinds]) => [
        language,
        kinds.split(' ; ')[kind] ?? '',
      ]),
    ),
  ),
);
export const fromLabels: ReadonlySet<string> = new Set(labelKinds[0]);
export const subjectLabels: ReadonlySet<string> = new Set(labelKinds[1]);
/** Every field of a header but From. */
export const otherLabels: ReadonlySet<string> = new Set([
  ...(labelKinds[1] ?? []),
  ...(labelKinds[2] ?? []),
]);
