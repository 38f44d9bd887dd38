import { ChatClient } from './chat-client.ts';
import { ends } from './ends.ts';
import {
  CHAT_KEY,
  type ConfigChoices,
  freePorts,
  INBOX,
  ownLoopbackAddress,
  type Ports,
} from './gateway-config.ts';
import { GatewayProcess, type ProcessChoices } from './gateway-process.ts';
import { PlatformFront } from './platform-front.ts';
import { writeConfig } from './running-gateway.ts';
import { SmtpClient } from './smtp-client.ts';
import { tempDir } from './temp-dir.ts';

/** What a gateway in a process of its own needs, so that it can end and be started again. */
export interface GatewaySetting {
  readonly dataDir: string;
  readonly platform: PlatformFront;
  readonly httpUrl: string;
  readonly host: string;
  readonly ports: Ports;
  /** Starts the gateway, on the same folder and ports each time, and waits until it is ready. */
  readonly start: (
    how?: Pick<ProcessChoices, 'env' | 'wrapper' | 'program'>,
  ) => Promise<GatewayProcess>;
  /** A mail client that has been greeted. */
  readonly greeted: () => Promise<SmtpClient>;
  /** A new visitor, whose tab comes back by itself. */
  readonly chat: () => Promise<ChatClient>;
}

/** Everything ends with the test. */
export async function gatewaySetting(
  choices: Partial<ConfigChoices> = {},
): Promise<GatewaySetting> {
  const dir = tempDir();
  ends(() => dir.remove());
  const platform = new PlatformFront({ dir: dir.path });
  ends(() => platform.stop());
  await platform.start();
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const dataDir = dir.path;
  const configFile = writeConfig({ dataDir, platformUrl: platform.url, host, ports, ...choices });
  const httpUrl = `http://${host}:${ports.http}`;
  return {
    ...{ dataDir, platform, httpUrl, host, ports },
    start: async (how = {}) => {
      const process: ProcessChoices = { configFile, host, ports, ...how };
      const gateway = new GatewayProcess(process);
      ends(() => gateway.kill());
      await gateway.ready(process);
      return gateway;
    },
    greeted: async () => {
      const client = await SmtpClient.connect(ports.smtp, '127.0.0.1', host);
      ends(() => client.destroy());
      await client.reply();
      return client;
    },
    chat: async () => {
      const client = new ChatClient({ url: httpUrl, auth: { key: CHAT_KEY }, reconnect: true });
      ends(() => client.close());
      await client.open();
      return client;
    },
  };
}

/** A message without its final dot. */
export const anEmail = (id: string, text: string): string =>
  [
    'From: Ann <ann@example.com>',
    `To: ${INBOX}`,
    `Message-ID: <${id}@example.com>`,
    'Subject: Order',
    '',
    text,
  ].join('\r\n');

/** Sends one message and answers the reply to its final dot. */
export async function sendEmail(client: SmtpClient, id: string, text = id): Promise<string> {
  const commands = [
    'EHLO client.example',
    'MAIL FROM:<ann@example.com>',
    `RCPT TO:<${INBOX}>`,
    'DATA',
  ];
  for (const command of commands) {
    const answer = await client.say(command);
    // A disk can fill up between two messages: MAIL FROM is refused then.
    if (/^[45]/.test(answer)) return answer;
  }
  client.send(anEmail(id, text));
  return client.say('\r\n.');
}
