import { phraseList } from '../words.ts';

/*
 * The words of the line that introduces a quote ("On Monday … X wrote:"), by language: how it
 * begins, where it begins with a fixed word; and the verb, wherever it stands. Sources: Gmail,
 * Apple Mail and Outlook in these languages; the locale files of Thunderbird
 * (mailnews.reply_header_authorwrote, _ondateauthorwrote), Roundcube (mailreplyintro), K-9 Mail
 * (message_compose_reply_header_fmt), sup ("Excerpts from X's message of"), alot and Horde
 * ("Quoting X"); what is from one client only is named after it.
 */
const ATTRIBUTIONS = {
  en: 'on|at|quoting|excerpts from ; wrote|writes|has written|said|sent',
  de: 'am|an|zitat von|von ; schrieb|schreibt|schrieben|geschrieben|hat geschrieben',
  fr: 'le|citation de|selon|envoyé par ; a écrit|écrivait|écrit|a envoyé',
  es: 'el|el día|con fecha|en|citando a ; escribió|ha escrito|escribió lo siguiente|escribía',
  it: 'il|il giorno|in data|alle|citazione di ; ha scritto|scrisse|scrive',
  pt: 'em|no dia|a|às|na|citando ; escreveu|escrevia|escreveu o seguinte',
  ca: 'el|en data|el dia|citant ; va escriure|ha escrit|escrigué',
  gl: 'o|o día|en ; escribiu',
  eu: 'data|hau ; idatzi du|idatzi zuen|igorleak idatzi du|(e)k idatzi du',
  ro: 'în|in|pe|la|la data de|în data de ; a scris',
  nl: 'op|citeren ; schreef|geschreven|heeft geschreven|schrijft',
  af: 'op ; het geskryf|skryf',
  sv: 'den|på|citerar ; skrev|skriver',
  da: 'den|på|d. ; skrev|skriver|har skrevet',
  nb: 'den|på|d. ; skrev|skreiv|skriver|har skrevet',
  is: 'þann|á|hinn ; skrifaði|ritaði',
  fi: 'ilmoituksessa|lainaus ; kirjoitti|kirjoittaa',
  et: '; kirjutas|kirjutab',
  lv: '; rakstīja|raksta',
  lt: '; rašė|parašė|rašo',
  pl: 'w dniu|dnia|dn.|cytat|wiadomość napisana przez ; napisał|napisał(a)|napisała|napisal|napisał/a|pisze|pisał|pisał(a)|napisana przez',
  cs: 'dne|citát|citace|v ; napsal|napsal(a)|napsala|napsal/a|píše',
  sk: 'dňa|dna|cituje ; napísal|napísal(a)|napísala|napísal/a|píše',
  hu: 'ekkor|idézés ; írta|ezt írta|a következőt írta|írja|az alábbiakat írta',
  sl: 'dne|v|oseba ; je napisal|je napisal/a|je napisala|napisal|piše|je pisal|je oseba|napisal(a)',
  hr: 'dana|u|na ; je napisao|je napisao/la|je napisala|napisao|napisala|piše|je napisao/napisala',
  sr: 'дана|у|на|dana ; је написао|је написао/ла|је написала|написао|написала|пише|napisao/la|pise',
  mk: 'на|во ; напиша|пишува',
  bg: 'на|в ; написа|пише|писа',
  ru: 'в|вы писали|цитата ; пишет|написал|написала|написал(а)|написал(-а)|написал/а|писал|писал(а)|писали|написали',
  uk: 'в|у|о ; пише|написав|написала|написав(ла)|написав(-ла)|написав/ла|писав|писав(ла)',
  be: 'у ; напісаў|напісала|піша|напісаў(-ла)',
  el: 'στις|την|στη|στο|ο|η ; έγραψε|έγραψαν|γράφει|εγραψε',
  sq: 'më|me ; shkroi|ka shkruar',
  tr: 'tarihinde ; yazdı|şunu yazdı|şunları yazdı|yazmış|tarihinde yazdı|alıntı',
  az: '; yazdı|yazıb',
  ka: '; დაწერა|წერს',
  hy: '; գրել է|գրեց',
  he: 'בתאריך|ב|ביום|בתאריך ; כתב|כתבה|כתב/ה|כתב(ה)|נכתב על ידי|מאת',
  ar: 'في|بتاريخ|يوم|كتب ; كتب|كتبت|كتب/كتبت|كتب/ت|كتب(ت)|بواسطة',
  fa: 'در|در تاریخ ; نوشت|نوشته است|نوشته|نوشته:',
  ur: '; نے لکھا',
  hi: 'को ; ने लिखा|लिखा|पर लिखा',
  bn: '; লিখেছেন|লিখেছে|লিখেছিলেন',
  ta: '; எழுதியது|எழுதினார்',
  th: 'เมื่อ|ใน|วันที่|บน ; เขียนว่า|เขียน|ได้เขียนว่า',
  vi: 'vào|vào lúc|ngày|trên|lúc ; đã viết|viết|đã viết lại',
  id: 'pada|di ; menulis|wrote|berkata',
  ms: 'pada ; menulis|telah menulis',
  tl: 'noong|sinabi ni ; sumulat|isinulat|ay sumulat',
  sw: 'mnamo ; aliandika',
  cy: 'ar ; ysgrifennodd|ysgrifenodd',
  ga: 'ar ; scríobh',
  eo: 'je|la ; skribis',
  ja: '; さんは書きました|さんが書きました|は書きました|のメール|wrote|のメッセージ|さんのメール|からのメール',
  zh: '在|于 ; 写道|写到|寫道|寫到|撰写|写了|提到|来信|編寫',
  ko: '; 작성|쓴 글|님이 작성|썼습니다|님이 씀|이 씀|님의 글|작성한 글|글을 썼습니다|님이 썼습니다',
};

/** Days as some clients begin with them: Gmail without a fixed word before the date. */
const DAYS = {
  en: 'mon|tue|wed|thu|fri|sat|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday',
  de: 'mo|di|mi|do|fr|sa|so|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag',
  fr: 'lun|mar|mer|jeu|ven|sam|dim|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche',
  es: 'lun|mié|jue|vie|sáb|dom|lunes|martes|miércoles|jueves|viernes|sábado|domingo',
  it: 'lun|mar|mer|gio|ven|sab|dom|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica',
  pt: 'seg|ter|qua|qui|sex|sáb|dom|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira',
  ca: 'dl|dt|dc|dj|dv|ds|dg|dilluns|dimarts|dimecres|dijous|divendres|dissabte|diumenge',
  nl: 'ma|di|wo|do|vr|za|zo|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag',
  daNb: 'man|tir|ons|tor|tors|fre|lør|søn|mandag|tirsdag|onsdag|torsdag|fredag|lørdag|søndag',
  sv: 'mån|tis|ons|tors|fre|lör|sön|måndag|tisdag|onsdag|torsdag|fredag|lördag|söndag',
  fi: 'ma|ti|ke|to|pe|la|su|maanantai|tiistai|keskiviikko|torstai|perjantai|lauantai|sunnuntai',
  et: 'e|t|k|n|r|l|p|esmaspäev|teisipäev|kolmapäev|neljapäev|reede|laupäev|pühapäev',
  lt: 'pr|an|tr|kt|pn|št|sk|pirmadienis|antradienis|trečiadienis|ketvirtadienis|penktadienis',
  lv: 'pirmd|otrd|trešd|ceturtd|piektd|sestd|svētd',
  pl: 'pon|wt|śr|czw|pt|sob|niedz|poniedziałek|wtorek|środa|czwartek|piątek|sobota|niedziela',
  cs: 'po|út|st|čt|pá|so|ne|pondělí|úterý|středa|čtvrtek|pátek|sobota|neděle',
  sk: 'po|ut|st|št|pi|so|ne|pondelok|utorok|streda|štvrtok|piatok|sobota|nedeľa',
  hu: 'h|k|sze|cs|p|szo|v|hétfő|kedd|szerda|csütörtök|péntek|szombat|vasárnap',
  ro: 'lun|mar|mie|joi|vin|sâm|dum|luni|marți|miercuri|vineri|sâmbătă|duminică',
  hrSlSr: 'pon|uto|tor|sri|sre|čet|pet|sub|sob|ned|ponedjeljak|ponedeljek|utorak|srijeda|četvrtak',
  bg: 'пн|вт|ср|чт|пт|сб|нд|понеделник|вторник|сряда|четвъртък|петък|събота|неделя',
  ru: 'пн|вт|ср|чт|пт|сб|вс|понедельник|вторник|среда|четверг|пятница|суббота|воскресенье',
  uk: 'пн|вт|ср|чт|пт|сб|нд|понеділок|вівторок|середа|четвер|пʼятниця|субота|неділя',
  sr: 'пон|уто|сре|чет|пет|суб|нед',
  el: 'δευ|τρί|τετ|πέμ|παρ|σάβ|κυρ|δευτέρα|τρίτη|τετάρτη|πέμπτη|παρασκευή|σάββατο|κυριακή',
  tr: 'pzt|sal|çar|per|cum|cmt|paz|pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar',
  id: 'sen|sel|rab|kam|jum|sab|min|senin|selasa|rabu|kamis|jumat|sabtu|minggu',
  vi: 'th 2|th 3|th 4|th 5|th 6|th 7|cn|thứ hai|thứ ba|thứ tư|thứ năm|thứ sáu|thứ bảy|chủ nhật',
};

const kindOf = (kind: 0 | 1) =>
  phraseList(
    Object.fromEntries(
      Object.entries(ATTRIBUTIONS).map(([language, kinds]) => [
        language,
        kinds.split(';')[kind] ?? '',
      ]),
    ),
  );

/** The words with which an attribution begins. */
export const attributionStarts = kindOf(0);
export const attributionVerbs = kindOf(1);
export const dayNames: ReadonlySet<string> = new Set(phraseList(DAYS));
