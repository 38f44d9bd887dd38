/** Mail has lines of some kilobytes at most, but for a page of HTML or data on one. */
const MAX_LINE_BYTES = 1024 * 1024;
/** 75 MB of Base64. */
const MAX_LINES = 1_000_000;
const LF = 0x0a;

/** A body that no mail system writes; its signatures are not looked at. */
export class StrangeBody extends Error {
  override name = 'StrangeBody';
}

/**
 * Passes on the chunks of a body while it is like one. To hash it the library keeps an open line
 * and reads it again with every chunk, and takes its time over each line that ends in a space: a
 * forger must not win by making the check longer than it may take.
 * @throws {StrangeBody}
 */
export async function* boundBody(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let lines = 0;
  let open = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, start)) {
      lines += 1;
      open = 0;
      start = lf + 1;
    }
    open += chunk.length - start;
    if (open > MAX_LINE_BYTES || lines > MAX_LINES) throw new StrangeBody('not like mail');
    yield chunk;
  }
}
