/**
 * Reasons that delivery records with an outcome and the console explains. They are stored with the
 * entry and used in filters, so changing the text does not change stored entries.
 */

/** A 2xx without the message, which is not in the platform's list either. */
export const UNCLEAR = 'the platform does not say whether it took the message';
/** For a delivered message whose sender's address the platform did not accept. */
export const CANNOT_BE_ANSWERED = 'cannot be answered: the platform refused the address';
/** For an event about a contact that the platform does not know. */
export const NO_SUCH_CONTACT = 'no such contact';
/** For an event, when the key is not allowed to read contacts. */
export const CONTACTS_NOT_READABLE = 'contacts cannot be looked up';
