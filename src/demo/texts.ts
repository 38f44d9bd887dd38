/** The texts of the demo page. `lang` is BCP 47; `{size}` in `added` is the chosen size. */
const en = {
  lang: 'en',
  direction: 'ltr',
  languageName: 'English',
  skip: 'Skip to the shoe',
  announcement: 'Free shipping within Europe from 60 euros, free returns for 30 days',
  language: 'Language',
  bag: 'Bag',
  kind: 'Low shoe in waxed canvas',
  intro:
    'A shoe for the way to work and the long way home: waxed canvas that stands a shower, a leather heel, and a rubber sole that is stitched on, so that it can be replaced.',
  priceNote: 'VAT included, free shipping',
  colour: 'Colour',
  colours: { navy: 'Navy', sand: 'Sand', moss: 'Moss' },
  size: 'Size',
  add: 'Add to bag',
  added: 'Size {size} is in your bag.',
  gallery: 'Pictures of the shoe',
  views: { side: 'From the side', pair: 'The pair', detail: 'Laces and canvas' },
  madeUp: 'Kaj is made up, to show Sluice’s chat. Nothing is for sale here.',
  greeting:
    'Hello! Ask about orders, sizes, shipping or returns. You get an answer within seconds, at any hour.',
  demo: {
    summary: 'This is a demo: try it',
    intro: 'The shop is made up; the chat is real. Try it:',
    questions: ['Where is my order?', 'Which size fits me?', 'I want to talk to a human'],
    open: 'Open the chat',
    identifyIntro: 'Or be a customer whom the shop knows:',
    identify: 'Log in as Ada',
    logOut: 'Log out',
    identified: 'You are Ada now, on every device.',
    loggedOut: 'Logged out. The chat has forgotten you.',
    failed: 'That did not work. Is the gateway running?',
  },
};

/** `questions` are what the built-in agent knows something about; in English when absent. */
export type DemoTexts = Omit<typeof en, 'demo'> & {
  readonly demo: Omit<(typeof en)['demo'], 'questions'> & {
    readonly questions?: readonly string[];
    /** Where the agent does not know the language of the page. */
    readonly questionsNote?: string;
  };
};

const de: DemoTexts = {
  lang: 'de',
  direction: 'ltr',
  languageName: 'Deutsch',
  skip: 'Zum Schuh springen',
  announcement: 'Versand in Europa ab 60 Euro kostenlos, 30 Tage kostenlose Rückgabe',
  language: 'Sprache',
  bag: 'Warenkorb',
  kind: 'Halbschuh aus gewachstem Segeltuch',
  intro:
    'Ein Schuh für den Weg zur Arbeit und den Umweg nach Hause: gewachstes Segeltuch, das einen Schauer aushält, eine Ferse aus Leder und eine genähte Gummisohle, die sich erneuern lässt.',
  priceNote: 'inkl. MwSt., versandkostenfrei',
  colour: 'Farbe',
  colours: { navy: 'Marine', sand: 'Sand', moss: 'Moos' },
  size: 'Größe',
  add: 'In den Warenkorb',
  added: 'Größe {size} liegt in Ihrem Warenkorb.',
  gallery: 'Bilder des Schuhs',
  views: { side: 'Von der Seite', pair: 'Das Paar', detail: 'Schnürung und Tuch' },
  madeUp: 'Kaj ist erfunden, um den Chat von Sluice zu zeigen. Hier wird nichts verkauft.',
  greeting:
    'Hallo! Fragen Sie nach Bestellungen, Größen, Versand oder Rückgabe. Die Antwort kommt in Sekunden, zu jeder Stunde.',
  demo: {
    summary: 'Das ist eine Demo: ausprobieren',
    intro: 'Der Laden ist erfunden, der Chat ist echt. Probieren Sie ihn:',
    questions: [
      'Wo ist meine Bestellung?',
      'Welche Größe passt mir?',
      'Ich möchte mit einem Menschen sprechen',
    ],
    open: 'Chat öffnen',
    identifyIntro: 'Oder seien Sie eine Kundin, die der Laden kennt:',
    identify: 'Als Ada anmelden',
    logOut: 'Abmelden',
    identified: 'Sie sind jetzt Ada, auf jedem Gerät.',
    loggedOut: 'Abgemeldet. Der Chat hat Sie vergessen.',
    failed: 'Das ging nicht. Läuft das Gateway?',
  },
};

const fr: DemoTexts = {
  lang: 'fr',
  direction: 'ltr',
  languageName: 'Français',
  skip: 'Aller à la chaussure',
  announcement: 'Livraison offerte en Europe dès 60 euros, retours gratuits pendant 30 jours',
  language: 'Langue',
  bag: 'Panier',
  kind: 'Chaussure basse en toile cirée',
  intro:
    'Une chaussure pour aller au travail et pour rentrer par le chemin le plus long : une toile cirée qui supporte une averse, un talon en cuir et une semelle cousue, donc remplaçable.',
  priceNote: 'TVA comprise, livraison offerte',
  colour: 'Couleur',
  colours: { navy: 'Marine', sand: 'Sable', moss: 'Mousse' },
  size: 'Pointure',
  add: 'Ajouter au panier',
  added: 'La pointure {size} est dans votre panier.',
  gallery: 'Photos de la chaussure',
  views: { side: 'De côté', pair: 'La paire', detail: 'Lacets et toile' },
  madeUp: 'Kaj est inventée pour montrer le chat de Sluice. Rien n’est à vendre ici.',
  greeting:
    'Bonjour ! Posez vos questions sur les commandes, les pointures, la livraison ou les retours. La réponse vient en quelques secondes, à toute heure.',
  demo: {
    summary: 'Ceci est une démo : essayez',
    intro: 'La boutique est inventée, le chat est vrai. Essayez-le :',
    questions: [
      'Où est ma commande ?',
      'Quelle pointure choisir ?',
      'Je voudrais parler à une personne',
    ],
    open: 'Ouvrir le chat',
    identifyIntro: 'Ou soyez une cliente que la boutique connaît :',
    identify: 'Se connecter : Ada',
    logOut: 'Se déconnecter',
    identified: 'Vous êtes Ada à présent, sur tous les appareils.',
    loggedOut: 'Déconnecté. Le chat vous a oublié.',
    failed: 'Cela n’a pas marché. La passerelle tourne-t-elle ?',
  },
};

const es: DemoTexts = {
  lang: 'es',
  direction: 'ltr',
  languageName: 'Español',
  skip: 'Ir al zapato',
  announcement: 'Envío gratis en Europa desde 60 euros, 30 días de devolución gratuita',
  language: 'Idioma',
  bag: 'Cesta',
  kind: 'Zapato bajo de lona encerada',
  intro:
    'Un zapato para ir al trabajo y volver por el camino largo: lona encerada que aguanta un chaparrón, talón de piel y una suela cosida que se puede cambiar.',
  priceNote: 'IVA incluido, envío gratis',
  colour: 'Color',
  colours: { navy: 'Marino', sand: 'Arena', moss: 'Musgo' },
  size: 'Talla',
  add: 'Añadir a la cesta',
  added: 'La talla {size} está en su cesta.',
  gallery: 'Imágenes del zapato',
  views: { side: 'De lado', pair: 'El par', detail: 'Cordones y lona' },
  madeUp: 'Kaj es inventada, para mostrar el chat de Sluice. Aquí no se vende nada.',
  greeting:
    '¡Hola! Pregunte por pedidos, tallas, envíos o devoluciones. La respuesta llega en segundos, a cualquier hora.',
  demo: {
    summary: 'Esto es una demo: pruébela',
    intro: 'La tienda es inventada; el chat es de verdad. Pruébelo:',
    questions: ['¿Dónde está mi pedido?', '¿Qué talla necesito?', 'Quiero hablar con una persona'],
    open: 'Abrir el chat',
    identifyIntro: 'O sea una clienta que la tienda conoce:',
    identify: 'Entrar como Ada',
    logOut: 'Salir',
    identified: 'Ahora es Ada, en todos los dispositivos.',
    loggedOut: 'Ha salido. El chat le ha olvidado.',
    failed: 'No ha funcionado. ¿Está en marcha la pasarela?',
  },
};

const ar: DemoTexts = {
  lang: 'ar',
  direction: 'rtl',
  languageName: 'العربية',
  skip: 'انتقل إلى الحذاء',
  announcement: 'شحن مجاني داخل أوروبا ابتداءً من 60 يورو، وإرجاع مجاني خلال 30 يومًا',
  language: 'اللغة',
  bag: 'السلة',
  kind: 'حذاء منخفض من القماش المشمّع',
  intro:
    'حذاء للطريق إلى العمل وللعودة من الطريق الأطول: قماش مشمّع يتحمّل زخّة مطر، وكعب من الجلد، ونعل مطاطي مخيط يمكن استبداله.',
  priceNote: 'شامل الضريبة، والشحن مجاني',
  colour: 'اللون',
  colours: { navy: 'كحلي', sand: 'رملي', moss: 'طحلبي' },
  size: 'المقاس',
  add: 'أضف إلى السلة',
  added: 'المقاس {size} في سلتك الآن.',
  gallery: 'صور الحذاء',
  views: { side: 'من الجانب', pair: 'زوج الأحذية', detail: 'الأربطة والقماش' },
  madeUp: 'متجر Kaj خيالي، لعرض محادثة Sluice. لا شيء للبيع هنا.',
  greeting:
    'مرحبًا! اسأل عن الطلبات أو المقاسات أو الشحن أو الإرجاع، يصلك الجواب خلال ثوانٍ وفي أي ساعة.',
  demo: {
    summary: 'هذا عرض تجريبي: جرّبه',
    intro: 'المتجر خيالي والمحادثة حقيقية. جرّبها:',
    questionsNote: 'مساعد العرض يفهم الإنجليزية فقط.',
    open: 'افتح المحادثة',
    identifyIntro: 'أو كن زبونةً يعرفها المتجر:',
    identify: 'ادخل باسم Ada',
    logOut: 'تسجيل الخروج',
    identified: 'أنت الآن Ada على كل جهاز.',
    loggedOut: 'تم الخروج، ونسيتك المحادثة.',
    failed: 'لم ينجح ذلك. هل البوابة تعمل؟',
  },
};

const ja: DemoTexts = {
  lang: 'ja',
  direction: 'ltr',
  languageName: '日本語',
  skip: '商品へ移動',
  announcement: 'ヨーロッパ内は60ユーロ以上で送料無料、30日間返品無料',
  language: '言語',
  bag: 'カート',
  kind: 'ワックスキャンバスのローシューズ',
  intro:
    '通勤にも、遠回りの帰り道にも。にわか雨に耐えるワックスキャンバス、革のヒール、そして縫い付けだから交換できるラバーソール。',
  priceNote: '税込、送料無料',
  colour: 'カラー',
  colours: { navy: 'ネイビー', sand: 'サンド', moss: 'モス' },
  size: 'サイズ',
  add: 'カートに入れる',
  added: 'サイズ{size}をカートに入れました。',
  gallery: '商品の写真',
  views: { side: '側面', pair: '一足', detail: '靴ひもと生地' },
  madeUp: 'Kajは、Sluiceのチャットを紹介するための架空の店です。商品の販売はありません。',
  greeting:
    'こんにちは。ご注文、サイズ、配送、返品について何でもどうぞ。いつでも数秒でお答えします。',
  demo: {
    summary: 'これはデモです：試してみる',
    intro: '店は架空、チャットは本物です。お試しください。',
    questionsNote: 'デモのエージェントは英語のみ対応しています。',
    open: 'チャットを開く',
    identifyIntro: '店が知っているお客様として：',
    identify: 'Adaとしてログイン',
    logOut: 'ログアウト',
    identified: 'どの端末でもAdaとして表示されます。',
    loggedOut: 'ログアウトしました。チャットの記憶も消えました。',
    failed: 'うまくいきませんでした。ゲートウェイは動いていますか。',
  },
};

/** In the order of the language menu; the first is the default. */
export const LANGUAGES: readonly DemoTexts[] = [en, de, fr, es, ar, ja];
/** What to ask on the pages whose language the agent does not know. */
export const ENGLISH_QUESTIONS: readonly string[] = en.demo.questions;
