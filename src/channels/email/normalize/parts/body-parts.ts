import type { Leaf, Part } from './read-parts.ts';

/** One section of the body, in up to two forms (RFC 2046 §5.1.4). */
export interface Alternative {
  readonly plain: readonly Leaf[];
  readonly html: readonly Leaf[];
}

export interface BodyParts {
  readonly alternatives: readonly Alternative[];
  readonly attachments: readonly Leaf[];
  /** Further forms of the same body (AMP, enriched text). */
  readonly passedOver: readonly Leaf[];
}

type Found = Pick<BodyParts, 'alternatives' | 'passedOver'>;

/** Which parts are the body, and which are attachments. */
export function sortParts(root: Part | undefined, leaves: readonly Leaf[]): BodyParts {
  const { alternatives: written, passedOver } = root === undefined ? NOTHING : find(root, true);
  const alternatives = isEmpty(written) ? [...written, ...gatewayTexts(leaves)] : written;
  const used = new Set([
    ...alternatives.flatMap(({ plain, html }) => [...plain, ...html]),
    ...passedOver,
  ]);
  return { alternatives, attachments: leaves.filter((leaf) => !used.has(leaf)), passedOver };
}

/**
 * A phone's text in the form of gateways from MMS to email: a separate file (Verizon `text_0.txt`,
 * AT&T `text-0.txt`, T-Mobile `text000001.txt`).
 */
const GATEWAY_TEXT = /^(?:text|mms|msg)[-_ ]?\d{0,10}\.txt$/i;
const MAX_GATEWAY_TEXTS = 10;
/** A body of this size contains only line ends. */
const LINE_ENDS = 4;

function isEmpty(alternatives: readonly Alternative[]): boolean {
  return alternatives.every(({ plain, html }) =>
    [...plain, ...html].every(({ content }) => content.size <= LINE_ENDS),
  );
}

function gatewayTexts(leaves: readonly Leaf[]): readonly Alternative[] {
  return leaves
    .filter(({ contentType, fileName }) => {
      return contentType === 'text/plain' && GATEWAY_TEXT.test(fileName?.slice(0, 50) ?? '');
    })
    .slice(0, MAX_GATEWAY_TEXTS)
    .map((leaf) => ({ plain: [leaf], html: [] }));
}

const NOTHING: Found = { alternatives: [], passedOver: [] };

function find(part: Part, isRoot: boolean): Found {
  if (part.kind === 'leaf') return { ...NOTHING, alternatives: bodyLeaf(part, isRoot) };
  // RFC 6522 §3: only the first part of a report is human-readable.
  const children =
    part.contentType === 'multipart/report' ? part.children.slice(0, 1) : part.children;
  const found = children.map((child) => find(child, false));
  const alternatives = found.flatMap((each) => each.alternatives);
  const passedOver = found.flatMap((each) => each.passedOver);
  if (part.contentType !== 'multipart/alternative') return { alternatives, passedOver };
  return oneAlternative(part.children, found, passedOver);
}

function oneAlternative(
  children: readonly Part[],
  found: readonly Found[],
  passedOver: readonly Leaf[],
): Found {
  let plain: readonly Leaf[] = [];
  let html: readonly Leaf[] = [];
  const others: Leaf[] = [];
  found.forEach(({ alternatives }, index) => {
    const forms = alternatives.flatMap((each) => (each.html.length > 0 ? each.html : each.plain));
    if (alternatives.some((each) => each.html.length > 0)) html = forms;
    else if (forms.length > 0) plain = forms;
    const child = children[index];
    if (child?.kind === 'leaf' && forms.length === 0 && isOtherText(child)) others.push(child);
  });
  if (plain.length === 0 && html.length === 0) return { alternatives: [], passedOver };
  return { alternatives: [{ plain, html }], passedOver: [...passedOver, ...others] };
}

function bodyLeaf(leaf: Leaf, isRoot: boolean): readonly Alternative[] {
  const { contentType, disposition, fileName } = leaf;
  // Other values than RFC 2183's would hide what a person wrote, though §2.8 calls them files.
  if (disposition === 'attachment') return [];
  // A file that a client displays inline is still a file.
  if (fileName !== undefined && !isRoot) return [];
  if (contentType === 'text/plain') return [{ plain: [leaf], html: [] }];
  return contentType === 'text/html' ? [{ plain: [], html: [leaf] }] : [];
}

function isOtherText({ contentType, disposition, fileName }: Leaf): boolean {
  if (contentType === 'text/calendar' || fileName !== undefined) return false;
  return contentType.startsWith('text/') && disposition !== 'attachment';
}
