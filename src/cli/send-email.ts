import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { createTransport } from 'nodemailer';
import { SAMPLE_QUESTION, SAMPLE_SENDER } from './banner.ts';
import { runningConfiguration } from './configuration.ts';
import { CommandFailed, UsageError } from './exit-codes.ts';
import { firstInbox } from './first-inbox.ts';
import { shopWith, target, unreachable, withTarget, type TargetOptions } from './send-target.ts';
import { printable, type Terminal } from './terminal.ts';

interface EmailOptions extends TargetOptions {
  readonly from: string;
  readonly to?: string;
  readonly subject: string;
  readonly attach: readonly string[];
}

export function registerSendEmail(parent: Command, terminal: Terminal): void {
  withTarget(parent.command('email'))
    .description('sends an email over SMTP, with STARTTLS when it is offered')
    .argument('<text>', 'the body')
    .option('--from <address>', 'the sender', SAMPLE_SENDER)
    .option('--to <address>', "the recipient (default: the shop's first address)")
    .option('--subject <subject>', 'the subject', SAMPLE_QUESTION)
    .option('--attach <file...>', 'files to attach', [])
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice send email "The lamp is broken" --attach lamp.jpg',
    )
    .action(async (text: string, options: EmailOptions, command: Command) => {
      const config = await runningConfiguration(command, terminal);
      const to = options.to ?? firstInbox(shopWith(config, 'email', options.shop).addresses);
      for (const file of options.attach) await readable(file);
      const where = target(config.smtp, options);
      const transport = createTransport({
        host: where.hostname.replace(/^\[|\]$/g, ''),
        port: Number(where.port || 80),
        lmtp: config.smtp.lmtp,
        name: 'sluice.localhost',
        connectionTimeout: 10_000,
        greetingTimeout: 10_000,
        socketTimeout: 90_000,
        // A test message to our own gateway, whose certificate is self-signed by default.
        tls: { rejectUnauthorized: false },
      });
      try {
        const info = await transport.sendMail({
          from: options.from,
          to,
          subject: options.subject,
          text,
          attachments: options.attach.map((path) => ({ path, filename: basename(path) })),
        });
        terminal.out(`accepted: ${printable(info.response)}\n`);
      } catch (error) {
        throw failure(error, where);
      } finally {
        transport.close();
      }
    });
}

async function readable(file: string): Promise<void> {
  try {
    await access(file);
  } catch (cause) {
    throw new UsageError(`${file} cannot be read`, { cause });
  }
}

function failure(error: unknown, where: URL): Error {
  const response = error instanceof Error && 'response' in error ? error.response : undefined;
  return typeof response === 'string'
    ? new CommandFailed(`refused: ${printable(response)}`, { cause: error })
    : unreachable('SMTP', where, error);
}
