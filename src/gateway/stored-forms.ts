import { storedChat } from '../channels/chat/stored.ts';
import { storedEmail } from '../channels/email/stored.ts';
import { storedSms } from '../channels/sms/stored.ts';
import { storedEvent } from '../intake/timeline-event.ts';
import type { StoredFormReaders } from '../spool/stored-form.ts';

const OF_CHANNELS = { email: storedEmail, sms: storedSms, web_chat: storedChat } as const;

/** The reader of each channel's stored form, which the store needs for summaries and erasure. */
export const storedFormReaderOf: StoredFormReaders = ({ kind, channel }) =>
  kind === 'event' ? storedEvent : OF_CHANNELS[channel];
