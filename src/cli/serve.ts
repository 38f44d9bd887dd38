import type { Command } from 'commander';
import type { ProcessEvents } from './process-end.ts';
import type { Terminal } from './terminal.ts';

export function registerServe(parent: Command, terminal: Terminal, events: ProcessEvents): void {
  parent
    .command('serve')
    .description('runs the gateway; prints where each channel listens and how to try it')
    .addHelpText(
      'after',
      '\nExample:\n  $ sluice serve --config sluice.yaml\n\n' +
        'SIGHUP takes the configuration up again: shops and keys without a restart.\n' +
        'SIGTERM and Ctrl-C stop it gracefully; a second one at once.',
    )
    .action(async (_options: unknown, command: Command) => {
      const { runGateway } = await import('./run-gateway.ts');
      await runGateway(command, terminal, events);
    });
}
