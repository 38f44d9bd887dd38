/** The endpoints of a shop's platform, `/messages/` and `/media/`; each has a health of its own. */
export type HealthPart = 'messages' | 'media';
