import { Argument, type Command, type Option } from 'commander';
import { UsageError } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** Printed instead of words where the shell completes the names of files itself. */
const FILES = ':files';

/**
 * The scripts only pass on the words that are typed; `complete` says what may follow, so an
 * installed script stays right when the commands change.
 */
const SCRIPTS = {
  /** For bash 3.2 and later. */
  bash: (name: string) => `# bash completion for ${name}. Made by: ${name} completion bash
_${name}() {
  local typed="\${COMP_WORDS[COMP_CWORD]}" offer
  COMPREPLY=()
  while IFS= read -r offer; do
    if [ "$offer" = ${FILES} ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r offer; do COMPREPLY+=("$offer"); done < <(compgen -f -- "$typed")
    else
      COMPREPLY+=("\${offer%%$'\\t'*}")
    fi
  done < <("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _${name} ${name}
`,
  zsh: (name: string) => `#compdef ${name}
# zsh completion for ${name}. Made by: ${name} completion zsh
_${name}() {
  local -a typed offers
  typed=("\${(@Q)words[2,CURRENT-1]}" "$PREFIX")
  offers=("\${(@f)$(_call_program offers \${(q)words[1]} complete -- "\${(@q)typed}" 2>/dev/null)}")
  if [[ "$offers[1]" = ${FILES} ]]; then
    _files
  else
    # The program ends a word with a tab, _describe with a colon.
    offers=("\${(@)\${(@)\${(@)offers:#}//:/\\\\:}/$'\\t'/:}")
    _describe value offers
  fi
}
if [ "$funcstack[1]" = "_${name}" ]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`,
  fish: (name: string) => `# fish completion for ${name}. Made by: ${name} completion fish
function __${name}_offers
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l offers ($words[1] complete -- $words[2..] "$typed" 2>/dev/null)
    if test "$offers[1]" = ${FILES}
        __fish_complete_path "$typed"
    else if set -q offers[1]
        printf '%s\\n' $offers
    end
end
complete -c ${name} -f -a '(__${name}_offers)'
`,
} as const;

type Shell = keyof typeof SCRIPTS;

export function registerCompletion(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .description('prints a script that completes this command line in your shell')
    .addArgument(new Argument('[shell]', 'your shell').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      '\nThe script completes the command sluice. If it is not installed, define it first:\n' +
        '  $ sluice() { node /path/to/dist/main.js "$@"; }\n\nExample:\n' +
        '  $ sluice completion bash > /etc/bash_completion.d/sluice\n' +
        '  $ sluice completion zsh > ~/.zfunc/_sluice\n' +
        '  $ sluice completion fish > ~/.config/fish/completions/sluice.fish',
    )
    .action((shell: Shell | undefined) => {
      if (shell === undefined) throw new UsageError('give a shell: bash, zsh or fish');
      terminal.out(SCRIPTS[shell](program.name()));
    });
  program
    .command('complete', { hidden: true })
    .description('prints what may follow these words, for the scripts')
    .argument('[words...]', 'the last one is being typed')
    .action(async (words: string[]) => {
      terminal.out(await completeWords(words, program, terminal));
    });
}

/** The number of entries whose ids are offered. */
const IDS = 30;

/** A word that may follow, with what it is for. */
type Offer = readonly [word: string, about?: string];

/** Where in a command line a word is typed. */
interface Place {
  readonly command: Command;
  /** The option whose value is typed, if any. */
  readonly option: Option | undefined;
}

/**
 * What a Tab offers: a line for each word that may be typed there, with a tab and its description;
 * or `FILES` alone.
 * @param line the words after the program's name; the last one is being typed
 */
async function completeWords(
  line: readonly string[],
  program: Command,
  terminal: Terminal,
): Promise<string> {
  const words = line
    .slice(0, -1)
    .flatMap((word) => /^(--[\w-]+)=(.*)$/s.exec(word)?.slice(1) ?? word);
  const [, before = '', last = ''] = /^(--[\w-]+=)?(.*)$/s.exec(line.at(-1) ?? '') ?? [];
  // bash takes --state=dead for three words.
  const typed = last === '=' ? '' : last;
  const place = placeAfter([...words, ...(before === '' ? [] : [before.slice(0, -1)])], program);
  const offers = await offersAt(place, typed, program, terminal);
  if (offers === FILES) return `${FILES}\n`;
  return offers
    .filter(([word]) => word.startsWith(typed))
    .map(([word, about = '']) => `${before}${word}\t${about}\n`)
    .join('');
}

/** Keeps the file of `--config` as the program's option, for what is read from it. */
function placeAfter(words: readonly string[], program: Command): Place {
  let command = program;
  let option: Option | undefined;
  for (const word of words) {
    if (word === '=') continue;
    if (word.startsWith('-')) {
      option = [...command.options, ...program.options].find(
        ({ short, long, required, optional }) =>
          [short, long].includes(word) && (required || optional),
      );
    } else if (option !== undefined) {
      if (option.long === '--config') program.setOptionValue('config', word);
      if (!option.variadic) option = undefined;
    } else {
      command = subcommands(command).find((each) => each.name() === word) ?? command;
    }
  }
  return { command, option };
}

/** Those that are shown in the help, without `help` itself. */
const subcommands = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => command.commands.includes(each));

async function offersAt(
  { command, option }: Place,
  typed: string,
  program: Command,
  terminal: Terminal,
): Promise<readonly Offer[] | typeof FILES> {
  const isFlag = typed.startsWith('-');
  // A word that begins with `-` ends the values of a variadic option.
  if (option !== undefined && !(option.variadic && isFlag)) {
    return valuesOf(option, option.flags, command, program, terminal);
  }
  if (isFlag) {
    const help = command.createHelp();
    const flags = [...help.visibleGlobalOptions(command), ...help.visibleOptions(command)];
    // A command may repeat an option of the one above it.
    return [...new Map(flags.map(({ long = '', description }) => [long, description]))];
  }
  const below = subcommands(command);
  if (below.length > 0) return below.map((each) => [each.name(), each.description()]);
  const argument = command.registeredArguments.at(-1);
  return argument === undefined
    ? []
    : valuesOf(argument, `<${argument.name()}>`, command, program, terminal);
}

/** @param form the name of the value in brackets: `--shop <name>` */
async function valuesOf(
  { argChoices }: Option | Argument,
  form: string,
  { parent }: Command,
  program: Command,
  terminal: Terminal,
): Promise<readonly Offer[] | typeof FILES> {
  if (argChoices !== undefined) return argChoices.map((word) => [word]);
  const [, name = ''] = /[<[]([^>\].]+)/.exec(form) ?? [];
  if (/^(?:file|folder|path)s?$/.test(name)) return FILES;
  if (name === 'shop' || form.startsWith('--shop ')) {
    const { runningConfiguration } = await import('./configuration.ts');
    return (await runningConfiguration(program, terminal)).shops.map((shop) => [shop.name]);
  }
  const { withSpool } = await import('./open-spool.ts');
  if (name === 'token') {
    return withSpool(program, terminal, async ({ apiTokens }) =>
      (await apiTokens.apiTokens()).map((token) => [token.name]),
    );
  }
  if (name !== 'id' || parent?.name() !== 'queue') return [];
  return withSpool(program, terminal, async ({ spool }) =>
    (await spool.list({ limit: IDS })).map(({ id }) => [id]),
  );
}
