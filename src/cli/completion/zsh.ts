import { type CommandNode, everyCommand, type OptionNode, type Values } from './command-tree.ts';

/** A completion script for zsh with a function for each command, which uses zsh's `_arguments`. */
export function zshScript(program: CommandNode, name: string): string {
  return `#compdef ${name}
# zsh completion for ${name}. Made by: ${name} completion zsh
_${name}_asked() {
  # The configuration that stands on the command line counts, wherever it stands.
  local -a config found
  local i=\${${name}_line[(I)(-c|--config)]}
  (( i > 0 )) && config=(--config "\${(Q)${name}_line[i + 1]}")
  found=(\${(f)"$(_call_program values \${(q)${name}_line[1]} completion --values $1 \${(q)config} 2>/dev/null)"})
  compadd -a found
}
# After the first value of an option that takes several: its flag, then the values.
_${name}_more() {
  local -a flags=(\${(M)words[1,CURRENT - 1]:#-*})
  [[ "$flags[-1]" = "$1" ]] && compadd -- "\${@[2,-1]}"
}
${everyCommand(program)
  .map((node) => functionOf(node, name))
  .join('\n')}
if [ "$funcstack[1]" = "_${name}" ]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

const functionName = (path: readonly string[], name: string): string =>
  ['', name, ...path].join('_').replaceAll('-', '_');

function functionOf(node: CommandNode, name: string): string {
  const { path, commands, options, argument } = node;
  const specs = options.flatMap((option) => specsOf(option, name));
  const own = functionName(path, name);
  const lines = [...specs];
  if (commands.length > 0) lines.push(`'1: :->command'`, `'*:: :->rest'`);
  else
    lines.push(`'*:${path.at(-1) ?? 'word'}:${restOf(options, name) ?? action(argument, name)}'`);
  // Nested functions see fewer words.
  const whole = path.length === 0 ? `  local -a ${name}_line=("\${words[@]}")\n` : '';
  const head = `${own}() {
${whole}  local curcontext="$curcontext" state line
  _arguments -C \\
    ${lines.join(' \\\n    ')}`;
  if (commands.length === 0) return `${head}\n}`;
  return `${head}
  case "$state" in
    command)
      local -a commands=(
${commands.map(({ path: at, description }) => `        ${quoted(`${at.at(-1) ?? ''}:${plain(description)}`)}`).join('\n')}
      )
      _describe command commands ;;
    rest)
      case "$line[1]" in
${commands.map(({ path: at }) => `        ${at.at(-1) ?? ''}) ${functionName(at, name)} ;;`).join('\n')}
      esac ;;
  esac
}`;
}

function specsOf({ flags, description, value, several }: OptionNode, name: string): string[] {
  const text = `[${plain(description)}]`;
  const takes = value === undefined ? '' : `:value:${action(value, name)}`;
  // In zsh, a star marks an option that may be repeated, which options with several values need. An
  // equals sign allows the value to follow one.
  return flags.map((flag) => {
    const equals = value !== undefined && flag.startsWith('--') ? '=' : '';
    return quoted(`${several ? '*' : ''}${flag}${equals}${text}${takes}`);
  });
}

/** A command has at most one option that takes several known words. */
function restOf(options: readonly OptionNode[], name: string): string | undefined {
  for (const { flags, value, several } of options) {
    if (several && value?.kind === 'words')
      return ` _${name}_more ${flags.at(-1) ?? ''} ${value.words.join(' ')}`;
  }
  return undefined;
}

function action(values: Values, name: string): string {
  switch (values.kind) {
    case 'words':
      return `(${values.words.join(' ')})`;
    case 'file':
      return '_files';
    case 'shop':
    case 'entry':
      // With a leading space, it is called with exactly these arguments.
      return ` _${name}_asked ${values.kind}`;
    case 'anything':
      return ' ';
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Brackets and colons have a meaning in `_arguments`. */
const plain = (text: string): string => text.replace(/[\\[\]:]/g, '\\$&');
