import { api } from '../api.ts';
import { useLoad } from '../load.ts';
import { Card } from '../ui/card.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Fact } from '../ui/fact.tsx';
import { Skeleton } from '../ui/states.tsx';
import { contactAddress } from './addresses.ts';
import { LinkedId, Moment, OwnId } from './facts.tsx';
import { PlatformFailure } from './page-frame.tsx';
import { type Contact, firstOf, nameOf } from './resources.ts';

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
            <Fact key={field} name={field} class="id-copy">
              <bdi>{data[field]}</bdi>
              <CopyButton text={data[field]} what={`the ${field}`} />
            </Fact>
          ) : null,
        )}
        <Moment name="Last activity" text={data.last_activity_at} />
        <Moment name="Created" text={data.created_at} />
        <LinkedId
          name="Belongs to"
          id={data.parent_contact_id}
          href={(of) => contactAddress(shop, of)}
        />
        <OwnId id={data.id} what="contact" />
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
