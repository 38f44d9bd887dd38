/** One line of `method=result property=value ...` (RFC 8601 §2.2). */
export interface ReportedMethod {
  readonly method: string;
  readonly result: string;
  /** `header.from`, `smtp.mailfrom` and their kin, in lower case. */
  readonly properties: ReadonlyMap<string, string>;
}

export interface AuthenticationResults {
  readonly authservId: string;
  readonly methods: readonly ReportedMethod[];
}

const MAX_LENGTH = 8 * 1024;
const MAX_METHODS = 50;

/**
 * Reads an Authentication-Results value (RFC 8601 §2.2), or that of ARC-Authentication-Results,
 * whose `i=` stands before the id (RFC 8617 §4.1.1). Linear; undefined without an id.
 */
export function parseAuthenticationResults(value: string): AuthenticationResults | undefined {
  const [first = '', ...rest] = split(withoutComments(value.slice(0, MAX_LENGTH)));
  const parts = /^i\s*=\s*\d+$/.test(first) ? rest : [first, ...rest];
  const authservId = parts[0]?.split(/\s+/)[0]?.replace(/^"|"$/g, '').toLowerCase();
  if (authservId === undefined || authservId === '' || authservId.includes('=')) return undefined;
  return { authservId, methods: parts.slice(1, MAX_METHODS).flatMap(readMethod) };
}

/** The ARC instance that a field belongs to. */
export function instanceOf(value: string): number | undefined {
  const instance = tagOf(value, 'i');
  return instance !== undefined && /^\d{1,2}$/.test(instance) ? Number(instance) : undefined;
}

/** A tag of a `k=v; k=v` list (RFC 6376 §3.2); the last of several. Linear. */
export function tagOf(value: string, name: string): string | undefined {
  let found: string | undefined;
  for (const part of value.slice(0, MAX_LENGTH).split(';')) {
    const equals = part.indexOf('=');
    if (equals !== -1 && part.slice(0, equals).trim().toLowerCase() === name) {
      found = part.slice(equals + 1).trim();
    }
  }
  return found;
}

function readMethod(part: string): ReportedMethod[] {
  const [head = '', ...words] = part.replace(/\s*=\s*/g, '=').split(/\s+/);
  const [name = '', result = ''] = head.split('=');
  if (name === '' || result === '') return [];
  const properties = new Map<string, string>();
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals > 0) {
      const key = word.slice(0, equals).toLowerCase();
      properties.set(
        key,
        word
          .slice(equals + 1)
          .replace(/^"|"$/g, '')
          .toLowerCase(),
      );
    }
  }
  const method = name.toLowerCase().split('/')[0] ?? '';
  return [{ method, result: result.toLowerCase(), properties }];
}

/** RFC 5322 §3.2.2: comments nest, and a quoted string has none. */
function withoutComments(value: string): string {
  let depth = 0;
  let quoted = false;
  let kept = '';
  for (let at = 0; at < value.length; at += 1) {
    const char = value.charAt(at);
    if (char === '\\') {
      if (depth === 0) kept += value.slice(at, at + 2);
      at += 1;
    } else if (char === '"' && depth === 0) {
      quoted = !quoted;
      kept += char;
    } else if (!quoted && char === '(') {
      depth += 1;
    } else if (!quoted && char === ')' && depth > 0) {
      depth -= 1;
    } else if (depth === 0) {
      kept += char;
    }
  }
  return kept;
}

/** At the semicolons outside of quoted strings. */
function split(value: string): string[] {
  const parts: string[] = [];
  let quoted = false;
  let start = 0;
  for (let at = 0; at < value.length; at += 1) {
    const char = value.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '"') quoted = !quoted;
    else if (char === ';' && !quoted) {
      parts.push(value.slice(start, at).trim());
      start = at + 1;
    }
  }
  parts.push(value.slice(start).trim());
  return parts;
}
