import type { DemoTexts } from './demo-texts.ts';

export const fr: DemoTexts = {
  lang: 'fr',
  direction: 'ltr',
  languageName: 'Français',
  skip: 'Aller à la chaussure',
  announcement: 'Livraison offerte en Europe dès 60 euros, retours gratuits pendant 30 jours',
  nav: {
    label: 'Boutique',
    shoes: 'Chaussures',
    care: 'Entretien',
    store: 'Notre boutique',
    journal: 'Journal',
    language: 'Langue',
    bag: 'Panier',
  },
  home: 'Accueil',
  product: {
    kind: 'Chaussure basse en toile cirée',
    intro:
      'Une chaussure pour aller au travail et pour rentrer par le chemin le plus long : une toile cirée qui supporte une averse, un talon en cuir et une semelle cousue, donc remplaçable.',
    priceNote: 'TVA comprise, livraison offerte',
    stars: '{n} étoiles sur {of}',
    reviewCount: '{n} avis',
    colour: 'Couleur',
    colours: { navy: 'Marine', sand: 'Sable', moss: 'Mousse' },
    width: 'Largeur',
    regular: 'Normale',
    wide: 'Large',
    size: 'Pointure',
    sizeHint: 'Entre deux pointures ? Prenez la plus grande.',
    add: 'Ajouter au panier',
    added: 'La pointure {size} est dans votre panier.',
    gallery: 'Photos de la chaussure',
    views: { side: 'De côté', pair: 'La paire', detail: 'Lacets et toile', sole: 'La semelle' },
  },
  facts: [
    'Commandée avant 14 h, expédiée aujourd’hui',
    'À essayer chez vous, retour gratuit pendant 30 jours',
    'Deux ans de garantie, et nous réparons',
  ],
  details: [
    [
      'Matières',
      'Tige : coton biologique 600 g/m², ciré. Talon et œillets : cuir au tannage végétal. Doublure : coton. Semelle : caoutchouc naturel, cousue.',
    ],
    [
      'Pointures',
      'Taille normalement, en deux largeurs. Mesurez votre pied le soir, debout, et ajoutez un centimètre : 26 cm font un 41, 27 cm un 42.',
    ],
    [
      'Entretien',
      'Brossez la terre sèche, lavez à l’eau tiède avec un peu de savon, laissez sécher à température ambiante. Un peu de cire deux fois par an tient la pluie à distance.',
    ],
  ],
  story: {
    title: 'Faites lentement, à une rue de l’eau',
    text: 'Dix-neuf personnes travaillent dans notre atelier, au-dessus de l’ancienne corderie. Une paire leur prend deux jours, et le second est surtout de la patience.',
    points: [
      ['Cousue, pas collée', 'Une semelle usée se remplace en une heure.'],
      ['Cirée à la main', 'Huile de lin et cire d’abeille, à chaud, en trois couches fines.'],
      ['Réparée ici', 'Apportez-la ou envoyez-la. Nous n’en avons jamais jeté une.'],
    ],
  },
  reviews: {
    title: 'Ce qu’on en dit',
    list: [
      {
        stars: 5,
        title: 'Les pieds au sec en novembre',
        text: 'Je roule à vélo tous les jours, et ce sont les premières chaussures en toile à qui cela ne fait rien. La version large est vraiment large.',
        by: 'Johanna, Malmö',
      },
      {
        stars: 5,
        title: 'Ma deuxième paire, après six ans',
        text: 'La première a une semelle neuve et continue. Je voulais seulement la verte aussi.',
        by: 'Tomás, Porto',
      },
      {
        stars: 4,
        title: 'Belle, et se fait doucement',
        text: 'Raide la première semaine, un chausson depuis. Le chat m’a conseillé la pointure au-dessus, et il avait raison.',
        by: 'Marie, Lyon',
      },
    ],
  },
  more: {
    title: 'Du même établi',
    trail: 'Bottine à membrane',
    city: 'Chaussure fine en cuir',
  },
  footer: {
    claim: 'Des chaussures de Harbour Street depuis 1987.',
    service: 'Service',
    serviceLinks: [
      'Expédition et livraison',
      'Retours et remboursements',
      'Paiement',
      'Pointures et entretien',
    ],
    store: 'Notre boutique',
    address: ['12 Harbour Street', 'à cinq minutes de la gare centrale'],
    hours: ['Du lundi au vendredi, de 10 h à 19 h', 'Le samedi, de 10 h à 16 h'],
    madeUp: 'Kaj est inventée pour montrer le chat de Sluice. Rien n’est à vendre ici.',
  },
  greeting:
    'Bonjour ! Posez vos questions sur les commandes, les pointures, la livraison ou les retours. La réponse vient en quelques secondes, à toute heure.',
  demo: {
    title: 'Ceci est une démo',
    summary: 'Ceci est une démo : essayez',
    intro: 'La boutique est inventée, le chat est vrai. Essayez-le :',
    questionsTitle: 'Demandez par exemple',
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
