import { useState } from 'preact/hooks';
import { TOKEN_NAME_RULE, type TokenScope } from '../../../../domain/api-token.ts';
import type { MadeApiToken } from '../../../contract.ts';
import { api } from '../../api.ts';
import { useRequest } from '../../loading.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Form, Input, Select } from '../../ui/field.tsx';
import { Dialog } from '../../ui/overlays.tsx';
import { Note } from '../../ui/page-parts.tsx';
import { Curl } from './curl.tsx';

const DAY_MS = 86_400_000;
const SCOPES: readonly { readonly value: TokenScope; readonly label: string }[] = [
  { value: 'read', label: 'read: sees all messages' },
  { value: 'operate', label: 'operate: also makes changes' },
];
const NEVER = 'never';
const EXPIRIES = [
  { value: '7', label: 'after 7 days' },
  { value: '30', label: 'after 30 days' },
  { value: '90', label: 'after 90 days' },
  { value: '365', label: 'after a year' },
  { value: NEVER, label: 'never' },
];

/** Makes a token and shows it once. */
export function NewTokenDialog(props: {
  readonly onMade: () => void;
  readonly onClose: () => void;
}) {
  const { data, failure, loading, send } = useRequest<MadeApiToken>();
  const [scope, setScope] = useState<TokenScope>('read');
  const [expiry, setExpiry] = useState('90');
  const make = (name: string) =>
    send(async () => {
      const lifetimeMs = expiry === NEVER ? null : Number(expiry) * DAY_MS;
      const made = await api.makeToken({ name, scope, lifetimeMs });
      props.onMade();
      return made;
    });
  if (data !== undefined) return <Made made={data} onClose={props.onClose} />;
  return (
    <Dialog open title="New API token" onClose={props.onClose}>
      <Form class="token-form" onSubmit={(valueOf) => make(valueOf('name').trim())}>
        <Input
          label="Name"
          showLabel
          name="name"
          hint={`What it is for: ${TOKEN_NAME_RULE}`}
          required
          maxLength={48}
          autocomplete="off"
          spellcheck={false}
        />
        <Select
          label="Scope"
          showLabel
          value={scope}
          options={SCOPES}
          // The options are the scopes.
          onChoose={(value) => setScope(value as TokenScope)}
        />
        <Select label="Ends" showLabel value={expiry} options={EXPIRIES} onChoose={setExpiry} />
        <p role="alert" class="fault">
          {failure?.message}
        </p>
        <footer>
          <Button onClick={props.onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={loading}>
            Create
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}

function Made({ made, onClose }: { readonly made: MadeApiToken; readonly onClose: () => void }) {
  return (
    <Dialog
      open
      title={`Token ${made.token.name}`}
      onClose={onClose}
      actions={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <Note tone="warning" icon="warning">
        Copy it now: it is not stored and not shown again.
      </Note>
      <div class="command">
        <code>{made.secret}</code>
        <CopyButton text={made.secret} what="the token" withWord />
      </div>
      <Curl />
    </Dialog>
  );
}
