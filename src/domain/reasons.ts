/**
 * Reasons that delivery gives to an outcome and the console explains. They are stored with the
 * entry and can be filtered by, so a change of words does not reach what is stored already.
 */

/** A 2xx without the message, which the platform's list does not have either. */
export const UNCLEAR = 'the platform does not say whether it took the message';
/** Of a delivered message, whose sender has no address at the platform. */
export const CANNOT_BE_ANSWERED = 'cannot be answered: the platform refused the address';
/** Of an event about a contact whom the platform does not know. */
export const NO_SUCH_CONTACT = 'no such contact';
/** Of an event, where the key may not read contacts. */
export const CONTACTS_NOT_READABLE = 'contacts cannot be looked up';
