import { type CommandNode, everyCommand, type OptionNode, type Values } from './command-tree.ts';

/** A script for zsh: a function for each command, by zsh's own `_arguments`. */
export function zshScript(program: CommandNode, name: string): string {
  return `#compdef ${name}
# zsh completion for ${name}. Made by: ${name} completion zsh
_${name}_asked() {
  local -a config found
  local i=\${words[(I)(-c|--config)]}
  (( i > 0 )) && config=(--config "\${(Q)words[i + 1]}")
  found=(\${(f)"$(_call_program values \${(q)service} completion --values $1 \${(q)config} 2>/dev/null)"})
  compadd -a found
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
  else lines.push(`'*:${path.at(-1) ?? 'word'}:${action(argument, name)}'`);
  const head = `${own}() {
  local curcontext="$curcontext" state line
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
  // Zsh's star: may be given again, for options that take several.
  return flags.map((flag) => quoted(`${several ? '*' : ''}${flag}${text}${takes}`));
}

function action(values: Values, name: string): string {
  switch (values.kind) {
    case 'words':
      return `(${values.words.join(' ')})`;
    case 'file':
      return '_files';
    case 'shop':
    case 'entry':
      return `_${name}_asked ${values.kind}`;
    case 'anything':
      return ' ';
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Brackets and colons mean something to `_arguments`. */
const plain = (text: string): string => text.replace(/[\\[\]:]/g, '\\$&');
