import cluster from 'node:cluster';
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

export interface NaiveBridgeOptions {
  readonly platformUrl: string;
  readonly processes: number;
}

/**
 * A minimal bridge: receive, parse, upload, submit, answer. Each library with its defaults, nothing
 * on disk, no retries. In one process, or in several that share a port.
 */
export async function start({ platformUrl, processes }: NaiveBridgeOptions) {
  const port = processes > 1 ? await share(platformUrl, processes) : await serve(platformUrl);
  return { port: () => port };
}

/** Starts this module in processes of its own, among which node distributes the connections in turn. */
async function share(platformUrl: string, processes: number): Promise<number> {
  const options: NaiveBridgeOptions = { platformUrl, processes: 1 };
  // The program of this process, part-main.ts, as if it had been asked for one bridge.
  cluster.setupPrimary({ args: [import.meta.url, JSON.stringify([options])] });
  const ports = Array.from({ length: processes }, async () => {
    // A worker emits its address when it listens.
    const [{ port }] = (await once(cluster.fork(), 'listening')) as [{ readonly port: number }];
    return port;
  });
  const [port = 0] = await Promise.all(ports);
  return port;
}

async function serve(platformUrl: string): Promise<number> {
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
  return typeof address === 'object' && address !== null ? address.port : 0;
}
