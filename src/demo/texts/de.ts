import type { DemoTexts } from './demo-texts.ts';

export const de: DemoTexts = {
  lang: 'de',
  direction: 'ltr',
  languageName: 'Deutsch',
  skip: 'Zum Schuh springen',
  announcement: 'Versand in Europa ab 60 Euro kostenlos, 30 Tage kostenlose Rückgabe',
  nav: {
    label: 'Laden',
    shoes: 'Schuhe',
    care: 'Pflege',
    store: 'Unser Geschäft',
    journal: 'Magazin',
    language: 'Sprache',
    bag: 'Warenkorb',
  },
  home: 'Start',
  product: {
    kind: 'Halbschuh aus gewachstem Segeltuch',
    intro:
      'Ein Schuh für den Weg zur Arbeit und den Umweg nach Hause: gewachstes Segeltuch, das einen Schauer aushält, eine Ferse aus Leder und eine genähte Gummisohle, die sich erneuern lässt.',
    priceNote: 'inkl. MwSt., versandkostenfrei',
    stars: '{n} von {of} Sternen',
    reviewCount: '{n} Bewertungen',
    colour: 'Farbe',
    colours: { navy: 'Marine', sand: 'Sand', moss: 'Moos' },
    width: 'Weite',
    regular: 'Normal',
    wide: 'Weit',
    size: 'Größe',
    sizeHint: 'Zwischen zwei Größen? Nehmen Sie die größere.',
    add: 'In den Warenkorb',
    added: 'Größe {size} liegt in Ihrem Warenkorb.',
    gallery: 'Bilder des Schuhs',
    views: {
      side: 'Von der Seite',
      pair: 'Das Paar',
      detail: 'Schnürung und Tuch',
      sole: 'Die Sohle',
    },
  },
  facts: [
    'Vor 14 Uhr bestellt, heute unterwegs',
    'Zu Hause anprobieren, 30 Tage kostenlos zurückgeben',
    'Zwei Jahre Garantie, und wir reparieren',
  ],
  details: [
    [
      'Material',
      'Obermaterial: Bio-Baumwolle, 600 g/m², gewachst. Ferse und Ösen: pflanzlich gegerbtes Leder. Futter: Baumwolle. Sohle: Naturkautschuk, genäht.',
    ],
    [
      'Größe und Passform',
      'Fällt normal aus, in zwei Weiten. Messen Sie den Fuß abends im Stehen und geben Sie einen Zentimeter zu: 26 cm sind Größe 41, 27 cm Größe 42.',
    ],
    [
      'Pflege',
      'Trockenen Schmutz abbürsten, mit lauwarmem Wasser und etwas Seife reinigen, bei Zimmertemperatur trocknen lassen. Zweimal im Jahr etwas Wachs hält den Regen ab.',
    ],
  ],
  story: {
    title: 'Langsam gemacht, eine Straße vom Wasser entfernt',
    text: 'Neunzehn Menschen arbeiten in unserer Werkstatt über dem alten Taulager. Für ein Paar brauchen sie zwei Tage, und der zweite ist vor allem Geduld.',
    points: [
      ['Genäht, nicht geklebt', 'Eine abgelaufene Sohle ist in einer Stunde ersetzt.'],
      ['Von Hand gewachst', 'Leinöl und Bienenwachs, warm, in drei dünnen Schichten.'],
      ['Hier repariert', 'Bringen oder schicken Sie ihn. Weggeworfen haben wir noch keinen.'],
    ],
  },
  reviews: {
    title: 'Was andere sagen',
    list: [
      {
        stars: 5,
        title: 'Trockene Füße im November',
        text: 'Ich fahre jeden Tag Rad, und das sind die ersten Stoffschuhe, denen das nichts ausmacht. Die weite Form ist wirklich weit.',
        by: 'Johanna, Malmö',
      },
      {
        stars: 5,
        title: 'Mein zweites Paar, nach sechs Jahren',
        text: 'Das erste hat eine neue Sohle und läuft weiter. Ich wollte nur auch das grüne.',
        by: 'Tomás, Porto',
      },
      {
        stars: 4,
        title: 'Schön, braucht etwas Zeit',
        text: 'In der ersten Woche steif, seitdem wie ein Hausschuh. Der Chat riet zur größeren Größe, und das stimmte.',
        by: 'Marie, Lyon',
      },
    ],
  },
  more: {
    title: 'Von derselben Werkbank',
    trail: 'Stiefel mit Membran',
    city: 'Schmaler Schuh aus Leder',
  },
  footer: {
    claim: 'Schuhe aus der Harbour Street, seit 1987.',
    service: 'Service',
    serviceLinks: [
      'Versand und Lieferung',
      'Rückgabe und Erstattung',
      'Bezahlen',
      'Größen und Pflege',
    ],
    store: 'Unser Geschäft',
    address: ['12 Harbour Street', 'fünf Minuten vom Hauptbahnhof'],
    hours: ['Montag bis Freitag 10 bis 19 Uhr', 'Samstag 10 bis 16 Uhr'],
    madeUp: 'Kaj ist erfunden, um den Chat von Sluice zu zeigen. Hier wird nichts verkauft.',
  },
  greeting:
    'Hallo! Fragen Sie nach Bestellungen, Größen, Versand oder Rückgabe. Die Antwort kommt in Sekunden, zu jeder Stunde.',
  demo: {
    title: 'Das ist eine Demo',
    summary: 'Das ist eine Demo: ausprobieren',
    intro: 'Der Laden ist erfunden, der Chat ist echt. Probieren Sie ihn:',
    questionsTitle: 'Fragen Sie zum Beispiel',
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
