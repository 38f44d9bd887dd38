// Whether a regular expression takes linear time, as recheck decides it.
process.env.RECHECK_SYNC_BACKEND = 'pure';
const { checkSync } = await import('recheck');

const TIMEOUT_MS = 3000;
/** For the form that takes longer; also on a busy machine. */
const SLOWER_TIMEOUT_MS = 15_000;

/**
 * recheck runs out of time on a bound such as `{1,255}` and on a long list of words that ignores case. A
 * pattern that it leaves undecided is asked for again in a form that takes at least as long: without the
 * bounds, in lower case, without short lookarounds, and with a character behind it, instead of the end,
 * that no text has: then no match ends the search early.
 *
 * @returns undefined when the time is linear; otherwise what recheck says
 */
export function troubleWith(source, flags) {
  const usual = check(source, flags, 'auto', TIMEOUT_MS);
  if (usual.status === 'safe') return undefined;
  const slower = slowerForm(source, flags);
  if (
    slower !== undefined &&
    check(slower.source, slower.flags, 'automaton', SLOWER_TIMEOUT_MS).status === 'safe'
  ) {
    return undefined;
  }
  if (usual.status === 'unknown') return `undecided: ${usual.error.kind}`;
  return `${usual.complexity.type} ${usual.complexity.degree ?? ''}`.trim();
}

function check(source, flags, checker, timeout) {
  // A sticky match begins where it is told to.
  const anchored = flags.includes('y') ? `^(?:${source})` : source;
  return checkSync(anchored, flags.replace(/[gyd]/g, ''), { timeout, checker });
}

const TOKEN =
  /\\(?:[pPu]\{[^}]*\}|u[0-9a-f]{4}|x[0-9a-f]{2}|k<\w+>|[^])|\[(?:\\[^]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|\((?:\?(?:<?[=!]|:|<\w+>))?|[^]/gi;
const LOOKAROUND = /^\(\?<?[=!]/;
const UNKNOWN_CHARACTER = String.raw`\uffff`;

/** Undefined when there is none that recheck can decide. */
function slowerForm(source, flags) {
  let text = '';
  /** Of the lookaround that is read: how many groups are open. */
  let depth = 0;
  for (const token of source.match(TOKEN) ?? []) {
    const bounds = /^\{(\d+),?(\d*)\}$/.exec(token);
    if (depth > 0 || LOOKAROUND.test(token)) {
      // One that looks at a few characters costs no more than a constant.
      const most = token.endsWith(',}') ? Infinity : Number(bounds?.[2] || bounds?.[1]);
      if (/^[*+]$/.test(token) || most > 40) return undefined;
      depth += token.startsWith('(') ? 1 : 0;
      depth -= token === ')' ? 1 : 0;
    } else if (bounds !== null && Number(bounds[2] || bounds[1]) > 8) {
      text += bounds[1] === '0' ? '*' : '+';
    } else if (token !== '$') text += flags.includes('i') ? inLowerCase(token) : token;
  }
  return { source: `(?:${text})${UNKNOWN_CHARACTER}`, flags: flags.replace('i', '') };
}

/** A letter, or a class of characters; what an escape stands for has no case, or both. */
function inLowerCase(token) {
  if (token.startsWith('\\')) return token;
  return token.replace(/\\[^]|[A-Z]-[A-Z]|[^\\]/gu, (one) =>
    one.startsWith('\\') ? one : one.toLowerCase(),
  );
}
