import { STATE_NAMES } from '../formats.ts';
import { completeId } from '../messages/filters.ts';
import { addressIn, personFilter, writePlace } from '../platform/addresses.ts';
import { queryString } from '../query.ts';

export type PaletteCommand = 'utc' | 'local' | 'light' | 'dark' | 'system' | 'keys' | 'signOut';

/** A line of the palette: an address to open, or a command. */
export type PaletteItem = { readonly label: string; readonly hint?: string } & (
  | { readonly kind: 'page'; readonly href: string }
  | { readonly kind: 'command'; readonly command: PaletteCommand }
);

export interface PalettePlaces {
  readonly pages: readonly { readonly name: string; readonly path: string; readonly key: string }[];
  readonly shops: readonly string[];
  readonly isUtc: boolean;
  /** Whether the person may use the Platform pages only. */
  readonly isDeskOnly?: boolean;
}

const MOST = 12;
const STATES = ['queued', 'dead', 'held', 'suppressed'] as const;

/**
 * What fits the typed text: all its words, in any case, in the label. A text that can be searched for
 * comes first, as that is what a pasted address, number or id is for.
 */
export function paletteItems(text: string, places: PalettePlaces): readonly PaletteItem[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const known = knownItems(places).filter(({ label }) =>
    words.every((word) => label.toLowerCase().includes(word)),
  );
  const searches = searchItems(text.trim(), places);
  const isName = known.length > 0 && !/[@\d]/.test(text);
  return (isName ? [...known, ...searches] : [...searches, ...known]).slice(0, MOST);
}

function searchItems(
  text: string,
  { shops, isDeskOnly = false }: PalettePlaces,
): readonly PaletteItem[] {
  if (text === '') return [];
  const id = completeId(text);
  if (id !== undefined && !isDeskOnly) return [page(`Open the message ${id}`, `/messages/${id}`)];
  const isPerson = text.includes('@') || /^\+?[\d ().-]{6,}$/.test(text);
  return [
    ...(isDeskOnly
      ? []
      : [page(`Search messages for “${text}”`, `/messages${queryString({ text })}`)]),
    ...(isPerson
      ? shops.map((shop) =>
          page(
            `Find the contact ${text} of ${shop}`,
            writePlace({ shop, view: 'contacts', id: '', filters: personFilter(text) }),
          ),
        )
      : []),
  ];
}

function knownItems(places: PalettePlaces): readonly PaletteItem[] {
  const { pages, shops, isUtc, isDeskOnly = false } = places;
  return [
    ...pages.map(({ name, path, key }) => ({ ...page(name, path), hint: `g ${key}` })),
    ...(isDeskOnly
      ? []
      : STATES.map((state) =>
          page(`${STATE_NAMES[state]} messages`, `/messages${queryString({ state })}`),
        )),
    ...shops.flatMap((shop) => [
      ...(isDeskOnly ? [] : [page(`Messages of ${shop}`, `/messages${queryString({ shop })}`)]),
      page(`Tickets of ${shop}`, addressIn('tickets', shop)),
    ]),
    isUtc
      ? command('Show times in the time zone of this browser', 'local')
      : command('Show times in UTC', 'utc'),
    command('Light colours', 'light'),
    command('Dark colours', 'dark'),
    command('Colours as the system', 'system'),
    command('Keyboard shortcuts', 'keys'),
    command('Sign out', 'signOut'),
  ];
}

const page = (label: string, href: string): PaletteItem => ({ label, kind: 'page', href });
const command = (label: string, name: PaletteCommand): PaletteItem => ({
  label,
  kind: 'command',
  command: name,
});
