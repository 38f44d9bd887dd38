/** Beyond this many comparisons the two differ too much for a diff to tell anything. */
const MAX_COMPARISONS = 4_000_000;

/**
 * The difference of two texts for a person: lines that went with `-`, lines that came with `+`,
 * and `context` lines around each. Empty when the two are the same.
 */
export function lineDiff(before: string, after: string, context = 2): readonly string[] {
  if (before === after) return [];
  return aroundChanges(changes(before.split('\n'), after.split('\n')), context);
}

function changes(before: readonly string[], after: readonly string[]): readonly string[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start])
    start += 1;
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  return [
    ...before.slice(0, start).map((line) => `  ${line}`),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map((line) => `  ${line}`),
  ];
}

/** The longest common subsequence tells what stayed. */
function middle(before: readonly string[], after: readonly string[]): readonly string[] {
  if (before.length * after.length > MAX_COMPARISONS) {
    return [...before.map((line) => `- ${line}`), ...after.map((line) => `+ ${line}`)];
  }
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const out: string[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const [went, came] = [before[row], after[column]];
    if (went !== undefined && went === came) {
      out.push(`  ${went}`);
      row += 1;
      column += 1;
    } else if (
      came === undefined ||
      (went !== undefined && at(row + 1, column) >= at(row, column + 1))
    ) {
      out.push(`- ${went ?? ''}`);
      row += 1;
    } else {
      out.push(`+ ${came}`);
      column += 1;
    }
  }
  return out;
}

function aroundChanges(lines: readonly string[], context: number): readonly string[] {
  const out: string[] = [];
  let shownTo = 0;
  lines.forEach((line, index) => {
    if (line.startsWith('  ')) return;
    const from = Math.max(index - context, shownTo);
    if (from > shownTo) out.push('  …');
    const to = Math.min(index + context + 1, lines.length);
    if (to > shownTo) out.push(...lines.slice(from, to));
    shownTo = Math.max(shownTo, to);
  });
  if (shownTo < lines.length) out.push('  …');
  return out;
}
