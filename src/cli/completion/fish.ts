import { type CommandNode, everyCommand, type OptionNode, type Values } from './command-tree.ts';

/** A script for fish: one `complete` line for each command and each option. */
export function fishScript(program: CommandNode, name: string): string {
  const all = everyCommand(program);
  return `# fish completion for ${name}. Made by: ${name} completion fish
# The commands that stand on the line, without options: "queue list".
function __${name}_path
    set -l path
    for word in (commandline -opc)[2..]
        string match -q -- '-*' $word; and continue
        switch "$path $word"
            case ${all
              .filter(({ path }) => path.length > 0)
              .map(({ path }) => quoted(` ${path.join(' ')}`.replace(/^ (?=\S+ )/, '')))
              .join(' ')}
                set path (string trim "$path $word")
        end
    end
    echo "$path"
end
function __${name}_at
    test (__${name}_path) = "$argv[1]"
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
  ];
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
