import type { Argument, Command, Option } from 'commander';

/** The possible values of an option or argument: fixed words, or values that the shell looks up. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' | 'shop' | 'entry' | 'anything' };

export interface OptionNode {
  /** `-c` and `--config`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Absent if the option takes no value. */
  readonly value?: Values;
  /** Takes several values, up to the next option. */
  readonly several: boolean;
}

export interface CommandNode {
  /** `['queue', 'list']`; empty for the program itself. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly CommandNode[];
  readonly options: readonly OptionNode[];
  readonly argument: Values;
}

/**
 * The command line for a completion script. The program's options are repeated at every command.
 */
export function commandTree(program: Command): CommandNode {
  return nodeOf(
    program,
    [],
    program.options.filter(isShown).map((option) => optionNode(option, [])),
  );
}

function nodeOf(
  command: Command,
  path: readonly string[],
  everywhere: readonly OptionNode[],
): CommandNode {
  const own =
    path.length === 0
      ? []
      : command.options.filter(isShown).map((option) => optionNode(option, path));
  const help: OptionNode = {
    flags: ['-h', '--help'],
    description: 'shows the usage',
    several: false,
  };
  return {
    path,
    description: command.description(),
    commands: command.commands
      .filter((child) => !isHidden(child))
      .map((child) => nodeOf(child, [...path, child.name()], everywhere)),
    options: [...own, ...everywhere, help],
    argument: valuesOf(command.registeredArguments.at(-1), path),
  };
}

const isShown = ({ hidden }: Option): boolean => !hidden;
/** A private property of the library; a hidden command is left out of its help. */
const isHidden = (command: Command): boolean =>
  command.parent !== null &&
  !command.parent.createHelp().visibleCommands(command.parent).includes(command);

function optionNode(option: Option, path: readonly string[]): OptionNode {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined);
  const takes = option.required || option.optional;
  return {
    flags,
    description: option.description,
    several: option.variadic,
    ...(takes && { value: optionValues(option, path) }),
  };
}

function optionValues({ argChoices, long, flags }: Option, path: readonly string[]): Values {
  if (argChoices !== undefined) return { kind: 'words', words: argChoices };
  if (long === '--shop') return { kind: 'shop' };
  const name = /[<[]([^>\].]+)/.exec(flags)?.[1] ?? '';
  return named(name, path);
}

function valuesOf(argument: Argument | undefined, path: readonly string[]): Values {
  if (argument === undefined) return { kind: 'anything' };
  if (argument.argChoices !== undefined) return { kind: 'words', words: argument.argChoices };
  return named(argument.name(), path);
}

function named(name: string, [first]: readonly string[]): Values {
  if (/^(file|folder|path)s?$/.test(name)) return { kind: 'file' };
  if (name === 'shop') return { kind: 'shop' };
  return name === 'id' && first === 'queue' ? { kind: 'entry' } : { kind: 'anything' };
}

/** The tree as a list, starting with the program. */
export function everyCommand(node: CommandNode): readonly CommandNode[] {
  return [node, ...node.commands.flatMap(everyCommand)];
}
