import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { z } from 'zod';
import { canonicalAddress, canonicalDomain } from '../domain/email-addresses.ts';
import { asShopId, type ShopId } from '../domain/ids.ts';
import { field, nearest } from './field.ts';

const NO_PATTERN = [
  /^(?:[^@]{0,64}[^@]\*|\*[^@])|\\/,
  'write *@ and a domain, or each address by itself: there are no other patterns',
] as const;

/** An address of the shop, or `*@domain` for all addresses of a domain. */
export const inboxAddress = () =>
  field(
    {
      expected: 'an email address, or *@domain for a whole domain',
      example: 'support@acme.example',
      hint: (value) => {
        const bare = value.replace(/^mailto:/i, '').replace(/\s{0,9}@\s{0,9}/, '@');
        const address = bare.split(/[\s<>]+/).find((word) => word.includes('@')) ?? '';
        return parseInbox(address.startsWith('@') ? `*${address}` : address);
      },
      cures: [
        [/^\*(?:@\*.*)?$/, 'write *@ and a domain, one for each of your domains'],
        NO_PATTERN,
        [/^(?:imap|pop3?)s?:/i, 'write the address alone: mail arrives here over SMTP'],
      ],
    },
    parseInbox,
  );

function parseInbox(value: string): string | undefined {
  if (!value.startsWith('*@')) return canonicalAddress(value)?.toLowerCase();
  const domain = canonicalDomain(value.slice(2));
  return domain === undefined ? undefined : `*@${domain}`;
}

/** Another party's address or domain: `forms@site.example`, `*@site.example`. */
export const senderPattern = () =>
  field(
    {
      expected: 'an email address, or *@domain for a whole domain',
      example: '"*@forms.example"',
      hint: (value) => parseInbox(value.startsWith('@') ? `*${value}` : `*@${value}`),
      cures: [NO_PATTERN],
    },
    parseInbox,
  );

/**
 * E.164 (ITU-T), a short code of 3 to 8 digits, or an RCS sender: each as the provider writes it
 * in webhooks (Twilio, "Twilio's request to your incoming message Webhook URL"; Telnyx, "Inbound
 * message").
 */
export const phoneNumber = () =>
  field(
    {
      expected:
        'a phone number in E.164 form (+ and up to 15 digits), a short code, or an RCS sender (rcs:...)',
      example: '"+15550001111"',
      hint: (value) => {
        const digits = value
          .replace(/^(?:whatsapp|tel):/i, '')
          .replace(/^00/, '+')
          .replace(/[\s().-]/g, '');
        const isNorthAmerican = /^\d{10}$/.test(digits) && isE164(`+1${digits}`);
        const whole = isNorthAmerican ? `+1${digits}` : `+${digits.replace('+', '')}`;
        return isE164(whole) ? `"${whole}"` : undefined;
      },
      cures: [
        [/^MG[0-9a-f]{32}$/i, 'write the numbers here, and this into twilio.messagingServiceSids'],
      ],
    },
    (value) => (isE164(value) || SENDER.test(value) ? value : undefined),
  );

const SENDER = /^(?:\d{3,8}|rcs:[A-Za-z0-9][A-Za-z0-9_.-]{0,99})$/;

/**
 * A possible number, not necessarily an assigned one: numbering plans change faster than any table.
 */
const isE164 = (value: string): boolean =>
  /^\+[1-9]\d{6,14}$/.test(value) && parsePhoneNumberFromString(value)?.isPossible() === true;

export const uuid = () =>
  field<ShopId>(
    {
      expected: "the shop's id on the platform, a UUID",
      example: '4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40',
      hint: (value) =>
        /^[0-9a-f]{32}$/i.test(value)
          ? value.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toLowerCase()
          : undefined,
    },
    (value) => (z.guid().safeParse(value).success ? asShopId(value.toLowerCase()) : undefined),
  );

/** Who wrote a reply, at the platform. */
export const authorId = () =>
  field(
    {
      expected: "the platform's id of a teammate (user_id) or of an agent (agent_id), a UUID",
      example: '3f0c2a4e-5b7d-4c1a-9e8f-6a2b1d0c4e5f',
    },
    (value) => (z.guid().safeParse(value).success ? value.toLowerCase() : undefined),
  );

/** One of Twilio's ids: two letters and 32 hex digits. */
export const twilioSid = (prefix: string) =>
  field(
    {
      expected: `${prefix} and 32 hex digits`,
      example: `${prefix}${'0'.repeat(32)}`,
      besideSecret: true,
      hint: (value) => {
        const upper = value.slice(0, 2).toUpperCase() + value.slice(2);
        return isSid(prefix, upper) ? upper : undefined;
      },
      cures: Object.entries(KEY_OF_SID).flatMap(([kind, key]) =>
        kind === prefix ? [] : [[new RegExp(`^${kind}[0-9a-f]{32}$`, 'i'), `write it at ${key}`]],
      ),
      shown: (value) => {
        if (/^(?:[A-Z]{2}[0-9a-f]{0,40}|[a-z]{2}[0-9a-f]{32})$/.test(value)) {
          return JSON.stringify(value);
        }
        return /^[0-9a-f]{32}$/i.test(value) ? 'an auth token or a secret (not shown)' : undefined;
      },
    },
    (value) => (isSid(prefix, value) ? value : undefined),
  );

const isSid = (prefix: string, value: string): boolean =>
  value.startsWith(prefix) && /^..[0-9a-fA-F]{32}$/.test(value);

/** By its first two letters: where an id of Twilio's belongs. */
const KEY_OF_SID = {
  AC: 'accountSid',
  SK: 'apiKeySid',
  MG: 'messagingServiceSids',
  HX: 'whatsappTemplate',
};

/** The id of a key of Twilio's webhook rules, as the header of a webhook has it. */
export const sharedKeySid = () =>
  field(
    {
      expected: "the SID of a shared key, as Twilio's console shows it",
      example: `SK${'0'.repeat(32)}`,
    },
    (value) => (/^[\w-]{1,100}$/.test(value) ? value : undefined),
  );

/** An Ed25519 key as Telnyx's portal shows it (RFC 8032 §5.1.5). It is no secret. */
export const ed25519Key = () =>
  field(
    {
      expected: 'an Ed25519 public key: 32 bytes in base64',
      // Of a key pair whose private key was thrown away.
      example: 'TrmOi5CO0ehVunmvPGa4W8B5IsvOEoBi88ghTKatKLg=',
      besideSecret: true,
      shown: (value) => {
        if (value.includes('-----BEGIN')) return 'a key in PEM form (not shown)';
        return value.startsWith('KEY') ? 'an API key (not shown)' : undefined;
      },
      cures: [
        [/^[0-9a-f]{64}$/i, "this is hex: copy the key as Telnyx's portal shows it, in base64"],
      ],
    },
    (value) => {
      const bare = value.trim();
      const isBase64 = /^[A-Za-z0-9+/]{43}=?$/.test(bare);
      return isBase64 && Buffer.from(bare, 'base64').length === 32 ? bare : undefined;
    },
  );

/** One of Meta's ids, such as that of a number; it is no number that can be called. */
export const metaId = (example: string) =>
  field(
    {
      expected: "an id of Meta's: 5 to 20 digits",
      example,
      cures: [[/^\+/, "write the number's phone number ID, which is below it in WhatsApp Manager"]],
    },
    (value) => (/^\d{5,20}$/.test(value) ? value : undefined),
  );

/** Of a message template (Meta, "Templates"). */
export const templateName = () =>
  field(
    {
      expected: 'the name of a template: lower-case letters, digits and "_"',
      example: 'reply_later',
      hint: (value) => value.trim().toLowerCase().replace(/\W+/g, '_'),
    },
    (value) => (/^[a-z0-9_]{1,512}$/.test(value) ? value : undefined),
  );

/** As Meta writes it (Meta, "Supported languages"): `en`, `en_US`, `zh_CN`. */
export const templateLanguage = () =>
  field(
    {
      expected: 'the language of the template, as Meta writes it',
      example: 'en_US',
      hint: (value) => {
        const [, language, country] = /^([a-z]{2,3})[-_]([a-z]{2})$/i.exec(value.trim()) ?? [];
        return country && `${language?.toLowerCase()}_${country.toUpperCase()}`;
      },
    },
    (value) => (/^[a-z]{2,3}(?:_[A-Z]{2,3})?$/.test(value) ? value : undefined),
  );

/** A name that is used in URLs, metrics and logs. */
export const label = (example: string) =>
  field(
    {
      expected: 'a name of up to 40 letters, digits, "-" and "_"',
      example,
      hint: (value) =>
        value
          .trim()
          .replace(/[^A-Za-z0-9_-]+/g, '-')
          .slice(0, 40),
    },
    (value) => (/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(value) ? value : undefined),
  );

/** Text that visitors read: one or more lines, without control characters. */
export const shownText = (maxLength: number, example: string) =>
  field(
    {
      expected: `a text of 1 to ${maxLength} characters`,
      example,
      hint: (value) => {
        const clean = value.replace(CONTROLS, '').trim();
        return clean === '' ? undefined : Array.from(clean).slice(0, maxLength).join('').trim();
      },
    },
    (value) => {
      // A block scalar of YAML ends with a line break that is not intended.
      const text = value.trim();
      const isFine = text !== '' && Array.from(text).length <= maxLength && !text.match(CONTROLS);
      return isFine ? text : undefined;
    },
  );

/** All control characters except the line break and the tab. */
const CONTROLS = /(?![\n\t])\p{Cc}/gu;

/** A time zone that this Node knows. */
export const timeZone = () =>
  field(
    {
      expected: 'an IANA time zone',
      example: 'Europe/Berlin',
      hint: (value) => {
        const place = `/${value.trim().toLowerCase().replaceAll(' ', '_')}`;
        return Intl.supportedValuesOf('timeZone').find((zone) =>
          zone.toLowerCase().endsWith(place),
        );
      },
      cures: [
        [
          /^(?:UTC|GMT)\s?[+-]/i,
          'write the place, whose summer time is followed: Europe/Berlin, for instance',
        ],
      ],
    },
    (value) => {
      try {
        return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
      } catch {
        return undefined;
      }
    },
  );

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export const weekday = () =>
  field<(typeof DAYS)[number]>(
    {
      expected: `one of ${DAYS.join(', ')}`,
      example: 'mon',
      hint: (value) => nearest(value, DAYS),
      cures: [
        [/[a-z]\s?(?:-|–|to)\s?[a-z]/i, 'write each day by itself: [mon, tue, wed, thu, fri]'],
      ],
    },
    (value) => DAYS.find((day) => day === value),
  );

/** A time of day; `24:00` is the end of it. */
export const timeOfDay = (example: string) =>
  field(
    {
      expected: 'a time of day as hours and minutes, in quotes, from "00:00" to "24:00"',
      example,
      hint: (value) => {
        const [, digits = '', minutes = '00', half] =
          /^(\d{1,2})(?::(\d\d))?(?:\s?([ap])\.?m\.?)?$/i.exec(value.trim()) ?? [];
        const ofHalf = half === undefined ? Number(digits) : Number(digits) % 12;
        const hours = ofHalf + (half?.toLowerCase() === 'p' ? 12 : 0);
        return digits === '' || hours > 23
          ? undefined
          : `"${String(hours).padStart(2, '0')}:${minutes}"`;
      },
    },
    (value) => (/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/.test(value) ? value : undefined),
  );

/** The language subtag of BCP 47: a page in `de-AT` uses the texts of `de`. */
export const languageTag = () =>
  field(
    {
      expected: 'a language of two or three letters, without a region',
      example: 'sv',
      hint: (value) => /^[a-z]{2,3}(?=[-_]|$)/.exec(value.trim().toLowerCase())?.[0],
    },
    (value) => (/^[a-z]{2,3}$/.test(value) ? value : undefined),
  );

/** A colour for which the widget can compute the contrast. */
export const color = (example: string) =>
  field(
    { expected: 'a colour as # and six hex digits, in quotes', example, hint: sixDigits },
    (value) => (/^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : undefined),
  );

/** Converts other common forms: `#abc`, `aabbcc`, `rgb(1, 2, 3)`. */
function sixDigits(value: string): string | undefined {
  const hex = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(value.trim())?.[1];
  if (hex !== undefined) {
    const long = hex.length === 6 ? hex : hex.replace(/./g, '$&$&');
    return `"#${long.toLowerCase()}"`;
  }
  const [, ...channels] = /^rgb\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)\s*\)$/i.exec(value.trim()) ?? [];
  if (channels.length !== 3 || channels.some((each) => Number(each) > 255)) return undefined;
  return `"#${channels.map((each) => Number(each).toString(16).padStart(2, '0')).join('')}"`;
}

/** For the shop's pages. They use https, where browsers block pictures over http. */
export const shownUrl = (what: 'a picture' | 'a page', example: string) =>
  field(
    {
      expected: `the https URL of ${what}`,
      example,
      hint: (value) => parseShownUrl(value.replace(/^(?:http:)?\/\//, 'https://')),
    },
    parseShownUrl,
  );

function parseShownUrl(value: string): string | undefined {
  if (!URL.canParse(value) || value.length > 2_000) return undefined;
  const url = new URL(value);
  const isPlain = url.protocol === 'https:' && url.username === '' && url.password === '';
  return isPlain ? url.href : undefined;
}
