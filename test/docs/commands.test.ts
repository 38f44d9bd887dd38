import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { z } from 'zod';
import { createProgram } from '../../src/cli/program.ts';
import { captureTerminal } from '../support/capture-terminal.ts';
import { pages } from './pages.ts';

const scripts = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8'))).scripts;

interface Line {
  readonly where: string;
  readonly words: readonly string[];
}

/** The command lines in the pages' shell blocks: a \ at the end continues one. */
const lines: Line[] = pages().flatMap(({ file, blocks }) =>
  blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text, line }) =>
      text
        .replaceAll(/\\\n\s*/g, ' ')
        .split('\n')
        .flatMap((command) => command.split(/\s(?:&&|\|\||\||;)\s/))
        .map((command) => ({ where: `${file}:${line}`, words: wordsOf(command) })),
    ),
);

/** Good enough for what stands in a page: quotes group, a comment ends the line. */
function wordsOf(command: string): string[] {
  const bare = command.replace(/(?:^|\s)#.*$/, '').trim();
  return [...bare.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replaceAll(/^["']|["']$/g, ''),
  );
}

/** The arguments of a call of the program, however it is written. */
function programArguments(words: readonly string[]): readonly string[] | undefined {
  const at = words.findIndex((word) => word === 'sluice' || word.endsWith('dist/main.js'));
  const isName = words[at] !== 'sluice' || at === 0 || words[at - 1] === 'npx';
  return at >= 0 && isName ? words.slice(at + 1) : undefined;
}

function mistakeIn(program: Command, words: readonly string[]): string | undefined {
  let command = program;
  let isOperand = false;
  for (const word of words) {
    if (/^[<>&]|^\d?>/.test(word)) return undefined;
    if (word.startsWith('-') && word !== '-' && word !== '--') {
      const flag = word.split('=', 1)[0] ?? word;
      if (flag === '--help' || flag === '-h' || flag === '--version') continue;
      const known = ancestry(command).flatMap(({ options }) =>
        options.flatMap(({ short, long }) => [short, long]),
      );
      if (!known.includes(flag)) return `${command.name()} has no ${flag}`;
      continue;
    }
    const next = command.commands.find((child) => child.name() === word);
    if (next !== undefined && !isOperand) command = next;
    else if (command.commands.length > 0 && !isOperand && word !== program.name()) {
      const takesValue = words[words.indexOf(word) - 1]?.startsWith('-') === true;
      if (!takesValue) return `${command.name()} has no command ${word}`;
    } else isOperand = true;
  }
  return undefined;
}

const ancestry = (command: Command): Command[] =>
  command.parent === null ? [command] : [command, ...ancestry(command.parent)];

const program = createProgram(captureTerminal(), process);

test('calls of the program name commands and options that it has', () => {
  const calls = lines.flatMap(({ where, words }) => {
    const args = programArguments(words);
    return args === undefined ? [] : [{ where, args }];
  });
  expect(calls.length).toBeGreaterThan(10);
  const mistakes = calls.flatMap(({ where, args }) => {
    const mistake = mistakeIn(program, args);
    return mistake === undefined ? [] : [`${where}: ${mistake}`];
  });
  expect(mistakes).toEqual([]);
});

test('npm scripts and files that are run are there', () => {
  const missing = lines.flatMap(({ where, words: [tool, verb, name] }) => {
    if (tool === 'npm' && verb === 'run' && name !== undefined) {
      return name in scripts ? [] : [`${where}: npm run ${name}`];
    }
    if (tool === 'node' && verb?.startsWith('scripts/') === true) {
      return existsSync(verb) ? [] : [`${where}: ${verb}`];
    }
    return [];
  });
  expect(missing).toEqual([]);
});
