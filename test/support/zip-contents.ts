import { buffer } from 'node:stream/consumers';
import { openPromise } from 'yauzl';

/** The files of a ZIP archive by their paths; fails if a checksum is not right. */
export async function zipContents(file: string): Promise<ReadonlyMap<string, Buffer>> {
  const zip = await openPromise(file);
  const contents = new Map<string, Buffer>();
  try {
    for await (const entry of zip.eachEntry()) {
      contents.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
    }
  } finally {
    zip.close();
  }
  return contents;
}
