/** Everything that the sample shop's page says, in one language. */
export interface DemoTexts {
  /** BCP 47; the widget takes it from the page. */
  readonly lang: string;
  readonly direction: 'ltr' | 'rtl';
  /** As its speakers write it. */
  readonly languageName: string;
  readonly skip: string;
  readonly announcement: string;
  readonly nav: {
    readonly label: string;
    readonly shoes: string;
    readonly care: string;
    readonly store: string;
    readonly journal: string;
    readonly language: string;
    readonly bag: string;
  };
  readonly home: string;
  readonly product: {
    readonly kind: string;
    readonly intro: string;
    readonly priceNote: string;
    /** `{n}`, `{of}`: stars. */
    readonly stars: string;
    /** `{n}`: how many. */
    readonly reviewCount: string;
    readonly colour: string;
    readonly colours: Record<'navy' | 'sand' | 'moss', string>;
    readonly width: string;
    readonly regular: string;
    readonly wide: string;
    readonly size: string;
    readonly sizeHint: string;
    readonly add: string;
    /** `{size}`: the chosen one. */
    readonly added: string;
    readonly gallery: string;
    readonly views: Record<'side' | 'pair' | 'detail' | 'sole', string>;
  };
  readonly facts: readonly [string, string, string];
  readonly details: readonly (readonly [title: string, text: string])[];
  readonly story: {
    readonly title: string;
    readonly text: string;
    readonly points: readonly (readonly [title: string, text: string])[];
  };
  readonly reviews: {
    readonly title: string;
    readonly list: readonly {
      readonly stars: number;
      readonly title: string;
      readonly text: string;
      readonly by: string;
    }[];
  };
  readonly more: {
    readonly title: string;
    readonly trail: string;
    readonly city: string;
  };
  readonly footer: {
    readonly claim: string;
    readonly service: string;
    readonly serviceLinks: readonly string[];
    readonly store: string;
    readonly address: readonly string[];
    readonly hours: readonly string[];
    readonly madeUp: string;
  };
  /** What the widget says first. */
  readonly greeting: string;
  readonly demo: {
    readonly title: string;
    readonly summary: string;
    readonly intro: string;
    readonly questionsTitle: string;
    /** What the built-in agent knows something about; in English when absent. */
    readonly questions?: readonly string[];
    /** Where the agent does not know the language of the page. */
    readonly questionsNote?: string;
    readonly open: string;
    readonly identifyIntro: string;
    readonly identify: string;
    readonly logOut: string;
    readonly identified: string;
    readonly loggedOut: string;
    readonly failed: string;
  };
}
