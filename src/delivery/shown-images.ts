/** An image that a content in Markdown or HTML shows. */
export interface ShownImage {
  /** What stands in the content for its address, which is known only once it is uploaded. */
  readonly shownAs: string;
  /** Undefined when it could not be uploaded, or not everybody may read it. */
  readonly url: string | undefined;
}

/** The platform's own bound is not documented. */
const MAX_CONTENT_LENGTH = 100_000;

/** The content with the images' addresses in it, or with their names where there is none. */
export function withShownImages(content: string, images: readonly ShownImage[]): string {
  const shown = images.reduce(showImage, content);
  return shown.length <= MAX_CONTENT_LENGTH ? shown : withImageNames(content, images);
}

/** The content with the names of the images in their places. */
export function withImageNames(
  content: string,
  images: readonly Pick<ShownImage, 'shownAs'>[],
): string {
  return images.reduce((text, { shownAs }) => nameImage(text, shownAs), content);
}

function showImage(content: string, { shownAs, url }: ShownImage): string {
  if (url === undefined || !/^https?:\/\//i.test(url)) return nameImage(content, shownAs);
  // No character of it may end the Markdown link or the attribute that it stands in.
  const safe = encodeURI(url)
    .replace(/%25/g, '%')
    .replace(/[()']/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return content.replaceAll(shownAs, () => safe);
}

function nameImage(content: string, shownAs: string): string {
  const target = shownAs.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return content
    .replace(new RegExp(`!\\[((?:[^\\]\\\\]|\\\\.)*)\\]\\(${target}\\)`, 'g'), '[image: $1]')
    .replace(new RegExp(`<img src="${target}" alt="([^"]*)" />`, 'g'), '[image: $1]');
}
