import { useState } from 'preact/hooks';
import { hasEnded } from '../../../../domain/api-token.ts';
import type { ApiToken, ApiTokenList } from '../../../contract.ts';
import { api } from '../../api.ts';
import { exact, relative } from '../../formats.ts';
import { useLoad, useRequest } from '../../loading.ts';
import { now } from '../../now.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, toast } from '../../ui/overlays.tsx';
import { Badge, Card, NotLoaded, Time } from '../../ui/page-parts.tsx';
import { Curl } from './curl.tsx';
import { NewTokenDialog } from './new-token-dialog.tsx';
import './tokens.css';

/** The tokens with which programs use the admin API. */
export function TokensCard() {
  const { data, failure, reload } = useLoad((signal) => api.tokens(signal));
  const [isMaking, setMaking] = useState(false);
  return (
    <Card
      title="API tokens"
      tools={
        <Button size="small" icon="lock" onClick={() => setMaking(true)}>
          New token
        </Button>
      }
    >
      {data === undefined || failure !== undefined ? (
        <NotLoaded {...{ failure }} onRetry={reload} lines={2} height={44} />
      ) : (
        <Tokens list={data} onRevoked={reload} />
      )}
      {isMaking && <NewTokenDialog onMade={reload} onClose={() => setMaking(false)} />}
    </Card>
  );
}

function Tokens(props: { readonly list: ApiTokenList; readonly onRevoked: () => void }) {
  const { tokens } = props.list;
  const [revoked, setRevoked] = useState<ApiToken>();
  return (
    <>
      <p class="muted tokens-what">
        Scripts and dashboards read and operate the gateway with a token:{' '}
        <a href="/api/docs" target="_blank" rel="noreferrer">
          API reference
        </a>
      </p>
      {tokens.length === 0 ? (
        <>
          <p class="muted">There is none yet. A request with one:</p>
          <Curl />
        </>
      ) : (
        <ul class="tokens">
          {tokens.map((token) => (
            <Token key={token.id} token={token} onRevoke={() => setRevoked(token)} />
          ))}
        </ul>
      )}
      <RevokeDialog
        token={revoked}
        onClose={() => setRevoked(undefined)}
        onRevoked={props.onRevoked}
      />
    </>
  );
}

function Token({ token, onRevoke }: { readonly token: ApiToken; readonly onRevoke: () => void }) {
  const { name, scope, madeBy, madeAt, usedAt } = token;
  return (
    <li>
      <div>
        <b>{name}</b>{' '}
        <Badge
          tone={scope === 'read' ? 'neutral' : 'accent'}
          icon={scope === 'read' ? 'file' : 'play'}
        >
          {scope}
        </Badge>
        <p class="muted small">
          Made by {madeBy} <Time at={madeAt} /> ·{' '}
          {usedAt === undefined ? (
            'never used'
          ) : (
            <>
              last used <Time at={usedAt} />
            </>
          )}{' '}
          · <End token={token} />
        </p>
      </div>
      <Button size="small" aria-label={`Revoke ${name}`} title="Revoke" onClick={onRevoke}>
        Revoke
      </Button>
    </li>
  );
}

function End({ token }: { readonly token: ApiToken }) {
  const { endsAt } = token;
  if (endsAt === undefined) return <>does not end</>;
  const when = relative(endsAt, now.value);
  return (
    <time dateTime={new Date(endsAt).toISOString()} title={exact(endsAt)}>
      {hasEnded(token, now.value) ? <span class="fault">expired {when}</span> : `ends ${when}`}
    </time>
  );
}

function RevokeDialog(props: {
  readonly token: ApiToken | undefined;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}) {
  const { token, onClose, onRevoked } = props;
  const { failure, loading, send } = useRequest<unknown>();
  const revoke = ({ id, name }: ApiToken) =>
    send(async () => {
      await api.revokeToken(id);
      toast({ text: `Revoked ${name}` });
      onClose();
      onRevoked();
    });
  return (
    <Dialog
      open={token !== undefined}
      title={`Revoke ${token?.name ?? ''}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" busy={loading} onClick={() => token && revoke(token)}>
            Revoke
          </Button>
        </>
      }
    >
      <p>Requests with it are refused at once, at every gateway. This cannot be undone.</p>
      <p role="alert" class="fault">
        {failure?.message}
      </p>
    </Dialog>
  );
}
