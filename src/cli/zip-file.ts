import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { Output } from './output-file.ts';

/** The contents of an archive that is being written. */
export interface Archive {
  /**
   * Adds a file and resolves when its content has been read: one is in memory at a time, in pieces.
   * @param path below the archive's folder, with slashes, and without `..`
   * @throws the errors of the content, and of writing
   */
  add(path: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
}

/**
 * Writes a ZIP archive (with ZIP64 where it is needed) as a stream.
 * @throws the errors of `work` and of the output
 */
export async function writeZip<T>(
  output: Output,
  work: (archive: Archive) => Promise<T>,
): Promise<T> {
  const zip = new ZipFile();
  const stopped = new AbortController();
  const { signal } = stopped;
  const written = pipeline(
    // A PassThrough, which the package's types call by its oldest interface.
    zip.outputStream as Readable,
    async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) await output.write(chunk);
    },
    { signal },
  );
  // A source that waits for an output which has failed would wait forever.
  written.catch((error: unknown) => stopped.abort(error));
  zip.on('error', (error: unknown) => stopped.abort(error));
  try {
    const result = await work({
      add: async (path, content) => {
        const source = Readable.from(content, { objectMode: false });
        zip.addReadStream(source, path, { mode: 0o100600 });
        await finished(source, { signal });
      },
    });
    zip.end();
    await written;
    return result;
  } catch (error) {
    stopped.abort(error);
    await written.catch(() => undefined);
    throw signal.reason;
  }
}
