import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sortParts } from '../../../src/channels/email/normalize/parts/body-parts.ts';
import { ScratchFolder } from '../../../src/channels/email/normalize/parts/collect-part.ts';
import {
  readRange,
  withByteSource,
} from '../../../src/channels/email/normalize/parts/part-content.ts';
import { readFileParts } from '../../../src/channels/email/normalize/parts/read-file-parts.ts';
import {
  type Leaf,
  type ReadParts,
  readParts,
} from '../../../src/channels/email/normalize/parts/read-parts.ts';
import type { Recovery } from '../../../src/channels/email/normalize/parts/structure-reader.ts';

/** A part without subparts, as Sluice reads it. */
export interface ReadLeaf {
  readonly bytes: Buffer;
  readonly name: string | undefined;
  readonly leaf: Leaf;
}

export interface ReadMail {
  /** As the message has them; a winmail.dat is one. */
  readonly leaves: readonly ReadLeaf[];
  readonly recoveries: readonly Recovery[];
  readonly broken: boolean;
  /** The forms of texts that have several (multipart/alternative); one of them is shown. */
  readonly forms: ReadonlySet<Leaf>;
}

/** Reads the parts of a message, from memory or, like large ones, from a file in `folder`. */
export async function readMail(
  message: Buffer,
  folder: string,
  from: 'memory' | 'file',
): Promise<ReadMail> {
  const scratch = new ScratchFolder(join(folder, 'scratch'));
  if (from === 'memory') return toReadMail(await readParts(message, scratch));
  const path = join(folder, 'message.eml');
  writeFileSync(path, message);
  const source = { path, observe: () => undefined, maxBufferBytes: Infinity };
  return toReadMail(await readFileParts(source, scratch));
}

async function toReadMail({ root, leaves, recoveries, broken }: ReadParts): Promise<ReadMail> {
  const { alternatives } = sortParts(root, leaves);
  const several = alternatives.filter(({ plain, html }) => plain.length > 0 && html.length > 0);
  const forms = new Set(several.flatMap(({ plain, html }) => [...plain, ...html]));
  const read = leaves.map(async (leaf) => {
    return { leaf, name: leaf.fileName, bytes: await contentOf(leaf) };
  });
  return { leaves: await Promise.all(read), recoveries, broken, forms };
}

async function contentOf({ content }: Leaf): Promise<Buffer> {
  return withByteSource(content, async (source) => {
    const chunks: Buffer[] = [];
    const whole = { offset: 0, length: source.size };
    for await (const chunk of readRange(source, whole)) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  });
}
