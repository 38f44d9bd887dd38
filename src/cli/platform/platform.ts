import type { Command } from 'commander';
import type { Terminal } from '../terminal.ts';
import { registerContacts } from './contacts.ts';
import { registerEvents } from './events.ts';
import { registerMedia } from './media.ts';
import { registerMessages } from './messages.ts';
import { registerTickets } from './tickets.ts';
import { registerGet } from './resource-command.ts';

/** The whole platform API on the command line: all 11 operations, for one shop at a time. */
export function registerPlatform(program: Command, terminal: Terminal): void {
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
