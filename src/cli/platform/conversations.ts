import type { Command } from 'commander';
import type { Terminal } from '../terminal.ts';
import { registerGet } from './get.ts';

/** API §4.9 */
export function registerConversations(parent: Command, terminal: Terminal): void {
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
