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
  {
    service: 'Typeform',
    senders: ['notifications@typeform.com', 'notifications@followups.typeform.io'],
    source: RECEIVED,
  },
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
  { service: 'Etsy', senders: ['conversations@mail.etsy.com'], source: RECEIVED },
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
