import { Argument, Option, type Command } from 'commander';
import { runningConfiguration } from './configuration.ts';
import { bashScript } from './completion/bash.ts';
import { commandTree } from './completion/command-tree.ts';
import { fishScript } from './completion/fish.ts';
import { zshScript } from './completion/zsh.ts';
import { UsageError } from './exit-codes.ts';
import { withSpool } from './open-spool.ts';
import type { Terminal } from './terminal.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SCRIPTS;

interface CompletionOptions {
  readonly values?: 'shop' | 'entry';
}

/** As many as an eye takes in. */
const IDS = 30;

export function registerCompletion(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .description('prints a script that completes this command line in your shell')
    .addArgument(new Argument('[shell]', 'your shell').choices(Object.keys(SCRIPTS)))
    .addOption(
      new Option('--values <kind>', 'what the scripts ask for')
        .choices(['shop', 'entry'])
        .hideHelp(),
    )
    .addHelpText(
      'after',
      '\nThe script completes the command sluice; where it is not installed, make it a name first:\n' +
        '  $ sluice() { node /path/to/dist/main.js "$@"; }\n\nExample:\n' +
        '  $ sluice completion bash > /etc/bash_completion.d/sluice\n' +
        '  $ sluice completion zsh > ~/.zfunc/_sluice\n' +
        '  $ sluice completion fish > ~/.config/fish/completions/sluice.fish',
    )
    .action(async (shell: Shell | undefined, { values }: CompletionOptions, command: Command) => {
      if (values !== undefined) terminal.out(await answers(values, command, terminal));
      else if (shell === undefined) throw new UsageError('give a shell: bash, zsh or fish');
      else terminal.out(SCRIPTS[shell](commandTree(program), program.name()));
    });
}

async function answers(
  kind: 'shop' | 'entry',
  command: Command,
  terminal: Terminal,
): Promise<string> {
  if (kind === 'shop') {
    const { shops } = await runningConfiguration(command, terminal);
    return lines(shops.map(({ name }) => name));
  }
  return withSpool(command, terminal, async ({ spool }) =>
    lines((await spool.list({ limit: IDS })).map(({ id }) => id)),
  );
}

const lines = (words: readonly string[]): string => words.map((word) => `${word}\n`).join('');
