import type { Command } from 'commander';
import { sendEmail } from '../gateway/sample-messages/email.ts';
import { firstInbox } from '../gateway/sample-messages/first-inbox.ts';
import { runningConfiguration } from './configuration.ts';
import { fileSize } from './file-size.ts';
import { sendFailure, shopWith, target, type TargetOptions } from './send-target.ts';
import { printable, type Terminal } from './terminal.ts';

export interface EmailOptions extends TargetOptions {
  readonly from: string;
  readonly to?: string;
  readonly subject: string;
  readonly attach: readonly string[];
}

/** `send email` */
export async function sendSampleEmail(
  text: string,
  options: EmailOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  const config = await runningConfiguration(command, terminal);
  const to = options.to ?? firstInbox(shopWith(config, 'email', options.shop).addresses);
  for (const file of options.attach) await fileSize(file);
  const where = target(config.smtp, options);
  try {
    const { from, subject, attach } = options;
    const { lmtp } = config.smtp;
    const sent = await sendEmail({ where, lmtp, from, to, subject, text, attach });
    terminal.out(`accepted: ${printable(sent.response)}\n`);
  } catch (error) {
    throw sendFailure(error);
  }
}
