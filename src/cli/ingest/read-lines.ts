/** One line of a file without its end; `text` is absent when it is longer than allowed. */
export interface FileLine {
  readonly offset: number;
  readonly text?: string;
}

/** The lines of a file, none of them in memory longer than `maxBytes`. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<FileLine, void, undefined> {
  let parts: Buffer[] = [];
  let held = 0;
  let start = 0;
  let at = 0;
  const line = (end: Buffer): FileLine => {
    const length = held + end.length;
    const whole = length > maxBytes ? undefined : Buffer.concat([...parts, end]).toString('utf8');
    return { offset: start, ...(whole !== undefined && { text: whole }) };
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let lf = chunk.indexOf(0x0a); lf !== -1; lf = chunk.indexOf(0x0a, from)) {
      yield line(chunk.subarray(from, lf));
      from = lf + 1;
      parts = [];
      held = 0;
      start = at + from;
    }
    const rest = chunk.subarray(from);
    held += rest.length;
    if (held <= maxBytes) parts.push(Buffer.from(rest));
    else parts = [];
    at += chunk.length;
  }
  if (held > 0) yield line(Buffer.alloc(0));
}
