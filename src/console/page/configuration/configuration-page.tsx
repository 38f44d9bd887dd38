import type { ConfigurationView } from '../../contract.ts';
import { api } from '../api.ts';
import { useLoad } from '../load.ts';
import { Icon } from '../ui/icon.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Failure, Skeleton } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import './configuration.css';
import { Pending } from './pending.tsx';
import { ShopCard } from './shop-card.tsx';
import { Values } from './values.tsx';

/** What the gateway runs with, how the world reaches it, and what has changed in its file. */
export function ConfigurationPage() {
  const { data, failure, reload } = useLoad((signal) => api.configuration(signal));
  return (
    <>
      <PageTitle title="Configuration" />
      {failure !== undefined && <Failure refusal={failure} onRetry={reload} />}
      {data === undefined && failure === undefined && <Skeleton lines={3} height={140} />}
      {data !== undefined && failure === undefined && <Loaded view={data} onReloaded={reload} />}
    </>
  );
}

const Loaded = (props: { readonly view: ConfigurationView; readonly onReloaded: () => void }) => {
  const { view, onReloaded } = props;
  return (
    <div class="configuration">
      <p class="muted">
        {view.file === undefined ? (
          'Without a file: the defaults, and what the first start has made'
        ) : (
          <>
            From <code>{view.file}</code>
          </>
        )}
        , loaded <Time at={view.loadedAt} />.
      </p>
      <Pending pending={view.pending} file={view.file} onReloaded={onReloaded} />
      {view.warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">
          {view.warnings.map((warning) => (
            <li key={warning} class="note warning">
              <Icon name="warning" />
              <span>{warning}</span>
            </li>
          ))}
        </ul>
      )}
      {view.shops.map((shop) => (
        <ShopCard key={shop.shop} shop={shop} />
      ))}
      <Values values={view.values} />
    </div>
  );
};
