import { type CommandNode, everyCommand, type OptionNode, type Values } from './command-tree.ts';

/** A completion script for bash 3.2 and later. It asks the program for shops and ids. */
export function bashScript(program: CommandNode, name: string): string {
  const all = everyCommand(program);
  const paths = all.filter(({ path }) => path.length > 0);
  return `# bash completion for ${name}. Made by: ${name} completion bash
_${name}_values() {
  local value
  while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -W "$1" -- "$2")
}
_${name}_asked() {
  # The configuration that stands on the command line counts.
  local i config=()
  for ((i = 1; i < COMP_CWORD - 1; i++)); do
    case "\${COMP_WORDS[i]}" in -c | --config) config=(--config "\${COMP_WORDS[i + 1]}") ;; esac
  done
  _${name}_values "$("\${COMP_WORDS[0]}" completion --values "$1" "\${config[@]}" 2>/dev/null)" "$2"
}
_${name}_files() {
  local value
  compopt -o filenames 2>/dev/null
  while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$1")
}
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" option="" word i
  COMPREPLY=()
  # bash takes --state=dead for three words.
  [ "$current" = "=" ] && current=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$word" in
      =) continue ;;
      -*) option="$word"; continue ;;
    esac
    case "$path:$option" in
${caseOf(
  all.flatMap(({ path, options }) =>
    options.filter(takesOne).map((option) => patternsOf(path, option)),
  ),
)}) option=""; continue ;;
${caseOf(
  all.flatMap(({ path, options }) =>
    options.filter(({ several }) => several).map((option) => patternsOf(path, option)),
  ),
)}) continue ;;
    esac
    option=""
    case "$path/$word" in
${caseOf(paths.map(({ path }) => `/${path.join('/')}`))}) path="$path/$word" ;;
    esac
  done
  case "$path:$option" in
${all
  .flatMap(({ path, options }) =>
    options.flatMap((option) =>
      option.value === undefined
        ? []
        : [
            `    ${patternsOf(path, option)}) ${completed(option.value, name)}${option.several ? ' [[ "$current" != -* ]] && return' : ' return'} ;;`,
          ],
    ),
  )
  .join('\n')}
  esac
  case "$path" in
${all.map((node) => `    ${pattern(node.path)}) ${nodeLine(node, name)} ;;`).join('\n')}
  esac
}
complete -F _${name} ${name}
`;
}

const takesOne = ({ value, several }: OptionNode): boolean => value !== undefined && !several;

const pattern = (path: readonly string[]): string =>
  path.length === 0 ? '""' : `/${path.join('/')}`;

const patternsOf = (path: readonly string[], { flags }: OptionNode): string =>
  flags.map((flag) => `${path.length === 0 ? '' : `/${path.join('/')}`}:${flag}`).join('|');

/** An empty list becomes a pattern that never matches. */
const caseOf = (patterns: readonly string[]): string =>
  `      ${patterns.length === 0 ? '" "' : patterns.join(' | \\\n      ')}`;

function nodeLine({ commands, options, argument }: CommandNode, name: string): string {
  const flags = options.flatMap((option) => option.flags.filter((flag) => flag.startsWith('--')));
  const words = commands.map(({ path }) => path.at(-1) ?? '');
  const rest =
    words.length > 0
      ? `_${name}_values "${words.join(' ')}" "$current"`
      : completed(argument, name);
  return `if [[ "$current" == -* ]]; then _${name}_values "${flags.join(' ')}" "$current"; else ${rest} fi`.replace(
    /(?<!;) fi$/,
    '; fi',
  );
}

/** The statement ends with a semicolon. */
function completed(values: Values, name: string): string {
  switch (values.kind) {
    case 'words':
      return `_${name}_values "${values.words.join(' ')}" "$current";`;
    case 'file':
      return `_${name}_files "$current";`;
    case 'shop':
    case 'entry':
      return `_${name}_asked ${values.kind} "$current";`;
    case 'anything':
      return ':;';
  }
}
