import type { DemoTexts } from './demo-texts.ts';

export const es: DemoTexts = {
  lang: 'es',
  direction: 'ltr',
  languageName: 'Español',
  skip: 'Ir al zapato',
  announcement: 'Envío gratis en Europa desde 60 euros, 30 días de devolución gratuita',
  nav: {
    label: 'Tienda',
    shoes: 'Zapatos',
    care: 'Cuidado',
    store: 'Nuestra tienda',
    journal: 'Revista',
    language: 'Idioma',
    bag: 'Cesta',
  },
  home: 'Inicio',
  product: {
    kind: 'Zapato bajo de lona encerada',
    intro:
      'Un zapato para ir al trabajo y volver por el camino largo: lona encerada que aguanta un chaparrón, talón de piel y una suela cosida que se puede cambiar.',
    priceNote: 'IVA incluido, envío gratis',
    stars: '{n} de {of} estrellas',
    reviewCount: '{n} opiniones',
    colour: 'Color',
    colours: { navy: 'Marino', sand: 'Arena', moss: 'Musgo' },
    width: 'Ancho',
    regular: 'Normal',
    wide: 'Amplio',
    size: 'Talla',
    sizeHint: '¿Entre dos tallas? Elija la mayor.',
    add: 'Añadir a la cesta',
    added: 'La talla {size} está en su cesta.',
    gallery: 'Imágenes del zapato',
    views: { side: 'De lado', pair: 'El par', detail: 'Cordones y lona', sole: 'La suela' },
  },
  facts: [
    'Pedido antes de las 14:00, hoy mismo en camino',
    'Pruébelo en casa y devuélvalo gratis en 30 días',
    'Dos años de garantía, y lo reparamos',
  ],
  details: [
    [
      'Material',
      'Exterior: algodón ecológico de 600 g/m², encerado. Talón y ojales: piel de curtido vegetal. Forro: algodón. Suela: caucho natural, cosida.',
    ],
    [
      'Talla y horma',
      'Talla normal, en dos anchos. Mida su pie por la tarde, de pie, y añada un centímetro: 26 cm son un 41; 27 cm, un 42.',
    ],
    [
      'Cuidado',
      'Cepille la tierra seca, lave con agua tibia y un poco de jabón y deje secar a temperatura ambiente. Un poco de cera dos veces al año aleja la lluvia.',
    ],
  ],
  story: {
    title: 'Hechos despacio, a una calle del agua',
    text: 'Diecinueve personas trabajan en nuestro taller, sobre el antiguo almacén de cuerdas. Un par les lleva dos días, y el segundo es sobre todo paciencia.',
    points: [
      ['Cosidos, no pegados', 'Una suela gastada se cambia en una hora.'],
      ['Encerados a mano', 'Linaza y cera de abeja, en caliente, en tres capas finas.'],
      ['Reparados aquí', 'Tráigalos o envíelos. Nunca hemos tirado ninguno.'],
    ],
  },
  reviews: {
    title: 'Qué dice la gente',
    list: [
      {
        stars: 5,
        title: 'Pies secos en noviembre',
        text: 'Voy en bicicleta todos los días, y son los primeros zapatos de lona a los que no les importa. El ancho es ancho de verdad.',
        by: 'Johanna, Malmö',
      },
      {
        stars: 5,
        title: 'Mi segundo par, seis años después',
        text: 'El primero tiene suela nueva y sigue andando. Solo quería también el verde.',
        by: 'Tomás, Oporto',
      },
      {
        stars: 4,
        title: 'Bonitos, se hacen poco a poco',
        text: 'Rígidos la primera semana, como zapatillas desde entonces. El chat me aconsejó la talla mayor, y acertó.',
        by: 'Marie, Lyon',
      },
    ],
  },
  more: {
    title: 'Del mismo banco',
    trail: 'Bota con membrana',
    city: 'Zapato fino de piel',
  },
  footer: {
    claim: 'Zapatos de Harbour Street desde 1987.',
    service: 'Servicio',
    serviceLinks: ['Envío y entrega', 'Devoluciones y reembolsos', 'Pago', 'Tallas y cuidado'],
    store: 'Nuestra tienda',
    address: ['12 Harbour Street', 'a cinco minutos de la estación central'],
    hours: ['De lunes a viernes, de 10:00 a 19:00', 'Sábados, de 10:00 a 16:00'],
    madeUp: 'Kaj es inventada, para mostrar el chat de Sluice. Aquí no se vende nada.',
  },
  greeting:
    '¡Hola! Pregunte por pedidos, tallas, envíos o devoluciones. La respuesta llega en segundos, a cualquier hora.',
  demo: {
    title: 'Esto es una demo',
    summary: 'Esto es una demo: pruébela',
    intro: 'La tienda es inventada; el chat es de verdad. Pruébelo:',
    questionsTitle: 'Pregunte, por ejemplo',
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
