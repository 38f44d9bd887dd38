import { createTransport } from 'nodemailer';
import { ChatClient } from '../../support/chat-client.ts';
import { ends } from '../../support/ends.ts';
import { CHAT_KEY, INBOX } from '../../support/gateway-config.ts';
import type { RunningGateway } from '../../support/running-gateway.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';

/** One email through the SMTP port. */
export async function sendEmail(
  { smtpPort }: RunningGateway,
  subject: string,
  to = INBOX,
): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: smtpPort,
    tls: { rejectUnauthorized: false },
  });
  ends(() => transport.close());
  await transport.sendMail({
    from: 'Carla <carla@customer.example>',
    to,
    subject,
    text: 'Where is my parcel?',
  });
}

/** One text through the webhook, signed. */
export async function sendText({ httpUrl }: RunningGateway, name: string): Promise<void> {
  await sendSms(httpUrl, { MessageSid: sidOf(name), Body: `A text called ${name}` });
}

/** One line of a new visitor's chat. */
export async function sendChat({ httpUrl }: RunningGateway, text: string): Promise<void> {
  const visitor = await ChatClient.connect({ url: httpUrl, auth: { key: CHAT_KEY } });
  ends(() => visitor.close());
  await visitor.send(text);
}
