import type TwilioSDK from 'twilio';
import type { OutgoingText, SenderOptions, TextSender } from '../../provider.ts';
import { mmsMedia } from '../mms.ts';
import { asTextNotSent } from '../text-not-sent.ts';
import { wordsOfCode } from './error-words.ts';
import type { TwilioAccount } from './account.ts';
import { apiCalls, connectTwilio, credentialsOf } from './transport.ts';

/** Clocks differ, so our messages are looked up from this much earlier. */
const CLOCKS_DIFFER_MS = 60_000;
const MAX_LISTED = 200;
const TIMEOUT_MS = 30_000;
/** Error 21617. */
const MAX_CHARS = 1600;

/** Sends texts through one account; the client is created on first use. */
export function createTextSender(
  account: TwilioAccount,
  { timeoutMs = TIMEOUT_MS, statusUrl: statusCallback }: SenderOptions = {},
): TextSender {
  let connected: Promise<TwilioSDK.Twilio> | undefined;
  const client = () => (connected ??= connect(account, timeoutMs));
  return {
    sendText: (text) =>
      asTextNotSent(
        'Twilio',
        async () => {
          const message = { ...requested(text), ...(statusCallback && { statusCallback }) };
          const { sid } = await (await client()).messages.create(message);
          return sid;
        },
        wordsOfCode,
      ),
    findSent: (text, since) =>
      asTextNotSent('Twilio', async () => {
        const { from, to } = text;
        // `dateSentAfter` is not used, because queued messages have no such date yet.
        const listed = await (await client()).messages.list({ from, to, limit: MAX_LISTED });
        const earliest = since.getTime() - CLOCKS_DIFFER_MS;
        return listed
          .filter(
            ({ dateCreated, body, status }) =>
              dateCreated.getTime() >= earliest && isBodyOf(text, body) && !isLost(status),
          )
          .map(({ sid }) => sid);
      }),
    maxChars: () => MAX_CHARS,
    mediaPerMessage: ({ from, to }) => (to.startsWith('whatsapp:') ? 1 : mmsMedia(from, to)),
  };
}

function connect(account: TwilioAccount, timeoutMs: number): Promise<TwilioSDK.Twilio> {
  const [credential] = credentialsOf(account);
  if (credential === undefined) throw new Error('a Twilio account without credentials');
  const { accountSid, apiBaseUrl: baseUrl } = account;
  return connectTwilio(accountSid, credential, apiCalls({ baseUrl, timeoutMs }));
}

function requested(text: OutgoingText) {
  const { from, to } = text;
  if ('body' in text)
    return { from, to, body: text.body, ...(text.media && { mediaUrl: [...text.media] }) };
  const { template: contentSid, shown } = text;
  return { from, to, contentSid, contentVariables: JSON.stringify({ 1: shown }) };
}

/** The template's own text surrounds the variables. */
const isBodyOf = (text: OutgoingText, body: string): boolean =>
  'body' in text ? body === text.body : body.includes(text.shown);

const isLost = (status: string) => ['failed', 'undelivered', 'canceled'].includes(status);
