import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import {
  registerAlerts,
  registerConfigCheck,
  registerConfigHashPassword,
  registerConfigShow,
  registerDoctor,
} from './set-up-commands.ts';
import {
  registerAudit,
  registerBackup,
  registerErase,
  registerExport,
  registerExplain,
  registerIngest,
  registerMigrate,
  registerReload,
  registerShops,
  registerStatus,
} from './store-commands.ts';
import { registerCompletion } from './completion.ts';
import { registerContacts } from './platform/contacts.ts';
import { registerEvents } from './platform/events.ts';
import { registerMedia } from './platform/media.ts';
import { registerMessages } from './platform/messages.ts';
import { registerGet } from './platform/resource-command.ts';
import { registerTickets } from './platform/tickets.ts';
import type { ProcessEvents } from './process-end.ts';
import {
  registerQueueChange,
  registerQueueExport,
  registerQueueList,
  registerQueueShow,
  registerQueueStats,
} from './queue.ts';
import { registerSendChat, registerSendEmail, registerSendSms } from './send.ts';
import type { Terminal } from './terminal.ts';
import { registerTokens } from './token.ts';

const EXIT_CODES = `
Exit codes:
  0  success
  1  the command failed
  2  the command line or the configuration is invalid
  130  interrupted by Ctrl-C`;

/**
 * The command line. Files that register commands import no package but the parser; a command's
 * implementation is imported when it runs. A command that fails throws.
 */
export function createProgram(terminal: Terminal, events: ProcessEvents): Command {
  const program = new Command('sluice')
    .description('Inbound channel gateway: email, SMS and web chat into a support platform')
    .version(version())
    .option(
      '-c, --config <file>',
      'the configuration file, merged with the defaults (or SLUICE_CONFIG)',
    )
    .option('-q, --quiet', 'only results and errors, without progress and explanations')
    .on('option:quiet', () => (terminal.isQuiet = true))
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
    })
    .showHelpAfterError('(see --help for usage)')
    .exitOverride()
    .addHelpText(
      'after',
      `\nThe default command is serve.\n\nExample:\n  $ sluice --config sluice.yaml\n${EXIT_CODES}`,
    );

  registerServe(program, terminal, events);

  const config = program
    .command('config')
    .description('checks and shows the configuration, and hashes passwords');
  config.addHelpText('after', '\nExample:\n  $ sluice config check --config sluice.yaml');
  registerConfigCheck(config, terminal);
  registerConfigShow(config, terminal);
  registerConfigHashPassword(config, terminal);

  registerStatus(program, terminal);
  registerReload(program, terminal);
  registerDoctor(program, terminal);

  const queue = program.command('queue').description('shows and changes the entries of the spool');
  queue.addHelpText('after', '\nExample:\n  $ sluice queue list --state dead');
  registerQueueList(queue, terminal, events);
  registerQueueStats(queue, terminal, events);
  registerQueueShow(queue, terminal);
  registerQueueChange(queue, terminal, events);
  registerQueueExport(queue, terminal, events);

  registerShops(program, terminal, events);
  registerAlerts(program, terminal);
  registerAudit(program, terminal);
  registerTokens(program, terminal);
  registerIngest(program, terminal, events);
  registerExplain(program, terminal);

  const send = program.command('send').description('sends a test message through a gateway');
  send.addHelpText('after', '\nExample:\n  $ sluice send chat "Where is my order?"');
  registerSendEmail(send, terminal);
  registerSendSms(send, terminal);
  registerSendChat(send, terminal);

  registerBackup(program, terminal, events);
  registerErase(program, terminal, events);
  registerExport(program, terminal, events);
  registerMigrate(program, terminal, events);
  registerPlatform(program, terminal);
  registerCompletion(program, terminal);
  return program;
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown';
}

function registerServe(parent: Command, terminal: Terminal, events: ProcessEvents): void {
  parent
    .command('serve')
    .description(
      'runs the gateway; prints where each channel listens and how to try it, unless --quiet',
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice serve --config sluice.yaml\n\n' +
        'SIGHUP reloads the configuration: shops and keys change without a restart.\n' +
        'SIGTERM and Ctrl-C stop it gracefully; a second one stops it at once.',
    )
    .action(async (_options: unknown, command: Command) => {
      const { runGateway } = await import('./run-gateway.ts');
      await runGateway(command, terminal, events);
    });
}

/** The whole platform API on the command line: all 11 operations, for one shop at a time. */
function registerPlatform(program: Command, terminal: Terminal): void {
  const platform = program
    .command('platform')
    .description("the platform's API: tickets, messages, conversations, contacts, events, media");
  platform.addHelpText('after', '\nExample:\n  $ sluice platform tickets list --limit 20');
  registerTickets(platform, terminal);
  registerMessages(platform, terminal);
  registerConversations(platform, terminal);
  registerContacts(platform, terminal);
  registerEvents(platform, terminal);
  registerMedia(platform, terminal);
}

/** API §4.9 */
function registerConversations(parent: Command, terminal: Terminal): void {
  const conversations = parent.command('conversations').description('shows conversations');
  conversations.addHelpText(
    'after',
    '\nExample:\n  $ sluice platform conversations get 0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11',
  );
  registerGet(conversations, terminal, {
    noun: 'conversation',
    get: (client, id) => client.getConversation(id),
  });
}
