import { type CommandNode, everyCommand, type OptionNode, type Values } from './command-tree.ts';

/** A completion script for fish: one `complete` line for each command and each option. */
export function fishScript(program: CommandNode, name: string): string {
  const all = everyCommand(program);
  return `# fish completion for ${name}. Made by: ${name} completion fish
# The commands that stand on the line, without options: "queue list".
function __${name}_path
    set -l path
    set -l skipped
    for word in (commandline -opc)[2..]
        if set -q skipped[1]
            set skipped
            continue
        end
        if string match -q -- '-*' $word
            contains -- $word ${oneValueFlags(all).join(' ')}
            and set skipped $word
            continue
        end
        switch (string trim "$path $word")
            case ${all
              .filter(({ path }) => path.length > 0)
              .map(({ path }) => quoted(path.join(' ')))
              .join(' ')}
                set path (string trim "$path $word")
        end
    end
    echo "$path"
end
function __${name}_at
    test (__${name}_path) = "$argv[1]"
end
# Behind the first value of an option that takes several.
function __${name}_more
    set -l flags (string match -- '-*' (commandline -opc))
    __${name}_at $argv[1]; and test "$flags[-1]" = "$argv[2]"
end
function __${name}_asked
    set -l words (commandline -opc)
    set -l config
    if set -l i (contains -i -- --config $words; or contains -i -- -c $words)
        set config --config $words[(math $i + 1)]
    end
    $words[1] completion --values $argv[1] $config 2>/dev/null
end
complete -c ${name} -f
${all.flatMap((node) => linesOf(node, name)).join('\n')}
`;
}

function linesOf({ path, commands, options, argument }: CommandNode, name: string): string[] {
  const at = `complete -c ${name} -n ${quoted(`__${name}_at ${quoted(path.join(' '), '"')}`)}`;
  const own = commands.map(
    ({ path: child, description }) =>
      `${at} -a ${quoted(child.at(-1) ?? '')} -d ${quoted(description)}`,
  );
  const values = valuesOf(argument, name);
  return [
    ...own,
    ...(commands.length > 0 || values === '' ? [] : [`${at} ${values}`]),
    ...options.map((option) => `${at} ${optionOf(option, name)}`),
    ...options.flatMap((option) => moreOf(path, option, name)),
  ];
}

function moreOf(path: readonly string[], option: OptionNode, name: string): string[] {
  const { several, value, flags } = option;
  if (!several || value?.kind !== 'words') return [];
  const behind = `__${name}_more ${quoted(path.join(' '), '"')} ${flags.at(-1) ?? ''}`;
  return [`complete -c ${name} -n ${quoted(behind)} ${valuesOf(value, name)}`];
}

/** Flags whose next word is their value, at any position. */
function oneValueFlags(all: readonly CommandNode[]): string[] {
  const options = all.flatMap((node) => node.options);
  const others = options.filter(({ value, several }) => value === undefined || several);
  const not = new Set(others.flatMap(({ flags }) => flags));
  return [...new Set(options.flatMap(({ flags }) => flags))].filter((flag) => !not.has(flag));
}

function optionOf({ flags, description, value }: OptionNode, name: string): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
  );
  const takes = value === undefined ? [] : ['-x', valuesOf(value, name)];
  return [...names, ...takes, '-d', quoted(description)].filter((part) => part !== '').join(' ');
}

function valuesOf(values: Values, name: string): string {
  switch (values.kind) {
    case 'words':
      return `-a ${quoted(values.words.join(' '))}`;
    case 'file':
      return "-a '(__fish_complete_path)'";
    case 'shop':
    case 'entry':
      return `-a ${quoted(`(__${name}_asked ${values.kind})`)}`;
    case 'anything':
      return '';
  }
}

const quoted = (text: string, mark: "'" | '"' = "'"): string =>
  mark +
  text.replace(/[\\'"]/g, (each) => (each === mark || each === '\\' ? `\\${each}` : each)) +
  mark;
