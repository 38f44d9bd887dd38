/** Of one MMS, at Twilio and at Telnyx. */
const MAX_MEDIA = 10;
/** Numbers of the United States, Canada and their neighbours. */
const NORTH_AMERICAN = /^\+1\d{10}$/;

/**
 * How many files one message between these numbers can carry. Both providers send MMS in North America
 * only (Twilio, "Messaging media"; Telnyx, "MMS"); elsewhere the text has links.
 */
export const mmsMedia = (from: string, to: string): number =>
  NORTH_AMERICAN.test(from) && NORTH_AMERICAN.test(to) ? MAX_MEDIA : 0;
