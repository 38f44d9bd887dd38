import { sendSms, sidOf } from '../../test/support/sms-sender.ts';
import { markerOf } from './ledger.ts';
import { pause, type Traffic, waitToRetry } from './traffic.ts';

/** Twilio tries for some seconds, retries once, and then gives up. */
const RETRY_AFTER_MS = 1500;

/** One person's phone. A text message that Twilio could not deliver in two tries may be lost. */
export async function sendTexts(httpUrl: string, lane: string, traffic: Traffic): Promise<void> {
  const From = `+1415555${lane.replace(/\D/g, '').padStart(4, '0')}`;
  for (let nth = 0; !traffic.stopped.aborted; nth += 1) {
    const marker = markerOf(lane, nth);
    const MessageSid = sidOf(marker);
    const sent = traffic.ledger.add({
      ...{ channel: 'sms', lane, nth, marker, remoteId: MessageSid, files: [] },
    });
    const Body = `Where is my order? ${marker}`;
    for (let tries = 0; tries < 2 && !sent.acknowledged; tries += 1) {
      if (tries > 0) await waitToRetry(traffic, RETRY_AFTER_MS);
      sent.tries += 1;
      sent.acknowledged = await isAccepted(httpUrl, { MessageSid, From, Body });
    }
    await pause(traffic);
  }
}

async function isAccepted(
  httpUrl: string,
  text: { MessageSid: string; From: string; Body: string },
): Promise<boolean> {
  try {
    const { status, body } = await sendSms(httpUrl, text);
    return status === 200 && body.includes('<Response/>');
  } catch {
    return false;
  }
}
