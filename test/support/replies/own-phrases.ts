/**
 * What customers write around a quotation or in a signature, by language; `{w}` is a made-up word.
 * None of it looks like the line above a quoted mail: `lead` names a thing, not a person who wrote.
 */
export interface OwnPhrases {
  readonly hello: string;
  /** Two statements of fact: nobody's name, position or address. */
  readonly says: readonly [string, string];
  readonly ask: string;
  /** Introduces a quotation, and ends in a colon. */
  readonly lead: string;
  /** Points to the signature below. */
  readonly points: string;
}

const phrases = (lines: string): OwnPhrases => {
  const [hello = '', first = '', second = '', ask = '', lead = '', points = ''] = lines
    .trim()
    .split('\n')
    .map((line) => line.trim());
  return { hello, says: [first, second], ask, lead, points };
};

export const OWN_PHRASES: Readonly<Record<string, OwnPhrases>> = {
  en: phrases(`Hello,
    The {w} broke after two days and I would like to have a new one.
    I packed the {w} yesterday and took it to the post office.
    Could you please tell me when the {w} will arrive?
    The {w} shows this message:
    Please call the number below, the {w} is there until six.`),
  de: phrases(`Guten Tag,
    Das {w} ist nach zwei Tagen kaputtgegangen und ich möchte ein neues haben.
    Ich habe das {w} gestern verpackt und zur Post gebracht.
    Können Sie mir bitte sagen, wann das {w} ankommt?
    Auf dem {w} steht diese Meldung:
    Bitte schicken Sie das {w} an mich, Anschrift siehe Signatur.`),
  fr: phrases(`Bonjour,
    Le {w} est tombé en panne après deux jours et je voudrais en avoir un autre.
    J’ai emballé le {w} hier et je l’ai porté à la poste.
    Pouvez-vous me dire quand le {w} va arriver ?
    Le {w} affiche ce message :
    Merci d’envoyer le {w} à l’adresse dans ma signature.`),
  es: phrases(`Hola,
    El {w} se rompió a los dos días y quiero que me manden otro.
    Ayer empaqueté el {w} y lo llevé a correos.
    ¿Me pueden decir cuándo llega el {w}?
    El {w} muestra este mensaje:
    Por favor, envíen el {w} a la dirección de mi firma.`),
  it: phrases(`Buongiorno,
    Il {w} si è rotto dopo due giorni e vorrei averne un altro.
    Ieri ho imballato il {w} e l’ho portato alla posta.
    Mi può dire quando arriva il {w}?
    Sul {w} compare questo messaggio:
    Vi prego di spedire il {w} all’indirizzo nella mia firma.`),
  'pt-BR': phrases(`Olá,
    O {w} quebrou depois de dois dias e eu gostaria de receber outro.
    Ontem embalei o {w} e levei ao correio.
    Podem me dizer quando o {w} vai chegar?
    O {w} mostra esta mensagem:
    Por favor, enviem o {w} para o endereço na minha assinatura.`),
  nl: phrases(`Hallo,
    De {w} ging na twee dagen kapot en ik wil graag een nieuwe hebben.
    Ik heb de {w} gisteren ingepakt en naar de post gebracht.
    Kunt u mij zeggen wanneer de {w} aankomt?
    Op de {w} staat deze melding:
    Stuur de {w} alstublieft naar het adres in mijn handtekening.`),
  sv: phrases(`Hej,
    Min {w} gick sönder efter två dagar och jag vill ha en ny.
    Jag packade {w} igår och lämnade paketet på posten.
    Kan ni säga när {w} kommer fram?
    På {w} står det här meddelandet:
    Skicka {w} till adressen i min signatur.`),
  da: phrases(`Hej,
    Min {w} gik i stykker efter to dage, og jeg vil gerne have en ny.
    Jeg pakkede {w} i går og afleverede pakken på posthuset.
    Kan I sige mig, hvornår {w} kommer frem?
    På {w} står denne besked:
    Send venligst {w} til adressen i min signatur.`),
  nb: phrases(`Hei,
    Min {w} gikk i stykker etter to dager, og jeg vil gjerne ha en ny.
    Jeg pakket {w} i går og leverte pakken på posten.
    Kan dere si meg når {w} kommer frem?
    På {w} står denne meldingen:
    Vennligst send {w} til adressen i signaturen min.`),
  fi: phrases(`Hei,
    Tuote {w} meni rikki kahden päivän jälkeen ja haluaisin uuden.
    Pakkasin tuotteen {w} eilen ja vein sen postiin.
    Voitteko kertoa, milloin {w} saapuu?
    Laite {w} näyttää tämän viestin:
    Lähettäkää {w} allekirjoituksessa olevaan osoitteeseen.`),
  pl: phrases(`Dzień dobry,
    Produkt {w} zepsuł się po dwóch dniach i chciałbym dostać nowy.
    Wczoraj zapakowałem {w} i zaniosłem na pocztę.
    Czy mogą mi Państwo powiedzieć, kiedy dotrze {w}?
    Na ekranie {w} widać ten komunikat:
    Proszę wysłać {w} na adres w moim podpisie.`),
  cs: phrases(`Dobrý den,
    Výrobek {w} se po dvou dnech rozbil a chtěl bych dostat nový.
    Včera jsem {w} zabalil a odnesl na poštu.
    Můžete mi říct, kdy {w} dorazí?
    Na {w} se ukazuje toto hlášení:
    Pošlete prosím {w} na adresu v mém podpisu.`),
  hu: phrases(`Jó napot,
    A {w} két nap után elromlott, és szeretnék egy másikat kapni.
    Tegnap becsomagoltam a {w} terméket és elvittem a postára.
    Meg tudják mondani, mikor érkezik meg a {w}?
    A {w} ezt az üzenetet mutatja:
    Kérem, küldjék a {w} terméket az aláírásomban lévő címre.`),
  ro: phrases(`Bună ziua,
    Produsul {w} s-a stricat după două zile și aș vrea să primesc altul.
    Ieri am împachetat {w} și l-am dus la poștă.
    Îmi puteți spune când ajunge {w}?
    Pe {w} apare acest mesaj:
    Vă rog să trimiteți {w} la adresa din semnătura mea.`),
  tr: phrases(`Merhaba,
    Ürün {w} iki gün sonra bozuldu ve yenisini almak istiyorum.
    Dün {w} paketini hazırladım ve postaneye götürdüm.
    Bana {w} ne zaman gelir söyleyebilir misiniz?
    Cihaz {w} şu mesajı gösteriyor:
    Lütfen {w} ürününü imzamdaki adrese gönderin.`),
  ru: phrases(`Здравствуйте,
    Товар {w} сломался через два дня, и я хочу получить новый.
    Вчера я упаковал {w} и отнёс на почту.
    Скажите, пожалуйста, когда придёт {w}?
    На экране {w} появляется такое сообщение:
    Пожалуйста, отправьте {w} на адрес в моей подписи.`),
  uk: phrases(`Добрий день,
    Товар {w} зламався через два дні, і я хочу отримати новий.
    Вчора я запакував {w} і відніс на пошту.
    Скажіть, будь ласка, коли прийде {w}?
    На екрані {w} з’являється таке повідомлення:
    Будь ласка, надішліть {w} на адресу в моєму підписі.`),
  el: phrases(`Καλημέρα,
    Το {w} χάλασε μετά από δύο μέρες και θα ήθελα ένα καινούργιο.
    Χθες συσκεύασα το {w} και το πήγα στο ταχυδρομείο.
    Μπορείτε να μου πείτε πότε θα έρθει το {w};
    Το {w} δείχνει αυτό το μήνυμα:
    Παρακαλώ στείλτε το {w} στη διεύθυνση της υπογραφής μου.`),
  he: phrases(`שלום,
    המוצר {w} התקלקל אחרי יומיים ואני רוצה לקבל חדש.
    אתמול ארזתי את {w} ולקחתי לדואר.
    האם תוכלו לומר לי מתי יגיע {w}?
    על המסך של {w} מופיעה ההודעה הזאת:
    נא לשלוח את {w} לכתובת שבחתימה שלי.`),
  ar: phrases(`مرحبا،
    تعطل المنتج {w} بعد يومين وأريد الحصول على منتج جديد.
    أمس قمت بتغليف {w} وأخذته إلى مكتب البريد.
    هل يمكنكم إخباري متى يصل {w}؟
    يظهر على شاشة {w} هذا النص:
    يرجى إرسال {w} إلى العنوان الموجود في توقيعي.`),
  vi: phrases(`Xin chào,
    Sản phẩm {w} đã hỏng sau hai ngày và tôi muốn nhận cái mới.
    Hôm qua tôi đã đóng gói {w} và mang ra bưu điện.
    Xin cho tôi biết khi nào {w} sẽ đến?
    Trên {w} hiện thông báo này:
    Vui lòng gửi {w} đến địa chỉ trong chữ ký của tôi.`),
  ja: phrases(`こんにちは。
    商品 {w} が二日で壊れましたので、新しいものをいただきたいです。
    昨日 {w} を梱包して郵便局に持って行きました。
    いつ {w} が届くか教えていただけますか？
    画面に {w} の次のメッセージが出ます：
    商品 {w} は署名の住所に送ってください。`),
  'zh-CN': phrases(`您好，
    商品 {w} 两天后就坏了，我想换一个新的。
    昨天我把 {w} 包好送到邮局了。
    请问 {w} 什么时候能到？
    屏幕上的 {w} 显示以下信息：
    请把 {w} 寄到我签名中的地址。`),
  'zh-TW': phrases(`您好，
    商品 {w} 兩天後就壞了，我想換一個新的。
    昨天我把 {w} 包好送到郵局了。
    請問 {w} 什麼時候會到？
    螢幕上的 {w} 顯示以下訊息：
    請把 {w} 寄到我簽名檔中的地址。`),
  ko: phrases(`안녕하세요,
    상품 {w} 이틀 만에 고장 나서 새 것으로 받고 싶습니다.
    어제 {w} 포장해서 우체국에 가져갔습니다.
    언제 {w} 도착하는지 알려 주시겠습니까?
    화면에 {w} 다음 메시지가 나옵니다:
    상품 {w} 제 서명에 있는 주소로 보내 주세요.`),
};
