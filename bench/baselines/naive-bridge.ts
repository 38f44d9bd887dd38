import { once } from 'node:events';
import type { Readable } from 'node:stream';
import axios from 'axios';
import FormData from 'form-data';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { z } from 'zod';
import { SHOP } from '../support/shop.ts';
import { BENCH_DOMAIN } from '../support/smtp-source.ts';

const mediaAnswer = z.object({ id: z.string() });

/**
 * A minimal bridge: receive, parse, upload, submit, answer. One process, each library with its
 * defaults, nothing on disk, no retries.
 */
export async function start({ platformUrl }: { readonly platformUrl: string }) {
  const headers = { Authorization: `Bearer ${SHOP.apiKey}`, 'X-Shop-Id': SHOP.shopId };

  const upload = async (name: string, content: Buffer): Promise<string> => {
    const form = new FormData();
    form.append('permission', 'private');
    form.append('file', content, { filename: name });
    const { data } = await axios.post<unknown>(`${platformUrl}/v2026-04/media/`, form, {
      headers: { ...headers, ...form.getHeaders() },
    });
    return mediaAnswer.parse(data).id;
  };

  const bridge = async (stream: Readable): Promise<void> => {
    const mail = await simpleParser(stream);
    const attachments: string[] = [];
    for (const { filename, content } of mail.attachments) {
      attachments.push(await upload(filename ?? 'file', content));
    }
    const [from] = mail.from?.value ?? [];
    const body = {
      contact: { email: from?.address, name: from?.name },
      conversation: {
        direction: 'inbound',
        type: 'email',
        agent_contact: `support@${BENCH_DOMAIN}`,
      },
      message: {
        content: mail.text ?? '',
        format: 'TEXT',
        attachments,
        remote_id: mail.messageId,
        timestamp: mail.date?.toISOString(),
        email: { subject: mail.subject, in_reply_to: mail.inReplyTo },
      },
    };
    await axios.post(`${platformUrl}/v2026-04/messages/`, body, { headers });
  };

  const server = new SMTPServer({
    authOptional: true,
    onData(stream, _session, callback) {
      bridge(stream).then(
        () => callback(),
        (error: unknown) => callback(error instanceof Error ? error : new Error('failed')),
      );
    },
  });
  server.on('error', () => undefined);
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port: () => port };
}
