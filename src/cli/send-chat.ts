import { randomUUID } from 'node:crypto';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { io, type Socket } from 'socket.io-client';
import {
  CHAT_PATH,
  type ClientToServerEvents,
  type MessageAck,
  type ServerToClientEvents,
} from '../channels/chat/events.ts';
import { parseDuration } from '../config/scalar-fields.ts';
import { SAMPLE_QUESTION } from './banner.ts';
import { runningConfiguration } from './configuration.ts';
import { CommandFailed } from './exit-codes.ts';
import { shopWith, target, unreachable, withTarget, type TargetOptions } from './send-target.ts';
import { printable, type Terminal } from './terminal.ts';

interface ChatOptions extends TargetOptions {
  /** Milliseconds to wait for the agent's reply; 0 does not wait. */
  readonly wait: number;
}

type ChatSocket = Socket<ServerToClientEvents, ClientToServerEvents>;

const CONNECT_TIMEOUT_MS = 10_000;
const ACK_TIMEOUT_MS = 20_000;

export function registerSendChat(parent: Command, terminal: Terminal): void {
  withTarget(parent.command('chat'))
    .description("sends a chat message as a new visitor and prints the agent's reply")
    .argument('<text>', 'the message')
    .addOption(
      new Option('--wait <duration>', 'how long to wait for the reply; 0s does not wait')
        .argParser(wait)
        .default(30_000, '30s'),
    )
    .addHelpText('after', `\nExample:\n  $ sluice send chat "${SAMPLE_QUESTION}"`)
    .action(async (text: string, options: ChatOptions, command: Command) => {
      const config = await runningConfiguration(command, terminal);
      const chat = shopWith(config, 'chat', options.shop);
      const where = target(config.http, options);
      const [origin] = chat.origins;
      const socket: ChatSocket = io(where.href, {
        path: CHAT_PATH,
        auth: { key: chat.key },
        transports: ['websocket'],
        forceNew: true,
        reconnection: false,
        timeout: CONNECT_TIMEOUT_MS,
        ...(!chat.allowNoOrigin && origin !== undefined && { extraHeaders: { origin } }),
      });
      try {
        const reply = firstReply(socket, options.wait);
        await connected(socket, where);
        const seq = await sent(socket, text);
        terminal.out(`accepted: message ${seq}\n`);
        if (options.wait === 0) return;
        terminal.out(`agent: ${printable(await reply.arrived())}\n`);
      } finally {
        socket.disconnect();
      }
    });
}

async function connected(socket: ChatSocket, where: URL): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('session', () => resolve());
    socket.once('connect_error', (error) => reject(handshakeFailure(error, where)));
  });
}

function handshakeFailure(error: Error, where: URL): Error {
  const data = 'data' in error ? error.data : undefined;
  const code = typeof data === 'object' && data !== null && 'code' in data ? data.code : undefined;
  return typeof code === 'string'
    ? new CommandFailed(`refused: ${printable(code)}`, { cause: error })
    : unreachable('chat', where, error);
}

async function sent(socket: ChatSocket, text: string): Promise<number> {
  let ack: MessageAck;
  try {
    const message = { id: randomUUID(), text };
    // The library's types lose what an optional acknowledgement carries.
    ack = (await socket.timeout(ACK_TIMEOUT_MS).emitWithAck('message', message)) as MessageAck;
  } catch (cause) {
    throw new CommandFailed('the gateway did not acknowledge the message', { cause });
  }
  if (ack.ok) return ack.seq;
  const later = ack.retryAfter === undefined ? '' : `; try again in ${ack.retryAfter} s`;
  throw new CommandFailed(`refused: ${printable(ack.error)}${later}`);
}

/** Listens from before the message is sent: the reply may be faster than the acknowledgement. */
function firstReply(socket: ChatSocket, waitMs: number): { arrived(): Promise<string> } {
  const text = new Promise<string>((resolve) => {
    socket.on('message', (message) => {
      if (message.from === 'agent') resolve(message.text);
    });
  });
  return {
    arrived: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => {
          reject(new CommandFailed(`no reply within ${waitMs / 1000} s; the message is accepted`));
        }, waitMs);
      });
      const lost = new Promise<never>((_resolve, reject) => {
        socket.once('disconnect', () => reject(new CommandFailed('the connection was lost')));
      });
      try {
        return await Promise.race([text, late, lost]);
      } finally {
        clearTimeout(timer);
        socket.off('disconnect');
      }
    },
  };
}

function wait(value: string): number {
  const duration = parseDuration(value);
  if (duration === undefined)
    throw new InvalidArgumentError('Expected a duration such as 30s or 2m.');
  return duration;
}
