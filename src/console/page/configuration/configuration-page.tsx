import { useState } from 'preact/hooks';
import type { ConfigurationView, ReloadResult } from '../../contract.ts';
import { api, asRefusal, useLoad } from '../api.ts';
import { Icon } from '../ui/icon.tsx';
import { Badge, Card, Failure, PageTitle, Skeleton, Time } from '../ui/page-parts.tsx';
import type { Refusal } from '../refusal.ts';
import { plural } from '../formats.ts';
import { Button } from '../ui/button.tsx';
import './configuration.css';
import { ShopCard } from './shop-card.tsx';
import { Values } from './values.tsx';

/** The running configuration, each shop's addresses, and pending changes of the file. */
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
          'Default configuration and generated keys'
        ) : (
          <>
            Loaded from <code>{view.file}</code>
          </>
        )}{' '}
        <Time at={view.loadedAt} />.
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

/** The differences between the file and the running configuration, and the Reload button. */
function Pending(props: {
  readonly pending: ConfigurationView['pending'];
  readonly file: string | undefined;
  readonly onReloaded: () => void;
}) {
  const { pending, file, onReloaded } = props;
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<ReloadResult | Refusal | undefined>();
  const reload = async () => {
    setBusy(true);
    try {
      setResult(await api.reload());
      onReloaded();
    } catch (error) {
      setResult(asRefusal(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card
      title="Pending changes"
      tools={
        <Button
          size="small"
          icon="again"
          look={pending !== null && pending.length > 0 ? 'primary' : 'plain'}
          busy={isBusy}
          onClick={() => void reload()}
        >
          Reload
        </Button>
      }
    >
      {pending === null ? (
        <p class="note danger">
          <Icon name="alert" />
          <span>
            {file === undefined ? 'The file' : <code>{file}</code>} is not valid. The gateway keeps
            its current configuration. Reload shows the errors.
          </span>
        </p>
      ) : pending.length === 0 ? (
        <p class="muted">None: the gateway runs with the configuration in the file.</p>
      ) : (
        <ul class="pending">
          {pending.map(({ path, needsRestart }) => (
            <li key={path}>
              <code>{path}</code>
              {needsRestart ? (
                <Badge tone="warning" icon="again">
                  needs a restart
                </Badge>
              ) : (
                <Badge tone="accent" icon="play">
                  applied by Reload
                </Badge>
              )}
            </li>
          ))}
        </ul>
      )}
      <div role="status">{result !== undefined && <Result result={result} />}</div>
    </Card>
  );
}

function Result({ result }: { readonly result: ReloadResult | Refusal }) {
  if (result instanceof Error) {
    return <ResultNote tone="danger" text={`Reload failed. ${result.message}`} items={[]} />;
  }
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
  readonly items: readonly string[];
}) => (
  <div class={`note result ${props.tone}`}>
    <Icon name={props.tone === 'ok' ? 'ok' : 'alert'} />
    <div>
      <b>{props.text}</b>
      {props.items.length > 0 && (
        <ul>
          {props.items.map((item) => (
            <li key={item} class="mono">
              {item}
            </li>
          ))}
        </ul>
      )}
    </div>
  </div>
);
