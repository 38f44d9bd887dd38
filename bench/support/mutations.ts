import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Dice } from '../../test/support/dice.ts';

/** One place of a source file that says something else. */
export interface Mutation {
  readonly file: string;
  /** From 1 on. */
  readonly line: number;
  readonly start: number;
  readonly from: string;
  readonly to: string;
}

const OPPOSITES: Readonly<Record<string, string>> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===' },
  ...{ '&&': '||', '||': '&&', '??': '&&', '+': '-', '-': '+', '*': '/' },
};

/** Every comparison, sum, number, boolean and negation, and every call whose answer nobody uses. */
export function mutationsIn(root: string, file: string): Mutation[] {
  const text = readFileSync(join(root, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const add = (start: number, end: number, to: string): void => {
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ file, line, start, from: text.slice(start, end), to });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const { operatorToken: operator } = node;
      const to = OPPOSITES[operator.getText()];
      const isText = [node.left, node.right].some(
        (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
      );
      if (to !== undefined && !isText) add(operator.getStart(), operator.end, to);
    } else if (ts.isNumericLiteral(node)) add(node.getStart(), node.end, `(${node.text} + 1)`);
    else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node.getStart(), node.end, 'false');
    else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node.getStart(), node.end, 'true');
    else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      add(node.getStart(), node.operand.getStart(), '');
    } else if (
      ts.isExpressionStatement(node) &&
      (ts.isCallExpression(node.expression) || ts.isAwaitExpression(node.expression))
    ) {
      add(node.getStart(), node.end, ';');
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** All of them in an order that the dice give. */
export function shuffled<T>(all: readonly T[], dice: Dice): T[] {
  const order = [...all];
  for (let n = order.length - 1; n > 0; n -= 1) {
    const other = dice.below(n + 1);
    const [one, two] = [order[n], order[other]];
    if (one !== undefined && two !== undefined) [order[n], order[other]] = [two, one];
  }
  return order;
}
