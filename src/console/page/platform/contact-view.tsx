import { api } from '../api.ts';
import { useLoad } from '../load.ts';
import { Card } from '../ui/card.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Skeleton } from '../ui/states.tsx';
import { contactAddress } from './addresses.ts';
import { PlatformFailure } from './page-frame.tsx';
import { type Contact, firstOf, nameOf } from './resources.ts';
import { Moment } from './ticket-view.tsx';

/** One contact, and the way to what it wrote. */
export function ContactView({ shop, id }: { readonly shop: string; readonly id: string }) {
  const { data, failure, reload } = useLoad(
    (signal) => api.platform<Contact>(shop, `contacts/${encodeURIComponent(id)}`, {}, signal),
    [shop, id],
  );
  if (data === undefined) {
    return failure === undefined ? (
      <Skeleton lines={8} />
    ) : (
      <PlatformFailure refusal={failure} onRetry={reload} />
    );
  }
  const wrote = firstOf(data.email, data.phone);
  return (
    <Card title="Contact">
      <p class="resource-name">
        <bdi>{nameOf(data)}</bdi>
        {data.is_archived && <span class="muted"> archived</span>}
      </p>
      <dl class="resource-facts">
        {(['name', 'company', 'email', 'phone'] as const).map((field) =>
          data[field] ? (
            <div key={field}>
              <dt>{field}</dt>
              <dd class="id-copy">
                <bdi>{data[field]}</bdi>
                <CopyButton text={data[field]} what={`the ${field}`} />
              </dd>
            </div>
          ) : null,
        )}
        <Moment name="Last activity" text={data.last_activity_at} />
        <Moment name="Created" text={data.created_at} />
        {data.parent_contact_id && (
          <div>
            <dt>Belongs to</dt>
            <dd>
              <a class="mono" href={contactAddress(shop, data.parent_contact_id)}>
                {data.parent_contact_id}
              </a>
            </dd>
          </div>
        )}
        <div>
          <dt>Id</dt>
          <dd class="id-copy">
            <span class="mono">{data.id}</span>
            <CopyButton text={data.id} what="the contact’s id" />
          </dd>
        </div>
      </dl>
      {wrote && (
        <p>
          <a href={`/messages?shop=${encodeURIComponent(shop)}&text=${encodeURIComponent(wrote)}`}>
            What this person wrote through Sluice
          </a>
        </p>
      )}
    </Card>
  );
}
