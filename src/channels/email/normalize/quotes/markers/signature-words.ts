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

/** Who speaks of themselves, or answers, begins so; nobody's signature does. */
export const speech: ReadonlySet<string> = new Set(
  phrases(`i|i'm|i'd|i'll|i've|we|yes|no|ok|okay|ich|wir|ja|nein|je|j'ai|nous|
  oui|non|yo|nosotros|sí|io|noi|sì|eu|nós|sim|não|ik|wij|nee|jag|vi|nej|jeg|nei|minä|kyllä|tak|nie|ano|áno|igen|nem|da|
  nu|evet|hayır|я|мы|да|нет|ми|так|ні|εγώ|ναι|όχι|tidak|không|`),
);

/** Whoever asks for something writes no signature. */
export const pleas =
  phrases(`please|pls|bitte|s'il vous plaît|s'il te plaît|svp|merci de|por favor|per favore|per cortesia|
  alstublieft|graag|snälla|gerne|gjerne|kiitos|proszę|prosím|kérem|vă rog|lütfen|пожалуйста|прошу|будь ласка|παρακαλώ|
  tolong|mohon|xin vui lòng|`);

/** Small words of names, positions and addresses. */
export const connectors: ReadonlySet<string> = new Set(
  phrases(`of|the|for|and|at|in|on|to|der|die|das|des|dem|den|und|für|von|zu|am|im|bei|de|la|le|les|du|l'|d'|et|en|au|
  aux|à|del|los|las|el|y|e|di|da|do|dos|das|della|dei|delle|il|lo|a|o|van|het|een|voor|och|og|för|av|ja|i|w|z|na|do|
  pro|für|és|și|ve|и|по|та|і|zum|zur|`),
);

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
  iletişim|номер|телефон|адрес|контакт|адреса|αριθμό|τηλέφωνο|διεύθυνση|στοιχεία|番号|電話|住所|連絡先|号码|號碼|电话|電話|
  地址|번호|전화|주소|연락처|رقم|هاتف|عنوان|מספר|טלפון|כתובת|nomor|telepon|alamat|điện thoại|địa chỉ|`);
export const signatureWords =
  phrases(`signature|signatur|in firma|mia firma|nella firma|mi firma|la firma|assinatura|handtekening|ondertekening|
  underskrift|allekirjoitu|podpis|aláírás|semnătur|imza|подпис|підпис|υπογραφ|署名|签名|簽名|서명|توقيع|חתימה|tanda tangan|
  chữ ký|`);
