import { phrases } from '../lines.ts';

/*
 * Words by which a signature is told from what a person wrote in its place, in the usual languages.
 */

/** A text that is nothing but one of these, and a name, is a greeting. */
export const greetings =
  phrases(`hi|hello|hey|dear|good morning|good afternoon|good evening|hallo|guten tag|guten morgen|guten abend|
  moin|servus|grüezi|liebe|lieber|sehr geehrte|bonjour|bonsoir|salut|cher|chère|madame|monsieur|hola|buenos días|
  buenas tardes|estimado|estimada|estimados|ciao|buongiorno|buonasera|salve|gentile|gentili|olá|bom dia|boa tarde|
  prezado|prezada|prezados|caro|cara|dag|goedemorgen|goedemiddag|goedendag|beste|geachte|hej|hejsan|god dag|kära|kjære|
  kære|hei|moi|terve|hyvä|cześć|dzień dobry|witam|szanowni|szanowny|szanowna|dobrý den|ahoj|vážený|vážená|vážení|
  dobrý deň|szia|kedves|tisztelt|jó napot|bună|bună ziua|stimată|stimate|merhaba|sayın|selam|здравствуйте|добрый день|
  привет|уважаемый|уважаемая|уважаемые|добрий день|вітаю|шановний|шановна|шановні|γεια|γεια σας|καλημέρα|αγαπητέ|
  こんにちは|お世話になっております|您好|你好|안녕하세요|مرحبا|السلام عليكم|שלום|halo|selamat pagi|xin chào|`);

/** Who speaks of themselves, asks or answers: no name, position or address has these words. */
export const personal: ReadonlySet<string> = new Set(
  phrases(`i|i'm|i'd|i'll|i've|me|my|mine|we'd|yes|ok|okay|please|pls|you|ich|mir|mich|mein|meine|meinen|meinem|meiner|
  bitte|nein|je|j'ai|moi|mon|mes|oui|svp|yo|mi|mis|sí|quiero|io|mio|mia|sì|eu|meu|minha|sim|não|ik|mij|mijn|graag|nee|
  jag|mig|mitt|jeg|meg|gerne|gjerne|nej|nei|minä|minun|kiitos|kyllä|mnie|mój|proszę|prosím|můj|kérem|igen|nem|vreau|
  lütfen|evet|hayır|я|мне|мой|мою|хочу|нет|пожалуйста|прошу|мені|ні|θέλω|παρακαλώ|tidak|tolong|mohon|không|`),
);

/** With one of these first a line answers, unless a number follows: "No. 5". */
export const answers: ReadonlySet<string> = new Set(
  phrases(`no|nope|yep|yeah|sure|ja|jo|jep|nö|doch|non|si|ano|tak|да|так|ne|не|ні|はい|いいえ|是|是的|不|不是|네|예|아니요|
  نعم|لا|כן|לא|όχι|ναι|`),
);

/** What names a thing that the platform may be asked about, in front of its number. */
export const thingWords: ReadonlySet<string> = new Set(
  phrases(`order|orders|number|invoice|tracking|serial|sn|s/n|iban|ticket|case|item|article|size|colour|color|model|booking|
  reservation|bestellung|bestellnummer|auftrag|auftragsnummer|rechnung|rechnungsnummer|seriennummer|größe|farbe|artikel|
  kundennummer|commande|numéro|facture|taille|couleur|pedido|número|factura|talla|ordine|numero|fattura|taglia|encomenda|
  fatura|tamanho|bestelling|ordernummer|factuur|maat|order nr|ordrenummer|tilaus|zamówienie|faktura|objednávka|rendelés|
  comanda|sipariş|заказ|заказа|номер|замовлення|παραγγελία|`),
);

/** With one of these a letter ends, above the name. */
export const closings: ReadonlySet<string> = new Set(
  phrases(`regards|best|sincerely|yours|cheers|thanks|thank|thx|rgds|br|grüße|grüßen|gruß|gruss|grüsse|mfg|vg|lg|danke|dank|
  cordialement|salutations|vous|merci|saludos|saludo|atentamente|gracias|saluti|cordialmente|grazie|cumprimentos|
  atenciosamente|abraço|obrigado|obrigada|groet|groeten|groetjes|bedankt|hälsningar|hälsning|tack|mvh|hilsen|takk|terveisin|
  kiitos|pozdrawiam|poważaniem|dziękuję|pozdravem|pozdravom|děkuji|ďakujem|üdvözlettel|köszönöm|stimă|mulțumesc|
  saygılarımla|teşekkürler|пожеланиями|уважением|спасибо|повагою|дякую|εκτίμηση|ευχαριστώ|よろしくお願いします|
  よろしくお願いいたします|よろしくお願い致します|宜しくお願いします|宜しくお願いいたします|宜しくお願い致します|
  敬具|此致|敬礼|谢谢|謝謝|감사합니다|التحية|شكرا|בברכה|תודה|`),
);
/** What stands beside a closing; with these alone nobody says anything. */
export const closingWords: ReadonlySet<string> = new Set(
  phrases(`with|kind|kindest|truly|faithfully|warm|warmest|many|very|much|so|a|lot|all|the|my|and|again|in|advance|for|your|you|help|time|
  support|mit|freundlichen|freundlichem|freundliche|besten|beste|lieben|liebe|schöne|schönen|herzliche|herzlichen|
  herzlichem|viele|vielen|sonnige|sonnigen|im|voraus|aus|und|für|ihre|hilfe|bien|à|sincères|meilleures|mes|mille|beaucoup|par|
  avance|d'avance|pour|votre|aide|et|un|muchas|cordial|cordiales|atentos|de|antemano|por|su|ayuda|y|cordiali|distinti|
  migliori|i|tante|anticipo|e|com|os|melhores|meus|atenciosos|muito|desde|já|met|vriendelijke|vriendelijk|hartelijke|
  hartelijk|alvast|veel|voorbaat|bij|med|vänliga|vänlig|bästa|venlig|vennlig|mange|på|förhand|forhånd|för|hjälpen|
  hjelpen|ystävällisin|parhain|etukäteen|z|serdecznie|góry|s|přátelským|předem|cu|előre|с|наилучшими|заранее|большое|з|με|مع|`),
);

/** Or with a wish. */
export const wishes =
  phrases(`have a nice|have a great|have a good|have a lovely|schönen tag|schönes wochenende|schönen abend|einen schönen|
  bonne journée|bonne soirée|bonne fin de|bon week-end|bon weekend|que tenga|que tengas|buen día|buen fin de|
  buona giornata|buona serata|buon lavoro|tenha um bom|bom fim de|fijne dag|fijn weekend|prettige dag|ha en bra|
  ha en fin|ha en god|hyvää päivänjatkoa|miłego dnia|hezký den|pěkný den|szép napot|o zi bună|хорошего дня|гарного дня|
  iyi çalışmalar|iyi günler|καλή συνέχεια|`);

/** Positions, of which only the first word begins with a capital in many languages. */
export const positions: ReadonlySet<string> = new Set(
  phrases(`manager|managerin|director|engineer|specialist|assistant|officer|consultant|developer|designer|analyst|agent|
  advisor|lead|coordinator|executive|accountant|founder|owner|representative|leiter|leiterin|berater|beraterin|assistenz|
  responsable|directeur|directrice|gérant|assistante|conseiller|conseillère|acheteur|acheteuse|comptable|gerente|jefe|
  jefa|directora|técnico|técnica|responsabile|direttore|ufficio|diretor|diretora|adviseur|medewerker|inkoper|verkoper|
  teamleider|chef|inköpare|säljare|indkøber|innkjøper|kierownik|specjalista|specjalistka|asystent|asystentka|ředitel|
  ředitelka|vedoucí|menedzser|müdürü|менеджер|директор|руководитель|специалист|бухгалтер|фахівець|`),
);
/** Beside names in signatures. */
export const PRONOUNS = /she\/her|he\/him|they\/them/i;

/** Small words of names, positions and addresses. */
export const connectors: ReadonlySet<string> = new Set(
  phrases(`of|the|for|and|at|in|on|to|der|die|das|des|dem|den|und|für|von|zu|am|im|bei|de|la|le|les|du|l'|d'|et|en|au|
  aux|à|del|los|las|el|y|e|di|da|do|dos|das|della|dei|delle|il|lo|a|o|van|het|een|voor|och|og|för|av|ja|i|w|z|na|do|
  pro|für|és|și|ve|и|по|та|і|zum|zur|ul|al|pl|os|ulica|rue|av|avenue|bd|calle|c|via|viale|corso|rua|str|straße|strasse|
  straat|u|út|utca|tér|nám|ulice|strada|ул|пр|просп|пер|д|кв|оф|г|вул|буд|mah|cad|sok|no|kat|οδός|
  bis|ter|s.r.o|a.s|d.o.o|o.o|e.v|e.k|`),
);

/** Companies, positions and places in scripts without capitals. */
export const uncasedCard =
  /^(?:〒|株式会社|有限会社|合同会社|㈱|주식회사|\(주\))|(?:株式会社|公司|주식회사|部|課|科|部長|課長|経理|经理|总监|대표|부장|과장|팀장|대리)$|[都道府県省市区區县縣路街町村시도구로길][^。、，]{0,20}\p{Nd}/u;

/** Where a text says that its reader finds more: below it, or in its signature. */
export const belowWords =
  phrases(`below|underneath|at the bottom|at the end|unten|untenstehend|nachstehend|weiter unten|ci-dessous|plus bas|
  en bas|abajo|a continuación|al pie|al final|sotto|in calce|in fondo|di seguito|abaixo|no final|no rodapé|onderaan|
  hieronder|onderstaand|nedan|längst ner|nedenfor|nedenunder|nederst|herunder|alla|alapuolella|poniżej|na dole|níže|
  dole|nižšie|lent|alább|alul|mai jos|aşağıda|altta|ниже|внизу|нижче|παρακάτω|κάτω|下記|以下|下の|下面|下方|如下|아래|하단|
  أدناه|למטה|להלן|di bawah|dưới|`);
export const detailWords =
  phrases(`number|phone|mobile|cell|address|contact|details|e-mail|email|nummer|telefon|handy|anschrift|adresse|
  kontaktdaten|numéro|téléphone|portable|coordonnées|número|teléfono|móvil|dirección|datos|contacto|numero|telefono|
  cellulare|indirizzo|recapit|telefone|morada|endereço|contato|telefoon|adres|gegevens|mobil|adress|uppgifter|
  kontaktuppgifter|kontaktinfo|numeroon|puhelin|osoit|numer|dane|číslo|údaje|adres|szám|cím|elérhetőség|număr|numara|
  iletişim|номер|телефон|адрес|контакт|адреса|αριθμό|τηλέφων|διεύθυνση|στοιχεία|番号|電話|住所|連絡先|号码|號碼|电话|電話|
  地址|번호|전화|주소|연락처|رقم|هاتف|عنوان|מספר|טלפון|כתובת|nomor|telepon|alamat|điện thoại|địa chỉ|`);
/** Who announces where to call, to send or to pay. */
export const announcingWords =
  phrases(`call me|call back|ring me|reach me|ship it|ship to|send it to|deliver|refund|following|as follows|here is|here are|
  rufen sie|anrufen|zurückruf|erreichen|liefern|schicken sie|senden sie|konto|folgend|hier:|anbei|appelez|rappel|livrer|
  envoyez|voici|suivant|llám|enviar|envíe|siguiente|chiam|spedi|seguente|ligue|envie|seguinte|bel mij|bellen|stuur|
  ring mig|skicka|levere|zadzwoń|wysłać|zavolejte|pošlete|позвоните|отправ|お送り|送って|お知らせ|寄到|打电话|보내|`);
export const signatureWords =
  phrases(`signature|signatur|siehe absender|in firma|mia firma|nella firma|mi firma|la firma|assinatura|handtekening|ondertekening|
  underskrift|allekirjoitu|podpis|aláírás|semnătur|imza|подпис|підпис|υπογραφ|署名|签名|簽名|서명|توقيع|חתימה|tanda tangan|
  chữ ký|`);
