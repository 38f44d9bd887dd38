import type { ConfigurationView, ReloadResult } from '../../contract.ts';
import { api } from '../api.ts';
import { useLoad, useRequest } from '../loading.ts';
import { Badge, Card, Note, NotLoaded, PageTitle, Tabs, Time } from '../ui/page-parts.tsx';
import { plural } from '../formats.ts';
import { Button } from '../ui/button.tsx';
import './configuration.css';
import { ShopCard } from './shop-card.tsx';
import { TokensCard } from './tokens/tokens-card.tsx';
import { Values } from './values.tsx';

/** The running configuration, each shop's addresses, and pending changes of the file. */
export function ConfigurationPage() {
  const { data, failure, reload } = useLoad((signal) => api.configuration(signal));
  return (
    <>
      <PageTitle title="Configuration" />
      {data === undefined || failure !== undefined ? (
        <NotLoaded {...{ failure }} onRetry={reload} lines={3} height={140} />
      ) : (
        <Loaded view={data} onReloaded={reload} />
      )}
    </>
  );
}

interface LoadedProps {
  readonly view: ConfigurationView;
  readonly onReloaded: () => void;
}

const Loaded = ({ view, onReloaded }: LoadedProps) => (
  <div class="configuration cards">
    <p class="muted">
      {view.file === undefined ? (
        'Default configuration and generated keys'
      ) : (
        <>
          Loaded from <code>{view.file}</code>
        </>
      )}{' '}
      <Time at={view.loadedAt} />.
    </p>
    <Pending {...{ view, onReloaded }} />
    {view.warnings.length > 0 && (
      <ul class="warnings" aria-label="Warnings">
        {view.warnings.map((warning) => (
          <li key={warning}>
            <Note tone="warning" icon="warning">
              {warning}
            </Note>
          </li>
        ))}
      </ul>
    )}
    <Tabs
      label="Configuration"
      isInAddress
      tabs={[
        {
          key: 'shops',
          label: 'Shops',
          render: () => (
            <div class="cards">
              {view.shops.map((shop) => (
                <ShopCard key={shop.shop} shop={shop} />
              ))}
            </div>
          ),
        },
        { key: 'tokens', label: 'API tokens', render: () => <TokensCard /> },
        {
          key: 'values',
          label: 'Effective values',
          render: () => <Values values={view.values} />,
        },
      ]}
    />
  </div>
);

/** The differences between the file and the running configuration, and the Reload button. */
function Pending({ view, onReloaded }: LoadedProps) {
  const { data, failure, loading, send } = useRequest<ReloadResult>();
  const reload = async () => {
    const result = await api.reload();
    onReloaded();
    return result;
  };
  return (
    <Card
      title="Pending changes"
      tools={
        <Button
          size="small"
          icon="again"
          look={view.pending !== null && view.pending.length > 0 ? 'primary' : 'plain'}
          busy={loading}
          onClick={() => send(reload)}
        >
          Reload
        </Button>
      }
    >
      <Differences {...view} />
      <div role="status">
        {failure !== undefined ? (
          <ResultNote tone="danger" text={`Reload failed. ${failure.message}`} />
        ) : (
          data !== undefined && <Result result={data} />
        )}
      </div>
    </Card>
  );
}

function Differences({ pending, file }: Pick<ConfigurationView, 'pending' | 'file'>) {
  if (pending === null) {
    return (
      <Note tone="danger" icon="alert">
        {file === undefined ? 'The file' : <code>{file}</code>} is not valid. The gateway keeps its
        current configuration. Reload shows the errors.
      </Note>
    );
  }
  if (pending.length === 0) {
    return <p class="muted">None: the gateway runs with the configuration in the file.</p>;
  }
  return (
    <ul class="pending">
      {pending.map(({ path, needsRestart }) => (
        <li key={path}>
          <code>{path}</code>
          <Badge tone={needsRestart ? 'warning' : 'accent'} icon={needsRestart ? 'again' : 'play'}>
            {needsRestart ? 'needs a restart' : 'applied by Reload'}
          </Badge>
        </li>
      ))}
    </ul>
  );
}

function Result({ result }: { readonly result: ReloadResult }) {
  if (!result.ok) {
    const text = 'Reload failed: the file has errors. The gateway keeps its current configuration.';
    return <ResultNote tone="danger" text={text} items={result.mistakes} />;
  }
  const { changed, needsRestart } = result;
  return (
    <>
      <ResultNote
        tone="ok"
        text={
          changed.length === 0
            ? 'No changes to apply.'
            : `Applied ${plural(changed.length, 'change')}.`
        }
        items={changed}
      />
      {needsRestart.length > 0 && (
        <ResultNote
          tone="warning"
          text="Applied after a restart of the gateway:"
          items={needsRestart}
        />
      )}
    </>
  );
}

const ResultNote = (props: {
  readonly tone: 'ok' | 'warning' | 'danger';
  readonly text: string;
  readonly items?: readonly string[];
}) => (
  <Note tone={props.tone} icon={props.tone === 'ok' ? 'ok' : 'alert'}>
    <b>{props.text}</b>
    {props.items !== undefined && props.items.length > 0 && (
      <ul>
        {props.items.map((item) => (
          <li key={item} class="mono">
            {item}
          </li>
        ))}
      </ul>
    )}
  </Note>
);
