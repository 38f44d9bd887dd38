/**
 * Mobile numbers that networks write in two forms, each with the form that is used for both.
 * - Brazil: a ninth digit, 9, was added before the eight digits of mobile numbers, which began with
 *   6 to 9 (Anatel, Resolução 553). Eight digits that begin with 2 to 5 are a landline, and the
 *   same number with a 9 belongs to another person.
 * - Argentina: a 9 after the country code marks a mobile number; area code and number are unique
 *   without it (ITU-T national numbering plan, Argentina).
 * - Mexico: a 1 after the country code had the same meaning until 2019 (IFT).
 */
const TWO_FORMS: readonly (readonly [form: RegExp, standsFor: string])[] = [
  [/^\+55([1-9][1-9])([6-9]\d{7})$/, '+55$19$2'],
  [/^\+549(\d{10})$/, '+54$1'],
  [/^\+521(\d{10})$/, '+52$1'],
];

/**
 * The same text for both forms of a number, otherwise the address unchanged. It is only a key for
 * identifying the sender and never part of a payload.
 */
export function subscriberOf(address: string): string {
  const known = TWO_FORMS.find(([form]) => form.test(address));
  return known === undefined ? address : address.replace(...known);
}

/** All forms of the number, that which is used for both first. */
export function formsOf(number: string): string[] {
  const subscriber = subscriberOf(number);
  const others = [
    subscriber.replace(/^\+55(\d\d)9(\d{8})$/, '+55$1$2'),
    subscriber.replace(/^\+54(\d{10})$/, '+549$1'),
    subscriber.replace(/^\+52(\d{10})$/, '+521$1'),
  ];
  const isForm = (form: string) => form !== subscriber && subscriberOf(form) === subscriber;
  return [subscriber, ...others.filter(isForm)];
}
