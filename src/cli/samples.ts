/**
 * Who writes in the lines to try, and what. Names under `.example` are in no DNS (RFC 2606 §2), while
 * example.com forbids all mail in its name, which would be held. The number is of the block that
 * is set aside for fiction.
 */
export const SAMPLE_SENDER = 'ada@customer.example';
export const SAMPLE_NUMBER = '+12025550187';
export const SAMPLE_QUESTION = 'Where is my order?';
