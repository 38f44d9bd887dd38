import { now } from '../now.ts';
import { overview } from '../stream.ts';
import { Note } from '../ui/page-parts.tsx';
import { stopsOf } from './issues.ts';
import { TryButton } from './try-button.tsx';

const NOTHING = { conditions: [], shops: [] };

/** Why messages of this shop, or of any with an empty name, are not delivered now. */
export const StopNotes = ({ shop }: { readonly shop: string }) => (
  <div role="status">
    {stopsOf(overview.value ?? NOTHING, shop, now.value).map((stop) => (
      <Note key={stop.shop} tone="danger" icon="alert">
        <div class="stop">
          <b>{stop.title}.</b>
          <TryButton shop={stop.shop} />
        </div>
      </Note>
    ))}
  </div>
);

/** Whether nothing is attempted for this shop, so that a message that is due waits. */
export const isStopped = (shop: string): boolean =>
  overview.value?.deliveryPaused === true ||
  stopsOf(overview.value ?? NOTHING, shop, now.value).length > 0;
