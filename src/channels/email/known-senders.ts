import { type AddressMatcher, createAddressMatcher } from '../../domain/email-addresses.ts';

interface FormService {
  readonly service: string;
  /** Its From addresses, for every shop that uses it: addresses, or `*@domain`. */
  readonly senders: readonly string[];
  /** The evidence: a documentation page, or received mail. */
  readonly source: string;
}

/** Seen in From of received mail that is quoted in public repositories (2026). */
const RECEIVED = 'received mail';

/**
 * Services that send a visitor's or buyer's message in their own name, with the person in Reply-To.
 * An address may be listed only if customers of the service cannot send anything else from it,
 * because anyone who can send from it can put any address into Reply-To. Others belong in
 * `email.formSenders`.
 */
export const FORM_SERVICES: readonly FormService[] = [
  // Shop systems and site builders.
  { service: 'Shopify', senders: ['mailer@shopify.com'], source: RECEIVED },
  {
    service: 'Squarespace',
    senders: ['form-submission@squarespace.info'],
    source: 'https://support.squarespace.com/hc/en-us/articles/211694327',
  },
  { service: 'Wix', senders: ['*@wix-forms.com', 'no-reply@crm.wix.com'], source: RECEIVED },
  {
    service: 'Webflow',
    senders: ['no-reply-forms@webflow.com', 'no-reply@webforms.io'],
    source: 'https://wishlist.webflow.com/ideas/WEBFLOW-I-32378',
  },
  { service: 'Weebly', senders: ['no-reply@weebly.com'], source: RECEIVED },
  { service: 'Framer', senders: ['noreply@framer.com'], source: RECEIVED },
  // Forms.
  { service: 'Jotform', senders: ['noreply@jotform.com'], source: RECEIVED },
  { service: 'Wufoo', senders: ['no-reply@wufoo.com'], source: RECEIVED },
  { service: 'Formspree', senders: ['noreply@formspree.io'], source: RECEIVED },
  { service: 'Netlify Forms', senders: ['formresponses@netlify.com'], source: RECEIVED },
  { service: 'Cognito Forms', senders: ['notifications@cognitoforms.com'], source: RECEIVED },
  { service: 'Tally', senders: ['notifications@tally.so'], source: RECEIVED },
  { service: 'FormSubmit', senders: ['submissions@formsubmit.co'], source: RECEIVED },
  {
    service: 'Web3Forms',
    senders: ['notify@web3forms.com'],
    source: 'https://docs.web3forms.com/getting-started/customizations/custom-reply-to',
  },
  { service: 'Formstack', senders: ['noreply@formstack.com'], source: RECEIVED },
  { service: '123FormBuilder', senders: ['noreply@123formbuilder.com'], source: RECEIVED },
  // Marketplaces, which send from an address of theirs that represents the buyer.
  {
    service: 'Amazon',
    senders: ['com', 'com.br', 'co.uk', 'de', 'fr', 'it', 'es'].map(
      (country) => `*@marketplace.amazon.${country}`,
    ),
    source: RECEIVED,
  },
  {
    service: 'eBay',
    senders: ['com', 'co.uk', 'de', 'fr', 'it', 'es'].map((country) => `*@members.ebay.${country}`),
    source: RECEIVED,
  },
  { service: 'Kleinanzeigen', senders: ['*@mail.kleinanzeigen.de'], source: RECEIVED },
];

const KNOWN = createAddressMatcher(FORM_SERVICES.flatMap(({ senders }) => senders));

/**
 * The senders that send on behalf of others: a shop's own `formSenders` and the known services.
 * @throws {TypeError} for an entry that is neither an address nor `*@domain`
 */
export function createFormSenders(configured: readonly string[]): AddressMatcher {
  const own = createAddressMatcher(configured);
  const match = (address: string) => own.match(address) ?? KNOWN.match(address);
  return {
    match,
    has: (address) => match(address) !== undefined,
    domains: [...own.domains, ...KNOWN.domains],
  };
}

/**
 * Mail providers whose domain does not identify the author: anyone can have an address there and
 * passes DMARC with it. Taken from their own lists of domains and from the provider tables of mail
 * programs (https://github.com/nodemailer/nodemailer/blob/master/lib/well-known/services.json,
 * https://github.com/thunderbird/autoconfig/tree/master/ispdb).
 */
const SHARED: ReadonlySet<string> = new Set(
  `gmail.com googlemail.com googlegroups.com icloud.com me.com mac.com privaterelay.appleid.com
  aol.com aim.com rocketmail.com proton.me protonmail.com protonmail.ch pm.me tutanota.com
  tutanota.de tutamail.com tuta.io tuta.com keemail.me fastmail.com fastmail.fm hey.com zoho.com
  zohomail.com zohomail.eu mail.com email.com usa.com web.de t-online.de magenta.de freenet.de
  arcor.de posteo.de posteo.net mailbox.org 1und1.de bluewin.ch orange.fr wanadoo.fr free.fr
  laposte.net sfr.fr neuf.fr libero.it virgilio.it alice.it tin.it tiscali.it inwind.it
  telefonica.net terra.com.br uol.com.br bol.com.br ig.com.br seznam.cz email.cz centrum.cz
  azet.sk wp.pl o2.pl onet.pl interia.pl op.pl abv.bg mail.ru inbox.ru bk.ru list.ru internet.ru
  rambler.ru ya.ru yandex.com ukr.net i.ua qq.com foxmail.com 163.com 126.com yeah.net sina.com
  sina.cn sohu.com aliyun.com naver.com hanmail.net daum.net kakao.com nate.com docomo.ne.jp
  ezweb.ne.jp au.com softbank.ne.jp i.softbank.jp rediffmail.com comcast.net verizon.net att.net
  sbcglobal.net bellsouth.net cox.net charter.net spectrum.net earthlink.net optonline.net
  btinternet.com sky.com virginmedia.com talktalk.net ntlworld.com bigpond.com optusnet.com.au
  shaw.ca rogers.com telus.net sympatico.ca xtra.co.nz ziggo.nl kpnmail.nl xs4all.nl telenet.be
  skynet.be telia.com online.no`.split(/\s+/),
);
/** Providers with one domain per country: yahoo.co.jp, hotmail.fr, gmx.at, yandex.by. */
const SHARED_FAMILY =
  /^(?:yahoo|ymail|myyahoo|hotmail|outlook|live|msn|windowslive|gmx|yandex)\.[a-z]{2,3}(?:\.[a-z]{2})?$/;

/**
 * Whether a domain (in lower case and ASCII) is shared by unrelated people, so that it does not
 * confirm an address.
 */
export function isSharedDomain(domain: string): boolean {
  return SHARED.has(domain) || SHARED_FAMILY.test(domain);
}
