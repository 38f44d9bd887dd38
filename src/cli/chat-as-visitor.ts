import type { Command } from 'commander';
import type { MessageEvent, SessionEvent } from '../channels/chat/events.ts';
import { ChatVisitor, type Uploaded } from '../gateway/sample-messages/chat-visitor.ts';
import { runningConfiguration } from './configuration.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { fileSize } from './file-size.ts';
import { jsonLine } from './json.ts';
import { sendFailure, shopWith, target, type TargetOptions } from './send-target.ts';
import { printable, type Terminal } from './terminal.ts';

export interface ChatOptions extends TargetOptions {
  readonly text?: string;
  readonly file: readonly string[];
  readonly name?: string;
  readonly email?: string;
  /** How many milliseconds to wait for the agent's reply; 0 does not wait. */
  readonly wait: number;
}

/** The result that `--json` prints. */
interface Sent {
  readonly visitorId: string;
  readonly id: string;
  readonly seq: number;
  readonly uploads: readonly Uploaded[];
}

/** `send chat` */
export async function chatAsVisitor(
  argument: string | undefined,
  options: ChatOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const text = textOf(argument, options);
  const config = await runningConfiguration(command, terminal);
  const chat = shopWith(config, 'chat', options.shop);
  const where = target(config.http, options);
  for (const file of options.file) await fileSize(file);
  const visitor = new ChatVisitor(where, chat);
  try {
    const sent = await say(visitor, text, options);
    if (!options.json) terminal.out(`accepted: message ${sent.seq}\n`);
    const reply = await answer(visitor, options.wait).catch((error: unknown) => {
      if (options.json) printJson(terminal, sent, undefined);
      throw error;
    });
    if (options.json) printJson(terminal, sent, reply);
    else if (reply !== undefined) terminal.out(`agent: ${printable(reply.text)}\n`);
  } catch (error) {
    throw sendFailure(error);
  } finally {
    visitor.leave();
  }
}

function textOf(argument: string | undefined, { text, file }: ChatOptions): string {
  if (argument !== undefined && text !== undefined) {
    throw new UsageError('give the message only once: as the argument or with --text');
  }
  const message = argument ?? text ?? '';
  if (message.trim() === '' && file.length === 0) {
    throw new UsageError('nothing to send: give a message, or a file with --file');
  }
  return message;
}

async function say(visitor: ChatVisitor, text: string, options: ChatOptions): Promise<Sent> {
  const session = await visitor.session();
  await assertFits(text, options.file, session);
  const { name, email } = options;
  if (name !== undefined || email !== undefined) {
    await visitor.introduce({
      ...(name !== undefined && { name }),
      ...(email !== undefined && { email }),
    });
  }
  const uploads: Uploaded[] = [];
  for (const file of options.file) uploads.push(await visitor.upload(file, session));
  const sent = await visitor.send(
    text,
    uploads.map(({ id }) => id),
  );
  return { visitorId: session.visitorId, ...sent, uploads };
}

/** Checked before anything is sent, so that a message is never sent incompletely. */
async function assertFits(
  text: string,
  files: readonly string[],
  { limits }: SessionEvent,
): Promise<void> {
  const characters = Array.from(text).length;
  if (characters > limits.text) {
    throw new CommandFailed(
      `the message has ${characters} characters; the limit is ${limits.text}`,
    );
  }
  if (files.length > limits.files) {
    throw new CommandFailed(`${files.length} files; the limit is ${limits.files}`);
  }
  for (const file of files) {
    const size = await fileSize(file);
    if (size === 0) throw new CommandFailed(`${file} is empty`);
    if (size > limits.fileBytes) {
      throw new CommandFailed(`${file} has ${size} bytes; the limit is ${limits.fileBytes}`);
    }
  }
}

async function answer(visitor: ChatVisitor, waitMs: number): Promise<MessageEvent | undefined> {
  return waitMs === 0 ? undefined : visitor.reply(waitMs);
}

function printJson(terminal: Terminal, sent: Sent, reply: MessageEvent | undefined): void {
  terminal.out(jsonLine({ ...sent, reply: reply ?? null }));
}
