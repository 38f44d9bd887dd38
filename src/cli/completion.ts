import { Argument, Option, type Command } from 'commander';
import { bashScript } from './completion/bash.ts';
import { commandTree } from './completion/command-tree.ts';
import { fishScript } from './completion/fish.ts';
import { zshScript } from './completion/zsh.ts';
import { UsageError } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SCRIPTS;

interface CompletionOptions {
  readonly values?: 'shop' | 'entry';
}

export function registerCompletion(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .description('prints a script that completes this command line in your shell')
    .addArgument(new Argument('[shell]', 'your shell').choices(Object.keys(SCRIPTS)))
    .addOption(
      new Option('--values <kind>', 'prints the values that the scripts request')
        .choices(['shop', 'entry'])
        .hideHelp(),
    )
    .addHelpText(
      'after',
      '\nThe script completes the command sluice. If it is not installed, define it first:\n' +
        '  $ sluice() { node /path/to/dist/main.js "$@"; }\n\nExample:\n' +
        '  $ sluice completion bash > /etc/bash_completion.d/sluice\n' +
        '  $ sluice completion zsh > ~/.zfunc/_sluice\n' +
        '  $ sluice completion fish > ~/.config/fish/completions/sluice.fish',
    )
    .action(async (shell: Shell | undefined, { values }: CompletionOptions, command: Command) => {
      if (values !== undefined) {
        const { completionValues } = await import('./completion/values.ts');
        terminal.out(await completionValues(values, command, terminal));
      } else if (shell === undefined) throw new UsageError('give a shell: bash, zsh or fish');
      else terminal.out(SCRIPTS[shell](commandTree(program), program.name()));
    });
}
