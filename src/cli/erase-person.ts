import { domainToUnicode } from 'node:url';
import {
  type CountryCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min';
import { parseAddress } from '../channels/sms/address.ts';
import { domainOf, matchKey, parseAddressList } from '../domain/email-addresses.ts';
import { formsOf, subscriberOf } from '../domain/phone-forms.ts';
import { storedFormReaderOf } from '../gateway/stored-forms.ts';
import type { Person, StoredName } from '../spool/erasure.ts';
import { countedWhenForged } from '../spool/sender-rates.ts';
import { UsageError } from './exit-codes.ts';

/** How the typed address is interpreted. The text may also be a visitor's id or subject. */
export interface Reading {
  readonly kind: 'email' | 'number' | 'visitor';
  /** The address in the form in which addresses are compared, the number in E.164, or the text. */
  readonly key: string;
}

export interface NamedPerson extends Person {
  readonly reading: Reading;
  /** Their names on WhatsApp (`whole-person.ts`). */
  readonly names: readonly StoredName[];
  /** Like `is`, for what the embedded platform stores. */
  readonly isOnPlatform: Person['is'];
}

/** Shorter ids occur in unrelated texts, so they are only compared as a whole. */
const MIN_SEARCHED_LENGTH = 6;
/** Without its country code, a shorter number occurs in too many texts. */
const MIN_NATIONAL_DIGITS = 9;

/**
 * Interprets the value of `--address`.
 * @param countries whose rules apply to a number without a country code: those of the shops'
 * numbers
 * @throws {UsageError} it is empty, or a number that is possible in several countries
 */
export function readPerson(typed: string, countries: readonly string[]): NamedPerson {
  const text = typed.trim();
  if (text === '') throw new UsageError('--address is empty');
  const email = emailKey(text);
  if (email !== undefined) return emailPerson(email, text);
  const number = readNumber(text, countries);
  return number === undefined ? visitorPerson(text) : numberPerson(number, text);
}

/** The countries of E.164 numbers, without duplicates. */
export function countriesOf(numbers: readonly string[]): string[] {
  const countries = numbers.flatMap((number) => {
    const parsed = parsePhoneNumberFromString(number);
    if (parsed === undefined) return [];
    // An unassigned number with a shared country code counts for the code's first country.
    return [parsed.country ?? (parsed.countryCallingCode === '1' ? 'US' : undefined)];
  });
  return [...new Set(countries)].filter((country) => country !== undefined);
}

/**
 * `ann@example.com`, `mailto:…`, `Ann <ann@example.com>`: in the form in which addresses are
 * compared.
 */
function emailKey(text: string): string | undefined {
  const bare = text.replace(/^mailto:/i, '');
  if (!bare.includes('@')) return undefined;
  const [mailbox, ...more] = parseAddressList(bare);
  return mailbox === undefined || more.length > 0 ? undefined : matchKey(mailbox.address);
}

/** The number in E.164 form, or undefined if it is not a telephone number. */
function readNumber(text: string, countries: readonly string[]): string | undefined {
  const bare = text.replace(/^(?:tel|sms|whatsapp|rcs|callto):(?:\/\/)?/i, '');
  if (!/^\+?[\d\s().\-/\u00a0\u2010-\u2015]{5,40}$/u.test(bare)) return undefined;
  const plain = bare
    .replace(/[\u2010-\u2015]/gu, '-')
    .replace(/^\s*00/, '+')
    .replace(/\(0\)/, '');
  if (plain.trim().startsWith('+')) return parsed(plain);
  const read = countries
    .filter((country): country is CountryCode => isSupportedCountry(country))
    .flatMap((country) => parsed(plain, country) ?? []);
  const candidates = [...new Set(read)];
  if (candidates.length > 1) {
    throw new UsageError(`this number could be ${candidates.join(' or ')}: add its country code`);
  }
  return candidates[0];
}

function parsed(text: string, country?: CountryCode): string | undefined {
  const number = parsePhoneNumberFromString(text, {
    extract: false,
    ...(country && { defaultCountry: country }),
  });
  if (number === undefined || number.ext !== undefined) return undefined;
  // Mexican numbers with the former 1 are still in use but no longer in the library's tables.
  return number.isPossible() || subscriberOf(number.number) !== number.number
    ? number.number
    : undefined;
}

function emailPerson(key: string, typed: string): NamedPerson {
  const is = (identity: string) => identity === typed || emailKey(identity) === key;
  const at = key.lastIndexOf('@');
  const domain = domainOf(key);
  const domains = [...new Set([domain, domainToUnicode(domain) || domain])];
  // Matches the address with any "+tag", which some services deliver to the same person.
  const local = `"?${escape(key.slice(0, at))}(?:\\+[^\\s@<>"',;]{0,64})?"?`;
  const pattern = `(?:@|%40|&#0*64;|&#x0*40;|&commat;)(?:${domains.map(escape).join('|')})`;
  const isNamedIn = finder([pattern], String.raw`[\w.+-]`, String.raw`[\w-]|\.\w`, local);
  return personBy({ kind: 'email', key }, is, isNamedIn, [key, countedWhenForged(key)]);
}

function numberPerson(number: string, typed: string): NamedPerson {
  const subscriber = subscriberOf(number);
  const is = (identity: string) => identity === typed || numberKey(identity) === subscriber;
  const isNamedIn = finder(writtenForms(number), String.raw`\d`, String.raw`\d`);
  return personBy({ kind: 'number', key: number }, is, isNamedIn, [subscriber]);
}

function visitorPerson(id: string): NamedPerson {
  // A WhatsApp user without a number has an id too.
  const bare = parseAddress(id).address;
  const is = (identity: string) => identity === id || parseAddress(identity).address === bare;
  const patterns = id.length < MIN_SEARCHED_LENGTH ? [] : [escape(id)];
  const isNamedIn = finder(patterns, String.raw`[\w-]`, String.raw`[\w-]`);
  return personBy({ kind: 'visitor', key: id }, is, isNamedIn, [bare]);
}

const personBy = (
  reading: Reading,
  is: Person['is'],
  isNamedIn: Person['isNamedIn'],
  countedAs: readonly string[],
): NamedPerson => ({
  reading,
  is,
  isNamedIn,
  countedAs,
  names: [],
  isOnPlatform: is,
  // The entry's channel names its author or subject.
  wrote: (entry) => storedFormReaderOf(entry).identitiesIn(entry).some(is),
  // A lane has the form AC…/transport/ours/theirs; `#` marks the opt-out of a number.
  hasSmsLane: (lane) => is(lane.slice(lane.lastIndexOf('/') + 1).replace(/^#/, '')),
});

/** Characters that may separate the digits of a number. */
const GAP = String.raw`[\s().\-/\u00a0]{0,5}`;

/** Patterns for all forms in which networks and people write a number. */
function writtenForms(number: string): string[] {
  const patterns = [number, ...formsOf(number)].flatMap((form) => {
    const parts = parsePhoneNumberFromString(form);
    const [code, national] = [parts?.countryCallingCode, parts?.nationalNumber];
    const whole = `(?:00${GAP}|011${GAP})?${separated(form.slice(1))}`;
    if (code === undefined || national === undefined) return [whole];
    const international = `(?:00${GAP}|011${GAP})?${separated(code)}${GAP}(?:0${GAP})?${separated(national)}`;
    const isDistinctive = national.length >= MIN_NATIONAL_DIGITS;
    return [whole, international, ...(isDistinctive ? [`(?:0${GAP})?${separated(national)}`] : [])];
  });
  return [...new Set(patterns)];
}

const separated = (digits: string): string => digits.split(/(?!^)/).join(GAP);

function numberKey(identity: string): string | undefined {
  const { address } = parseAddress(identity.trim());
  if (!address.startsWith('+')) return undefined;
  const number = parsed(address);
  return number === undefined ? undefined : subscriberOf(number);
}

/** Longer than any local part with its tag. */
const LOCAL_MAX = 500;

/**
 * Searches texts for patterns.
 * @param before characters that would make a match part of a longer word
 * @param local what has to be directly before a match: it is looked for only there, so that a text with
 *   many local parts takes linear time
 */
function finder(
  patterns: readonly string[],
  before: string,
  after: string,
  local = '',
): Person['isNamedIn'] {
  if (patterns.length === 0) return () => false;
  const localAt = (text: string, index: number) =>
    text.slice(Math.max(0, index - LOCAL_MAX), index);
  const named = new RegExp(`(?:${allForms(patterns)})(?!${after})`, 'giu');
  const start = new RegExp(`(?<!${before})(?:${allForms([local])})$`, 'iu');
  return (text) => {
    for (const { index } of text.matchAll(named)) {
      if (start.test(localAt(text, index))) return true;
    }
    return false;
  };
}

/** Composed and decomposed. */
const allForms = (patterns: readonly string[]): string =>
  [...new Set(patterns.flatMap((pattern) => [pattern, pattern.normalize('NFD')]))].join('|');

/** Node 20 has no RegExp.escape. In `u` mode, only syntax characters may be escaped. */
const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
