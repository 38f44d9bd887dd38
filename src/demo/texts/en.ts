import type { DemoTexts } from './demo-texts.ts';

export const en: DemoTexts = {
  lang: 'en',
  direction: 'ltr',
  languageName: 'English',
  skip: 'Skip to the shoe',
  announcement: 'Free shipping within Europe from 60 euros, free returns for 30 days',
  nav: {
    label: 'Shop',
    shoes: 'Shoes',
    care: 'Care',
    store: 'Our store',
    journal: 'Journal',
    language: 'Language',
    bag: 'Bag',
  },
  home: 'Home',
  product: {
    kind: 'Low shoe in waxed canvas',
    intro:
      'A shoe for the way to work and the long way home: waxed canvas that stands a shower, a leather heel, and a rubber sole that is stitched on, so that it can be replaced.',
    priceNote: 'VAT included, free shipping',
    stars: '{n} out of {of} stars',
    reviewCount: '{n} reviews',
    colour: 'Colour',
    colours: { navy: 'Navy', sand: 'Sand', moss: 'Moss' },
    width: 'Width',
    regular: 'Regular',
    wide: 'Wide',
    size: 'Size',
    sizeHint: 'Between two sizes? Take the larger one.',
    add: 'Add to bag',
    added: 'Size {size} is in your bag.',
    gallery: 'Pictures of the shoe',
    views: {
      side: 'From the side',
      pair: 'The pair',
      detail: 'Laces and canvas',
      sole: 'The sole',
    },
  },
  facts: [
    'Ordered before 14:00, on its way today',
    'Try it at home, return it free within 30 days',
    'Two years of warranty, and we repair',
  ],
  details: [
    [
      'Material',
      'Upper: 18 oz organic cotton, waxed. Heel and eyelets: vegetable-tanned leather. Lining: cotton. Sole: natural rubber, stitched.',
    ],
    [
      'Size and fit',
      'True to size, in two widths. Measure your foot in the evening, standing, and add one centimetre: 26 cm is a 41, 27 cm a 42.',
    ],
    [
      'Care',
      'Brush off dry dirt, wash with lukewarm water and a little soap, let it dry at room temperature. A little wax twice a year keeps the rain out.',
    ],
  ],
  story: {
    title: 'Made slowly, a street away from the water',
    text: 'Nineteen people work in our workshop above the old rope store. A pair takes them two days, and the second one is mostly patience.',
    points: [
      ['Stitched, not glued', 'A worn sole is replaced in an hour, and your shoe stays with you.'],
      ['Waxed by hand', 'Linseed and beeswax, warm, in three thin coats.'],
      ['Repaired here', 'Bring it or send it. We have never thrown one away.'],
    ],
  },
  reviews: {
    title: 'What people say',
    list: [
      {
        stars: 5,
        title: 'Dry feet in November',
        text: 'I cycle every day, and these are the first canvas shoes that do not mind. The wide fit is really wide.',
        by: 'Johanna, Malmö',
      },
      {
        stars: 5,
        title: 'My second pair, after six years',
        text: 'The first one has a new sole and goes on. I only wanted the green as well.',
        by: 'Tomás, Porto',
      },
      {
        stars: 4,
        title: 'Beautiful, runs in slowly',
        text: 'Stiff for the first week, like a slipper ever since. The chat told me to take the larger size, and it was right.',
        by: 'Marie, Lyon',
      },
    ],
  },
  more: {
    title: 'From the same bench',
    trail: 'Boot with a membrane',
    city: 'Slim shoe in leather',
  },
  footer: {
    claim: 'Shoes from Harbour Street since 1987.',
    service: 'Service',
    serviceLinks: ['Shipping and delivery', 'Returns and refunds', 'Payment', 'Sizes and care'],
    store: 'Our store',
    address: ['12 Harbour Street', 'five minutes from the central station'],
    hours: ['Monday to Friday 10:00 to 19:00', 'Saturday 10:00 to 16:00'],
    madeUp: 'Kaj is made up, to show Sluice’s chat. Nothing is for sale here.',
  },
  greeting:
    'Hello! Ask about orders, sizes, shipping or returns. You get an answer within seconds, at any hour.',
  demo: {
    title: 'This is a demo',
    summary: 'This is a demo: try it',
    intro: 'The shop is made up; the chat is real. Try it:',
    questionsTitle: 'Ask, for example',
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
