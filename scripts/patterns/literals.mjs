// The regular expressions that a TypeScript file writes, and those that it composes when it is loaded.
import ts from 'typescript';
import '../ts-loader.mjs';

/**
 * @param path for the place of each
 * @param text of the file
 * @returns for each literal and each call of `RegExp`: `source` (undefined for a call), `flags`, `line`,
 *   and `uses`, the texts of the functions that use it, each up to the end of the statement that does
 */
export function patternsIn(path, text) {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  const found = [];
  const note = (node, source, flags) => {
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    found.push({ path, line, source, flags, uses: usesOf(file, node) });
  };
  const visit = (node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      note(node, node.text.slice(1, end), node.text.slice(end + 1));
    } else if (isConstructor(node) && !isCopy(file, node)) note(node, undefined, '');
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/**
 * Loads files and hears what they compose.
 * @param files absolute paths
 * @param use composes what no file composes when it is loaded
 * @returns by `path:line` of the call of `RegExp`: the sources and flags
 */
export async function composedBy(files, use) {
  const composed = new Map();
  const Original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(Original, {
    construct(target, args) {
      const pattern = Reflect.construct(target, args);
      const caller = new Error('the caller').stack.split('\n')[2] ?? '';
      const [, place] = caller.match(/(\/src\/[^:]+:\d+):\d+\)?$/) ?? [];
      if (place !== undefined) {
        const { source, flags } = pattern;
        composed.set(place.slice(1), [...(composed.get(place.slice(1)) ?? []), { source, flags }]);
      }
      return pattern;
    },
  });
  try {
    for (const file of files) await import(file);
    await use();
  } finally {
    globalThis.RegExp = Original;
  }
  return composed;
}

const isConstructor = (node) =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp';

/** `new RegExp(PATTERN)` of a constant of the file, which has a `lastIndex` of its own. */
function isCopy(file, { arguments: args }) {
  const declared = file.statements
    .filter((statement) => ts.isVariableStatement(statement))
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .find(({ name }) => name.getText() === args[0].getText());
  const value = declared?.initializer;
  return value !== undefined && (ts.isRegularExpressionLiteral(value) || isConstructor(value));
}

/** A constant of the module is used where its name is; one that is exported, nobody knows where. */
function usesOf(file, node) {
  if (functionAround(node) !== undefined) return [textBefore(node)];
  const statement = outermost(node);
  const exported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
  if (!ts.isVariableStatement(statement) || exported) return [];
  const names = new Set(statement.declarationList.declarations.map(({ name }) => name.getText()));
  const uses = [];
  const visit = (inner) => {
    if (ts.isIdentifier(inner) && names.has(inner.text) && outermost(inner) !== statement) {
      uses.push(textBefore(inner));
    }
    ts.forEachChild(inner, visit);
  };
  visit(file);
  return uses;
}

/** The text of the function around a node up to the end of the node's statement. */
function textBefore(node) {
  const around = functionAround(node);
  if (around === undefined) return '';
  let statement = node;
  while (statement !== around && !ts.isStatement(statement)) statement = statement.parent;
  return node.getSourceFile().text.slice(around.getStart(), statement.end);
}

/** The outermost function around a node: a callback belongs to the function that it stands in. */
function functionAround(node) {
  let found;
  for (let at = node.parent; at !== undefined; at = at.parent) {
    if (ts.isFunctionLike(at)) found = at;
  }
  return found;
}

function outermost(node) {
  let at = node;
  while (!ts.isSourceFile(at.parent)) at = at.parent;
  return at;
}
