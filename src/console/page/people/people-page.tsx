import { useState } from 'preact/hooks';
import type { PersonReport } from '../../contract.ts';
import { api } from '../api.ts';
import { useRequest } from '../loading.ts';
import type { Refusal } from '../refusal.ts';
import { overview } from '../stream.ts';
import { Button } from '../ui/button.tsx';
import { Form, Input, Select } from '../ui/field.tsx';
import { Dialog } from '../ui/overlays.tsx';
import { Card, Note, PageTitle } from '../ui/page-parts.tsx';
import './people.css';

interface Sought {
  readonly address: string;
  readonly shop?: string;
}

/** What is stored about a person, for those who ask for it or want it erased. */
export function PeoplePage() {
  const [shop, setShop] = useState('');
  const found = useRequest<{ readonly person: Sought; readonly report: PersonReport }>();
  const search = (address: string) => {
    const person = { address: address.trim(), ...(shop !== '' && { shop }) };
    found.send(async (signal) => ({ person, report: await api.findPerson(person, signal) }));
  };
  const shops = overview.value?.shops ?? [];
  return (
    <>
      <PageTitle title="A person’s data" />
      <p class="muted person-what">
        Finds, exports and erases what is stored about one person, as <code>sluice export</code> and{' '}
        <code>sluice erase</code> do. A platform of the shop’s own and backups are not reached.
      </p>
      <div class="cards">
        <Card title="Whose data">
          <Form class="person-search" onSubmit={(valueOf) => search(valueOf('address'))}>
            <Input
              label="Email address, phone number, or a chat visitor’s id"
              showLabel
              name="address"
              required
              maxLength={500}
              autocomplete="off"
            />
            <Select
              label="Shop"
              showLabel
              value={shop}
              options={[
                { value: '', label: 'All shops' },
                ...shops.map((each) => ({ value: each.shop, label: each.shop })),
              ]}
              onChoose={setShop}
            />
            <Button type="submit" look="primary" icon="search" busy={found.loading}>
              Search
            </Button>
          </Form>
        </Card>
        <Fault of={found} />
        {found.data !== undefined && found.failure === undefined && !found.loading && (
          <Found key={JSON.stringify(found.data)} {...found.data} />
        )}
      </div>
    </>
  );
}

const Fault = ({ of: { failure } }: { readonly of: { readonly failure: Refusal | undefined } }) =>
  failure === undefined ? null : (
    <Note tone="danger" icon="alert">
      {failure.message}
    </Note>
  );

function Found({ person, report }: { readonly person: Sought; readonly report: PersonReport }) {
  const [isAsking, setAsking] = useState(false);
  const erased = useRequest<PersonReport>();
  const exported = useRequest<boolean>();
  const erase = () => {
    setAsking(false);
    erased.send(() => api.erasePerson(person));
  };
  const isErased = erased.data !== undefined;
  return (
    <Card title={`${isErased ? 'Erased' : 'What is stored'}: ${person.address}`}>
      <pre class="person-report" tabIndex={0} aria-label="Report">
        {erased.data?.text ?? report.text}
      </pre>
      <Fault of={erased} />
      <Fault of={exported} />
      {!isErased && (
        <div class="person-tools">
          <Button
            icon="download"
            busy={exported.loading}
            onClick={() => exported.send(() => download(person))}
          >
            Export as ZIP
          </Button>
          <Button
            look="danger"
            icon="discarded"
            busy={erased.loading}
            onClick={() => setAsking(true)}
          >
            Erase …
          </Button>
        </div>
      )}
      <Dialog
        open={isAsking}
        title={`Erase ${person.address} permanently?`}
        onClose={() => setAsking(false)}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <Button look="danger" icon="discarded" onClick={erase}>
              Erase permanently
            </Button>
          </>
        }
      >
        <p>
          Messages, files, chats and the built-in platform’s records of this person are deleted,
          also messages that wait for delivery. This cannot be undone.
        </p>
      </Dialog>
    </Card>
  );
}

async function download(person: Sought): Promise<boolean> {
  const url = URL.createObjectURL(await api.exportPerson(person));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'sluice-export.zip';
  link.click();
  URL.revokeObjectURL(url);
  return true;
}
