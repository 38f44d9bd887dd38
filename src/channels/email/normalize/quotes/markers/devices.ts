import { folded } from '../words.ts';

/*
 * The lines that telephones and mail programs append to a message, by language; `*` is the device or
 * the program. Sources: the default signatures of iOS, Samsung Email, Gmail, Outlook and Mail for
 * Windows ("Sent from Mail for Windows") in these languages, of GMX and Web.de's apps, K-9 Mail's
 * default_signature, Yahoo Mail, Yandex.Mail, Mail.ru, QQ Mail, NetEase, Naver and KakaoTalk, and of
 * the programs named in `DEVICES`.
 */
const DEVICE_LINES = {
  en: 'sent from *|sent via *|sent with *|sent using *|from my *|sent from the *|sent thru *',
  enMore: 'secured with *|sent securely with *|composed on *|written on my *|sent securely from *',
  enGet:
    'get outlook for *|download outlook for *|get bluemail for *|get typeapp for *|get nine for *|get the new aol app *',
  de: 'von * gesendet|gesendet von *|gesendet mit *|gesendet über *|gesendet aus *|gesendet via *',
  deMore: 'diese nachricht wurde von * gesendet|diese e-mail wurde von * gesendet|versendet mit *',
  deMore2: 'diese nachricht wurde mit * gesendet|von * versendet|von * verschickt|verschickt mit *',
  deMore3: 'gesendet vom *|versandt mit *|mit * gesendet|gesendet auf *|vom * gesendet',
  deGet: 'outlook für * beziehen|holen sie sich outlook für *|outlook für * herunterladen',
  fr: 'envoyé de *|envoyé depuis *|envoyé à partir de *|envoyé à partir du *|envoyé avec *|envoyé via *',
  frMore:
    "envoyé d'*|envoyé à partir d'*|envoyé du *|message envoyé depuis *|envoyé par *|provenance : *",
  frGet: 'obtenir outlook pour *|télécharger outlook pour *|obtenez outlook pour *',
  es: 'enviado desde *|enviado con *|enviado de *|enviado a través de *|enviado vía *|enviado via *',
  esMore: 'enviado mediante *|mensaje enviado desde *|enviado usando *',
  esGet:
    'obtener outlook para *|obtenga outlook para *|descargar outlook para *|consigue outlook para *',
  it: 'inviato da *|inviato dal *|inviato con *|inviato tramite *|inviato dalla *|spedito da *|inviata da *|inviata con *',
  itGet: 'ottieni outlook per *|scarica outlook per *|scaricare outlook per *',
  pt: 'enviado do *|enviado a partir do *|enviado a partir de *|enviado pelo *|enviado da *|enviada do *',
  ptGet:
    'obter o outlook para *|baixar o outlook para *|obtenha o outlook para *|obter outlook para *',
  ca: "enviat des de *|enviat des del *|enviat amb *|enviat des d'*|obteniu l'outlook per a *",
  gl: 'enviado dende *|enviado desde *',
  eu: '* bidalia|* bidalita|* bidalitakoa',
  nl: 'verzonden vanaf *|verstuurd vanaf *|verzonden met *|verstuurd met *|verzonden via *|verstuurd via *',
  nlMore: 'verzonden vanuit *|verstuurd vanuit *|verzonden van *|verstuurd van *',
  nlGet: 'outlook voor * downloaden|download outlook voor *|outlook voor * ophalen|outlook voor *',
  sv: 'skickat från *|skickat med *|skickat via *|skickad från *|sänt från *|skickas från *|skickades från *',
  svGet: 'hämta outlook för *|skaffa outlook för *',
  da: 'sendt fra *|sendt med *|sendt via *|afsendt fra *|hent outlook til *|få outlook til *',
  nb: 'sendt frå *|skaff deg outlook for *|få outlook for *|last ned outlook for *|hent outlook for *',
  is: 'sent úr *|sent með *|sent frá *',
  fi: 'lähetetty *|* lähetetty|hanki outlook for *|hanki outlook *|lataa outlook *',
  et: 'saadetud *|* saadetud|hangi outlook *',
  lv: 'nosūtīts no *|sūtīts no *|nosūtīts ar *|nosūtīts, izmantojot *',
  lt: 'išsiųsta iš *|siųsta iš *|išsiųsta naudojant *|išsiųsta su *',
  pl: 'wysłane z *|wysłano z *|wysłane ze *|wysłano ze *|wysłane za pomocą *',
  plMore: 'wysłano za pomocą *|wiadomość wysłana z *|wysłane przy użyciu *',
  plGet: 'pobierz program outlook dla *|pobierz outlook dla *|pobierz aplikację outlook dla *',
  cs: 'odesláno z *|odesláno ze *|odesláno pomocí *|posláno z *|posláno ze *|získat outlook pro *',
  csMore: 'odesláno prostřednictvím *|získejte outlook pro *|odesláno přes *|odesláno aplikací *',
  sk: 'odoslané z *|odoslané zo *|odoslané pomocou *|poslané z *|poslané zo *|získať outlook pre *',
  hu: '* küldve|küldve *|elküldve *|* elküldve|az * készülékemről küldve|az * küldve|a * küldve',
  huGet: 'az outlook beszerzése *|outlook beszerzése *|az outlook letöltése *',
  ro: 'trimis de pe *|trimis din *|trimis de la *|trimis cu *|trimis prin *|obțineți outlook pentru *',
  sl: 'poslano z *|poslano iz *|poslano s *|poslano prek *|pridobite outlook za *',
  hr: 'poslano s *|poslano sa *|poslano iz *|poslano putem *|poslato sa *|poslato sa mog *|poslato iz *',
  hrGet: 'nabavite outlook za *|preuzmite outlook za *|dohvatite outlook za *',
  sr: 'послато са *|послато из *|послато преко *',
  mk: 'испратено од *',
  bg: 'изпратено от *|изпратено с *|изпратено чрез *|изпратено през *|вземете outlook за *',
  ru: 'отправлено с *|отправлено из *|отправлено со *|отправлено через *|послано с *|отправлено от *',
  ruGet: 'получить outlook для *|скачать outlook для *|скачайте outlook для *',
  uk: 'надіслано з *|надіслано із *|надіслано зі *|надіслано через *|відправлено з *|відправлено із *',
  ukGet: 'отримати outlook для *|завантажити outlook для *',
  be: 'адпраўлена з *|даслана з *',
  el: 'στάλθηκε από *|εστάλη από *|στάλθηκε με *|εστάλη με *|αποστολή από *|στάλθηκε μέσω *',
  elGet: 'λήψη του outlook για *|αποκτήστε το outlook για *',
  tr: '* gönderildi|* gönderilmiştir|* gönderilen|* üzerinden gönderildi|* ile gönderildi|gönderildi: *',
  trGet: "* için outlook'u edinin|* için outlook'u alın",
  trMore:
    '* için outlook edinin|outlook for * edinin|* için outlook uygulamasını edinin|outlook * edinin',
  az: '* göndərildi|* göndərilib',
  he: 'נשלח מה*|נשלח מ*|נשלח באמצעות *|נשלח מ-*|נשלח מה-*|נשלח דרך *|קבל את outlook עבור *|קבל את outlook *',
  ar: 'مُرسل من *|أُرسلت من *|أرسلت من *|مرسل من *|تم الإرسال من *|أُرسل من *|أرسل من *|أرسلت باستخدام *',
  arGet: 'احصل على outlook ل*|الحصول على outlook ل*',
  fa: 'ارسال شده از *|ارسال از *|فرستاده شده از *|ارسال شده با *',
  hi: '* से भेजा गया|* से भेजा गया है|* से प्रेषित',
  th: 'ส่งจาก *|ส่งผ่าน *|ส่งด้วย *|ส่งโดย *|รับ outlook for *|ดาวน์โหลด outlook *',
  vi: 'gửi từ *|đã gửi từ *|được gửi từ *|gửi bằng *|tải outlook cho *|tải outlook dành cho *|tải xuống outlook cho *',
  id: 'dikirim dari *|terkirim dari *|dikirim dengan *|dikirim melalui *|dapatkan outlook untuk *',
  ms: 'dihantar daripada *|dihantar dari *|dihantar melalui *|dihantar dengan *',
  tl: 'ipinadala mula sa *|ipinadala mula sa aking *|naipadala mula sa *',
  ja: '* から送信|* より送信|* で送信|* からの送信|* から送信されました|* から送信しました|outlook for * を入手|outlook for * を入手する',
  zh: '发自我的 *|发自 *|来自我的 *|从我的 * 发送|从 * 发送|发送自 *|来自 *|获取 outlook for *|获取适用于 * 的 outlook|下载 outlook for *|由 * 发送',
  zhTW: '來自我的 *|來自 *|從我的 * 傳送|從我的 * 發送|從 * 傳送|從 * 發送|發自我的 *|發自 *|寄自 *|傳送自 *|取得 outlook for *|下載 outlook for *|從我的 * 寄出',
  ko: '* 에서 보냄|* 에서 보낸 메일|* 에서 보냈습니다|* 에서 발송|* 에서 전송됨|* 으로 보냄|* 로 보냄|* 를 통해 보냄|outlook for * 다운로드|* 용 outlook 다운로드|outlook for * 가져오기|* 에서 보냈음',
};

/**
 * Names of devices, systems, programs and networks; what begins with one of these has an ending of
 * its language (`iPhonesta`, `iPhone'umdan`).
 */
const DEVICES = `smartphon iphon ipad ipod imac macbook android samsung galaxy huawei honor xiaomi redmi poco
  oneplus oppo vivo realme pixel nokia lumia blackberry xperia motorola moto droid htc lenovo asus
  zenfone fairphone alcatel blackview doogee zte wiko infinix tecno itel kindle chromebook thinkpad windows outlook yahoo gmail googlemail proton
  protonmail tuta tutanota gmx web.de fairemail k-9 airmail spark bluemail typeapp mailbox mailspring
  mailbird mailmate thunderbird superhuman hey canary newton cloudmagic polymail edison acompli
  boxer mymail aquamail aqua inky sparrow unibox zoho fastmail roundcube horde zimbra missive front
  hubspot kakaotalk kakaomail kakao naver daum hanmail nate qq qq邮箱 foxmail netease 网易 网易邮箱 163
  126 yandex яндекс яндекс.почты mail.ru rambler ios ipados macos harmonyos emui miui surface aol icloud t-online
  ionos freenet orange sfr laposte libero virgilio tiscali telekom vodafone verizon t-mobile
  tmobile at&t sprint o2 telefonica movistar claro rogers telus bell telstra optus kpn ziggo telenet
  proximus swisscom docomo softbank xfinity comcast wp.pl onet interia seznam centrum ukr.net meta.ua
  bigmir rediffmail mailbutler hushmail mailo postbox posteo mailbox.org mail.de mail.com mailfence sina aliyun 小米 华为 荣耀 三星 苹果 ヤフー ドコモ 갤럭시 아이폰 네이버 카카오톡 다음
  אייפון 삼성 айфон айфона айфону самсунг самсунга андроид android-gerät emclient spike shortwave notion remarkable`;

/** Words that name a device without its maker, in the forms in which they stand. */
const DEVICE_WORDS = `phone mobile cell smartphone smart-phone cellphone telephone tablet device pda handset pc
  computer laptop desktop mac lg
  handy mobiltelefon mobilgerät mobilgeräts mobilgeräten smartphones tablets gerät endgerät rechner
  téléphone portable ordinateur tablette appareil smartphone
  teléfono móvil movil celular tableta dispositivo ordenador computadora
  cellulare telefono portatile telefonino
  telemóvel telemovel telefone aparelho computador
  telefoon toestel gsm apparaat smartphone
  telefon telefonen mobil mobilen surfplatta enhet mobiltelefon mobilenhet telefonen
  puhelimesta puhelimestani älypuhelimesta älypuhelimestani matkapuhelimesta tabletista laitteesta laitteestani
  telefonist nutitelefonist mobiilist
  telefonu telefonem smartfonu smartfona smartfon tabletu urządzenia komputera komórki
  telefónu mobilu zařízení počítače zariadenia
  készülékemről telefonomról okostelefonról mobilomról táblagépemről készülékről okostelefonomról
  telefonul telefonului dispozitivul smartphone-ul telefonul
  telefona mobitela uređaja uredjaja računala
  телефона телефону телефон смартфона смартфону смартфон планшета планшет устройства компьютера
  пристрою таблета телефон
  κινητό τηλέφωνο συσκευή
  telefonumdan telefonundan telefondan cihazımdan tabletimden bilgisayarımdan
  הטלפון טלפון הנייד המכשיר הסלולרי
  هاتفي هاتف جوالي جهاز جهازي الهاتف گوشی تلفن
  फ़ोन मोबाइल
  โทรศัพท์ มือถือ แท็บเล็ต
  ponsel telepon hp gawai
  携帯 スマートフォン スマホ タブレット 携帯電話 手机 手機 平板 平板电脑 电脑 電腦
  휴대폰 휴대전화 스마트폰 핸드폰 태블릿 모바일`;

/**
 * Words for mail and for what is mobile. They stand beside a name or a device; alone they may be a
 * person's answer: "Sent by mail".
 */
const MAIL_WORDS = `mail email e-mail webmail nine wireless
  posteingang messagerie courrier correo posta poștă poczta poczty pošty pošta correio
  mobiel mobil mobilní mobilního mobilnej chytrého mobilnog pametnog mobilen e-post e-posta post
  emailu maililla sähköposti sähköpostista sähköposti-sovelluksesta smart
  почты почта пошти пошта мобилния ταχυδρομείο αλληλογραφία akıllı
  بريد البريد điện thoại máy tính メール 邮箱 郵箱 邮件 郵件 電郵 메일 메일앱 전화`;

/** Words that stand beside a device in these lines, and none that a sentence needs. */
const FILLERS = `my mine the a an our for on with using by from via and in of & - – | app apps client
  application mobile smart new all free secure encrypted email-app network 3g 4g 5g lte edge plus pro max
  mini ultra lite note g power play stylus tab fire duos octacore connect workspace work vmware one air se xl fold flip powered version ver v os 10 11 7 8
  meinem meiner mein meine dem der die das einem einer für mit und auf mobilen neuen freundlicher
  mon ma mes le la les un une pour avec du de des l' d' sécurisée sécurisé l'app l'application
  l'adresse mi mis mío el la un una para con desde aplicación app
  mio mia il lo la un uno una per con su app dal dalla dall'app
  meu minha o a um uma para com do da no na aplicativo app
  mijn een de het voor met van op app ouders
  min mitt mina en ett för med från på appen til fra på med app
  minun minä omasta laitteen -älypuhelimesta -sovelluksesta -matkapuhelimesta sovelluksesta
  mojego mojej mój moje dla programu systemu system aplikacji na z ze w przez
  mého mé mojí mého svého pro systém systému aplikace z ze na môjho mojho mojej pre systém aplikácie
  az a én saját rendszerű mein
  meu mea mele pe pentru din de la aplicația
  programa nire minu mana mano cep mog mojeg mojega moje moj za sa s iz na mo
  моего моей мой моя моём мог мој для на с со из мобильной мобильного приложения приложение
  мого моєї моя мій мобільної мобільного застосунку додатку от моя мобилен устройство за през
  το τη την τον μου για με από του της
  için ile benim app telefonu uygulaması uygulamasından
  שלי את ה- ה מ- מה- ל- עבור
  ـ الـ ال من الخاص بي على لـ ل
  من گوشی از با
  मेरे मेरी का के की से पर
  ของฉัน ของ จาก สำหรับ แอป
  của tôi cho từ trên ứng dụng
  saya milik dari untuk di ku daripada aplikasi
  my 私 の 私の 版 版の 版のメール 用 アプリ アプリから から を の端末 我的 我 的 版本 客户端 移动 手机版 手機版 安卓 安卓版 版邮件
  나의 내 용 앱 에서 의`;

/** Words for "my" before a device. */
const OWNERS = `my meinem meiner mon ma mi mio mia meu minha mijn min mitt mojego mojej mého mojho моего моєї мого
  моя мой`;

/** What also has a name and is no device: "Sent from my Berlin Office". */
const PLACES_OF_WORK = `office shop store home house desk work address account warehouse büro geschäft laden zuhause
  hotel card bank email inbox
  bureau boutique oficina tienda ufficio negozio escritório loja kantoor winkel kontor`;

/** Whole lines that have no device, or say more than where they come from. */
const WHOLE_LINES = `sent from mailspring, the best free email app for work
  yahoo mail: search, organize, conquer
  yahoo mail: search, organise, conquer
  yahoo mail: mit schutz und leichtigkeit
  sender notified by mailtrack
  sent from nine
  secured by tuta mail
  sent with tutanota, enjoy secure & ad-free emails
  sent by mailbird
  sent from email+ secured by mobileiron
  sent from yahoo mail. get the app
  sent on the go
  mobil gesendet
  von unterwegs gesendet
  gesendet von unterwegs
  отправлено из мобильной почты mail
  sent by galaxy
  sent from my mobile, please excuse typos
  sent from my mobile device, please excuse any typos
  sent from my phone, please excuse typos
  sent from my phone, sorry for typos`;

const wordSet = (words: string): ReadonlySet<string> =>
  new Set(words.trim().split(/\s+/).map(folded));

/** What stands before and after the device. */
export const deviceLines: readonly { readonly before: string; readonly after: string }[] =
  Object.values(DEVICE_LINES)
    .flatMap((list) => list.split('|'))
    .map((line) => {
      const [before = '', after = ''] = line.split('*');
      return { before: folded(before), after: folded(after) };
    });
export const devices: readonly string[] = [...wordSet(DEVICES)];
export const deviceWords = wordSet(DEVICE_WORDS);
export const fillers = new Set([...wordSet(FILLERS), ...wordSet(MAIL_WORDS)]);
export const owners = wordSet(OWNERS);
export const placesOfWork = wordSet(PLACES_OF_WORK);
export const wholeLines: ReadonlySet<string> = new Set(WHOLE_LINES.trim().split('\n').map(folded));

/**
 * K-9 Mail's "Please excuse my brevity.", which it appends to its device line, in its languages; and
 * what people put in its place in the settings.
 */
export const EXCUSE =
  /[.,;]?\s(?:(?:please )?(?:excuse|forgive|pardon) (?:my |the |any )?(?:brevity|typ[oe]\p{L}{0,3}|errors|mistakes)(?: and (?:typos|errors|brevity))?|bitte entschuldigen sie (?:meine|die) kürze|veuillez excuser ma brièveté|disculpa mi brevedad|perdonate la brevità|perdonami la brevità|por favor,? desculpe(?: a)? (?:minha )?brevidade|excuseer mijn beknoptheid|ursäkta min korta ton|tilgiv (?:venligst )?min kortfattethed|vennligst tilgi min korthet|proszę wybaczyć (?:moją )?zwięzłość|omluvte prosím moji stručnost|prosím,? omluvte moji stručnost|prepáčte moju stručnosť|извините за краткость(?:, пожалуйста)?|вибачте за стислість|kısa yazdığım için lütfen kusura bakmayın|anteeksi lyhytsanaisuuteni|elnézést a rövidségért)[.!]?$/u;
