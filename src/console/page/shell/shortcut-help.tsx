import { LIST_KEYS } from '../messages/list-keys.ts';
import { Dialog } from '../ui/dialog.tsx';
import { GO } from './shortcuts.ts';

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  ...GO.map(({ key, name }) => [['g', key], name] as const),
  [['/'], 'Search'],
  [['?'], 'These keys'],
  [['Esc'], 'Close'],
  ...LIST_KEYS.map(
    ([keys, what]) => [keys, `Messages: ${what.charAt(0).toLowerCase()}${what.slice(1)}`] as const,
  ),
];

export const ShortcutHelp = (props: { readonly open: boolean; onClose(): void }) => (
  <Dialog open={props.open} title="Keyboard" onClose={() => props.onClose()}>
    <dl class="keys">
      {KEYS.map(([keys, what]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
