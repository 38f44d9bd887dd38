/*
 * What is added below a message on its way, and so below its quote: by mailing lists, virus
 * scanners and companies. It is not an answer. Sources: Mailman 2 and 3 (the default msg_footer),
 * Google Groups, Yahoo Groups, groups.io and Sympa; Avast, AVG, ESET, MailScanner, Symantec.cloud,
 * Mimecast, Sophos, F-Secure, Kaspersky, Dr.Web and Norton; and the usual disclaimers.
 */

/** How the lines begin that a mailing list appends; most have an address. */
const LIST_FOOTERS = [
  /^(?:--? ?)?you (?:received|are receiving) this (?:message|e-?mail) because you(?:'re| are)? (?:a )?(?:subscribed|member|subscriber)/i,
  /^sie (?:erhalten|haben) diese (?:nachricht|e-mail|mail) (?:erhalten, )?weil sie/i,
  /^vous (?:recevez|avez reçu) ce message (?:car|parce que) vous/i,
  /^(?:has recibido|recibió|recibiste|ha recibido) este mensaje porque/i,
  /^(?:você|voce) recebeu (?:esta|essa) mensagem porque/i,
  /^(?:hai|avete) ricevuto questo messaggio perch[eé]/i,
  /^u (?:ontvangt|hebt) dit bericht (?:ontvangen )?omdat/i,
  /^to (?:unsubscribe|post to this|change your|view this discussion|view this group)\b.{0,300}(?:@|https?:)/i,
  /^(?:zum abmelden|um sich (?:von .{0,60})?abzumelden|pour (?:vous désabonner|se désabonner)|para (?:darse de baja|anular|cancelar)|per (?:annullare|disiscriver)\p{L}*)\b.{0,300}(?:@|https?:)/iu,
  /^(?:un)?subscribe(?: to this group)?: (?:https?:|mailto:|<)/i,
  /^yahoo! groups links/i,
  /^groups\.io links:/i,
  /^(?:list|archives?|options|faq)\s?: <?https?:\/\//i,
  /^https?:\/\/\S*\/(?:mailman3?|listinfo|sympa)\b/i,
] as const;
/** Longer than what the longest of them reads. */
const MAX_START = 400;

/** Whether a line begins like the footer of a mailing list. */
function isListFooter(line: string): boolean {
  const start = line.slice(0, MAX_START);
  return LIST_FOOTERS.some((footer) => footer.test(start));
}

/** The name of a list, in what stands below the rule of Mailman. */
export const LIST_WORDS =
  /\bmailing ?list\b|\bunsubscribe\b|listinfo|mailman|\bliste de diffusion\b/i;

/** A line of a virus scanner or a mail filter; none speaks of its sender. */
const SCANNER_LINES = [
  /^(?:virus|viren)-? ?(?:free|frei|vrij|fri|fritt|gratuit)\.?(?: ?\(?(?:https?:\/\/)?www\.\S+)?$/i,
  /^(?:libre|libero|sans|sin|senza|sem|isento|livre|garanti sans|não contém|wolny od|bez|без|fără) (?:de |da )?(?:v[ií]rus|wirus|вирус|вірус)\p{L}{0,4}\.?(?: ?\(?(?:https?:\/\/)?www\.\S+)?$/iu,
  /^(?:this|the) (?:e-?mail|message|mail|communication)(?: and any attachments?)? (?:has been|was|is|were) (?:checked|scanned|verified|protected|tested|certified|cleared|screened|processed)\b.{0,120}(?:virus|malware|spam|dangerous)/i,
  /^(?:this|the) (?:e-?mail|message) (?:has been|was|is) (?:checked|scanned|protected|sent|secured) (?:by|through|with|via) (?:the )?(?:avast|avg|eset|mailscanner|symantec|messagelabs|mimecast|barracuda|proofpoint|sophos|norton|mcafee)\b/i,
  /^(?:dangerous content by |dangerous content )?mailscanner,? and is\b/i,
  /^believed to be clean\.?$/i,
  /^no virus found in this (?:incoming |outgoing )?message/i,
  /^version: \d[\d.]{1,20}\s?\/ virus database:/i,
  /^(?:checked|scanned|verified) by (?:avg|avast|eset|norton|kaspersky|mcafee|sophos|bitdefender|f-secure)\b/i,
  /^-{0,3}\s?(?:diese (?:e-?mail|nachricht)|dieses e-?mail|cet e-?mail|ce (?:courrier|message|courriel)|este (?:correo|mensaje|e-?mail)|el software|esta mensagem|questa e-?mail|questo messaggio|dit (?:e-?mail)?bericht|deze e-?mail|ta wiadomość|wiadomość|tato zpráva|tento e-?mail|detta (?:e-post|mejl)|denne (?:e-?mail|mail|e-post)|tämä sähköposti|ezt az e-?mailt|bu e-?posta|acest e-?mail|это (?:сообщение|письмо)|цей лист|この電子メール|此(?:电子)?邮件).{0,160}(?:avast|avg\b|eset|kaspersky|norton|sophos|mailscanner|dr\.web|f-secure|symantec|mcafee|bitdefender|viren|virus|вирус|вірус|ウイルス|病毒)/i,
  /^(?:https?:\/\/)?www\.(?:avast|avg|eset|kaspersky|norton|symanteccloud|messagelabs|mailscanner)\.\S{2,60}$/i,
  /^for more information,? please visit:? (?:https?:\/\/)?(?:www\.)?(?:symantec|messagelabs|mimecast|mailscanner|barracuda|sophos|websense|forcepoint)\S{3,60}$/i,
  /^click (?:here )?to report this e?-?mail as spam/i,
] as const;

/** Whether a line is of a virus scanner or a mail filter. */
function isScannerLine(line: string): boolean {
  return line.length < 500 && SCANNER_LINES.some((scanner) => scanner.test(line));
}

/**
 * The words of disclaimers; a paragraph with at least three of them is one. Each language's words
 * are for: confidential, recipient, disclose or copy, in error or delete, attachment, liability,
 * print.
 */
const DISCLAIMER_WORDS = [
  /\bconfidential|\bprivileged/i,
  /intended (?:solely |only |exclusively )?(?:for|recipient)|\baddressee|named recipient/i,
  /\bdisclos|\bdissemina|\bcopying|\bdistribut|unauthori[sz]ed/i,
  /in error|\bdelete|notify (?:the sender|us|me)|\bdestroy/i,
  /this (?:e-?mail|message|communication|transmission)\b|any attachments?/i,
  /\bliab(?:le|ility)|\bdisclaimer|legally|\bwarrant/i,
  /consider the environment|before printing/i,
  /vertraulich|vertrouwelijk|confidentiel|confiden[țţ]ial|confidencia|konfidensi|保密|سرية|חסוי|riservat|confidenzial|poufn|důvěrn|dôvern|luottamuksell|fortrolig|konfidenti|bizalmas|gizli|конфиденциал|конфіденцій|εμπιστευτικ|sekretes|機密|机密|기밀/i,
  /empfänger|adressat|geadresseerde|ontvanger|destinatai?r|destinatár|adresat|příjemc|mottagar|modtager|mottaker|vastaanottaj|címzett|alıcı|адресат|получател|одержувач|παραλήπτη|受信者|收件人|수신자/i,
  /irrtümlich|vernichten|löschen|per vergissing|verwijder|par erreur|détrui|supprim|por error|elimin|por engano|per errore|cancell|omyłk|usun|omyl|smaž|vymaž|av misstag|ved en fejl|ved en feil|slet|erehdy|tévedés|töröl|yanlışlıkla|siliniz|по ошибке|ошибочно|удал|помилк|видал|σφάλμα|διαγρά/i,
  /diese[rs]? (?:e-?mail|nachricht)|dit (?:e-?mail|bericht)|deze e-?mail|ce (?:message|courriel)|cet e-?mail|este (?:mensaje|correo)|esta mensagem|este e-?mail|questo messaggio|questa (?:e-?mail|comunicazione)|wiadomość|tento e-?mail|tato zpráva|detta (?:e-post|meddelande|mejl)|denne (?:e-?mail|mail|e-post|meddelelse|meldingen|eposten)|acest (?:mesaj|e-?mail)|tämä (?:viesti|sähköposti)|ez az (?:e-mail|üzenet)|bu e-?posta|bu mesaj|(?:данное|настоящее) (?:сообщение|письмо)|это (?:сообщение|письмо)|цей лист|це повідомлення|αυτό το μήνυμα|このメール|本メール|本(?:电子)?邮件|此(?:电子)?邮件|本郵件|이 ?메일|본 메일|هذه الرسالة|הודעה זו/i,
  /haftung|unbefugt|nicht gestattet|aansprakelijk|responsabilit|prohibi|proibid|vietat|interdit|zabronion|odpowiedzialn|zakázán|odpovědnost|ansvar|vastuu|felelősség|yasak|sorumluluk|запрещ|ответствен|заборон|відповідальн|ευθύνη/i,
  /anhang|anhänge|anlagen|bijlage|pièces? jointes?|adjuntos?|anexos?|allegat|załącznik|příloh|bilag|bilaga|vedlegg|liitteet|melléklet|ekleri|вложени|вкладенн|συνημμέν/i,
  /umwelt|ausdrucken|milieu|imprimer|imprimir|stampare|drukowan|vytisk|skriv(?:a|er) ut|tulosta|nyomtat|yazdır|печат|друк/i,
] as const;

/** A message, and that it is confidential: both in one short paragraph are the shortest disclaimer. */
const THIS_MESSAGE = [DISCLAIMER_WORDS[4], DISCLAIMER_WORDS[10]] as const;
const CONFIDENTIAL = [DISCLAIMER_WORDS[0], DISCLAIMER_WORDS[7]] as const;
/** Or that it is only for its recipient. */
const RECIPIENT = [DISCLAIMER_WORDS[1], DISCLAIMER_WORDS[8]] as const;
const ONLY =
  /(?<!\p{L})(?:only|solely|exclusively|ausschließlich|nur|exclusivement|uniquement|exclusivamente|esclusivamente|uitsluitend|endast|kun|wyłącznie|výhradně|kizárólag|exclusiv|исключительно|только)(?!\p{L})/iu;
const SHORT_DISCLAIMER = 300;

/**
 * Single lines that companies add: the environment, the registered office, opening hours, where else
 * they are to be found. Sources: the particulars that the law wants in business letters (35a GmbHG,
 * Companies Act 2006 s. 82, Code de commerce R123-237), and the usual wordings of the rest.
 */
const COMPANY_LINES = [
  /^(?:please )?(?:consider|think of|think about|remember) the (?:environment|planet)\b|^(?:please )?think before (?:you )?print|^save (?:a tree|paper|trees)(?:[.!]?$|\b.{0,60}print)|^think green\b|^(?:please )?(?:don't|do not) print this (?:e-?mail|message)/i,
  /^(?:bitte )?(?:denken sie an (?:die umwelt|unsere umwelt)|prüfen sie.{0,60}(?:aus)?(?:ge)?druck|schützen sie die umwelt|drucken sie diese|müssen sie diese e-?mail wirklich)|^(?:der umwelt zuliebe|umweltfreundlich)/i,
  /^(?:merci de )?(?:pensez à (?:l['’ ]environnement|la planète)|n['’ ]imprimez|avant d['’ ]imprimer|préservons l['’ ]environnement)|^(?:por favor,? )?(?:piense en el medio ?ambiente|antes de imprimir|cuide(?:mos)? el medio ?ambiente|no imprima)/i,
  /^(?:prima di stampare|pensa(?:te)? all['’ ]ambiente|non stampare|rispetta l['’ ]ambiente)|^(?:por favor,? )?(?:pense (?:no|antes|bem)|preserve o (?:meio )?ambiente|não imprima|antes de imprimir|proteja o ambiente)/i,
  /^(?:denk aan het milieu|spaar het milieu|print deze e-?mail|tänk på miljön|tenk på miljøet|tænk på miljøet|ajattele ympäristöä|pomyśl o środowisku|zanim wydrukujesz|chraňte|myslete na|gondoljon a környezet|lütfen çevre|çevreyi|подумайте об? |берегите |подумайте про )/i,
  /\bregistered in (?:england|scotland|wales|ireland|northern ireland)\b|^(?:registered (?:office|in|address|company|number)|company (?:no|number|registration|reg)\b|vat (?:no|number|reg|id)|incorporated in|regulated by|authori[sz]ed and regulated)/i,
  /^(?:sitz der gesellschaft|sitz: .{0,60}\d|firmensitz|amtsgericht|registergericht|handelsregister|hr[ab] ?\d|geschäftsführ(?:er|erin|ung|er:innen)?:|vorstand:|vorstandsvorsitzender?:|aufsichtsrat:|aufsichtsratsvorsitzender?:|ust\.?-?id|steuernummer)/iu,
  /^(?:siège social|s\.?a\.?(?:s|r\.?l)?\.? au capital|r\.?c\.?s\.? |siret|siren|capital social|domicilio social|inscrita en el registro|n\.?i\.?f\.?:|c\.?i\.?f\.?:? |sede legale|p\.? ?i\.?v\.?a\b|partita iva|sede social|n\.?i\.?p\.?c|cnpj|contribuinte)/i,
  /^(?:kvk|btw|statutair gevestigd|org\.? ?nr|organisationsnummer|cvr|y-tunnus|nip:?|regon|krs|ičo?|ič:|cégjegyzék|adószám|cui|огрн|инн|єдрпоу)[\s:.-]/i,
  /^(?=.{0,120}\d)(?:(?:our )?(?:office|opening|business|service|support) hours(?: are)?:? |(?:unsere )?(?:öffnungszeiten|servicezeiten|bürozeiten|geschäftszeiten)\b|(?:nos )?(?:horaires|heures d['’ ]ouverture)\b|(?:nuestro )?horario\b|orari(?:o)? (?:di|d['’ ])|horário (?:de|das)|openingstijden|öppettider|åpningstider|åbningstider|godziny otwarcia|otevírací doba)/i,
] as const;
/** A company and where it is registered, in any order. */
const COMPANY = /\b(?:GmbH|GMBH|AG|KG|UG|Ltd|LTD|Limited|PLC|plc|LLP|SARL|SAS|SRL|Srl|SpA|SPA)\b/;
const SEAT =
  /\bsitz\b|amtsgericht|\bhr[ab]\b|registered office|siège social|\brcs\b|sede legale|domicilio social/i;
/** A company's words, if there is a link behind them. */
const SLOGAN =
  /^(?:follow|like|visit|find|join|connect with) us\b|^visit (?:our|us at)\b|^subscribe to our\b|^(?:book|schedule) a (?:meeting|call|demo)\b|^(?:our |unsere? )?(?:privacy (?:policy|notice|statement)|datenschutz|politique de confidentialité|política de privacidad|privacyverklaring|informativa privacy)|^(?:informationen|hinweise) zum datenschutz|^(?:besuchen|folgen) sie uns|^folge uns|^(?:suivez|retrouvez|rejoignez)-nous|^(?:síguenos|visítanos|encuéntranos)|^(?:seguici|visitaci)|^(?:siga-nos|visite-nos|visite o nosso)|^(?:volg|bezoek) ons|^följ oss|^følg (?:oss|os)|^seuraa meitä|^(?:obserwuj|odwiedź) nas|^sledujte nás|^kövessen minket/i;
const MAX_COMPANY_LINE = 300;

const MAX_NUMBER_LINE = 40;
const COMPANY_NUMBER =
  /^(?:company (?:no|number|reg)|vat|ust|steuernummer|siret|siren|[nc]\.?i\.?f|p\.? ?i\.?v\.?a|partita iva|n\.?i\.?p|cnpj|contribuinte|kvk|btw|org\.? ?nr|organisationsnummer|cvr|y-tunnus|regon|krs|ič|adószám|cui|огрн|инн|єдрпоу)/i;

/** Whether the line is a number of the company and nothing else, which it may have been asked for. */
export const isCompanyNumber = (text: string): boolean =>
  text.length <= MAX_NUMBER_LINE && COMPANY_NUMBER.test(text);

const MIN_DISCLAIMER_WORDS = 3;
const LOGO = /^\[image(?:: [^\]]{0,60})?\]$/;
const LINK = /https?:\/\/|www\.|\S\.\p{L}{2,}/u;

/** The words of a line, without the targets of its links and without its pictures. */
function wordsOf(text: string): string {
  if (!/[\](]/.test(text)) return text;
  return text
    .replace(/\]\([^\s()]{1,300}\)/g, ']')
    .replace(/ \(https?:\/\/[^\s()]{1,300}\)/g, '')
    .replace(/\[image[^[\]]{0,60}\]/g, '')
    .replace(/[[\]]/g, '')
    .replace(/^[ |]{1,5}/, '');
}

/** Whether a single line is of a company's footer, a mailing list or a scanner. */
export function isAddedLine(text: string): boolean {
  const words = wordsOf(text);
  if (isListFooter(text) || isScannerLine(words) || LOGO.test(text)) return true;
  if (text.length > MAX_COMPANY_LINE || text.endsWith('?') || isPersonal(text)) return false;
  if (COMPANY_LINES.some((line) => line.test(words))) return true;
  return (COMPANY.test(words) && SEAT.test(words)) || (SLOGAN.test(words) && LINK.test(text));
}

/** Whether a paragraph was added to the message on its way, or by its company. */
export function isAddedParagraph(text: string): boolean {
  if (isAddedLine(text)) return true;
  if (isPersonal(text)) return false;
  if (text.length <= SHORT_DISCLAIMER && !text.endsWith('?')) {
    const has = (words: readonly RegExp[]) => words.some((word) => word.test(text));
    if (has(THIS_MESSAGE) && has(CONFIDENTIAL)) return true;
    if (has(RECIPIENT) && ONLY.test(text) && (has(THIS_MESSAGE) || has(CONFIDENTIAL))) return true;
  }
  return DISCLAIMER_WORDS.filter((word) => word.test(text)).length >= MIN_DISCLAIMER_WORDS;
}

/** No disclaimer speaks of a person's own affairs; "notify me" is in some. */
const isPersonal = (text: string): boolean =>
  /(?:^|[^\p{L}])(?:I|my|ich|mein(?:e[nmrs]?)?|je(?! (?:důvěrn|dôvern|povjerljiv))|j'ai|mon|yo|mi|io|mio|eu|meu|ik|mijn|jag|jeg|я|мой)(?![\p{L}'])/u.test(
    text.slice(0, 600),
  );
