import type { AttachedFile } from '../email-job.ts';
import type { Leaf } from '../parts/read-parts.ts';

/** An image of the message that its text shows by a Content-ID (RFC 2392). */
export interface InlineImage {
  readonly name: string;
  /** What stands for its address; without one it is named, not shown. */
  readonly shownAs?: string;
}

/** Finds images by their Content-IDs among the parts of the message and the files they became. */
export function inlineImages(leaves: readonly Leaf[], files: readonly AttachedFile[]) {
  const images = new Map<string, InlineImage>();
  leaves.forEach(({ contentId }, index) => {
    const file = files[index];
    if (contentId === undefined || file === undefined) return;
    const { name, shownAs } = file;
    images.set(contentId, { name, ...(shownAs !== undefined && { shownAs }) });
  });
  return (contentId: string): InlineImage | undefined => {
    const image = images.get(contentId);
    if (image !== undefined || !contentId.includes('%')) return image;
    // RFC 2392 §2: the id is percent-encoded in the URL.
    try {
      return images.get(decodeURIComponent(contentId));
    } catch {
      return undefined;
    }
  };
}

const MAX_ALT_LENGTH = 200;

/** What an `img` element stands for; undefined when nothing can be said of it. */
export function readImage(
  attributes: Readonly<Record<string, string>>,
  inlineImage: (contentId: string) => InlineImage | undefined,
): InlineImage | undefined {
  const contentId = /^\s*cid:(.{1,255})$/is.exec(attributes['src'] ?? '')?.[1];
  const image = contentId === undefined ? undefined : inlineImage(contentId.trim());
  if (image !== undefined) return image;
  const name = attributes['alt']?.trim().slice(0, MAX_ALT_LENGTH) ?? '';
  return name === '' ? undefined : { name };
}
