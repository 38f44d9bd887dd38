/**
 * The endpoints of a shop's platform, `/messages/` and `/media/`, whose health is tracked
 * separately.
 */
export type Endpoint = 'messages' | 'media';
