/** A channel has the name of the platform's `conversation.type` (API §4.7). */
export type Channel = 'email' | 'sms' | 'web_chat';

export const CHANNELS: readonly Channel[] = ['email', 'sms', 'web_chat'];
