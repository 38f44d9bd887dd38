import { useState } from 'preact/hooks';
import type { EntryContent, EntryDetail } from '../../contract.ts';
import { addressOf, api } from '../api.ts';
import { useLoad } from '../loading.ts';
import { bytes } from '../formats.ts';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Badge, Card, NotLoaded, type Tab, Tabs } from '../ui/page-parts.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Icon } from '../ui/icon.tsx';
import { ReadingSection } from './reading-section.tsx';
import { payloadFields, submittedText } from './payload-fields.ts';

/** The received and the submitted content, shown on request. */
export function ContentCard({ entry }: { readonly entry: EntryDetail }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card
      title="Content"
      tools={isOpen && entry.rawKept ? <RawDownload {...{ entry }} /> : undefined}
    >
      {isOpen ? (
        <Content {...{ entry }} />
      ) : (
        <div class="closed">
          <Icon name="lock" />
          <p>
            The content of this message is private.
            <span class="muted"> Opening it is recorded in the audit log with your name.</span>
          </p>
          <Button look="primary" onClick={() => setOpen(true)}>
            Show content
          </Button>
        </div>
      )}
    </Card>
  );
}

const RawDownload = ({ entry }: { readonly entry: EntryDetail }) => (
  <ButtonLink
    size="small"
    icon="download"
    href={addressOf.raw(entry.id)}
    download={`${entry.id}.${entry.channel === 'email' ? 'eml' : 'txt'}`}
  >
    Original ({bytes(entry.bytes)})
  </ButtonLink>
);

function Content({ entry }: { readonly entry: EntryDetail }) {
  const { data, failure, reload } = useLoad(
    (signal) => api.content(entry.id, signal),
    [entry.id, entry.state === 'delivered'],
  );
  if (data === undefined) return <NotLoaded {...{ failure }} onRetry={reload} lines={6} />;
  const { trimmed, attachments } = data;
  return (
    <div class="content-parts">
      <div class="side-by-side">
        <section aria-label="Received">
          <h3>Received</h3>
          <Received {...{ entry }} content={data} />
        </section>
        <section aria-label="Submitted">
          <h3>{entry.state === 'delivered' ? 'Submitted' : 'To be submitted'}</h3>
          <Submitted {...{ entry }} content={data} />
        </section>
      </div>
      {trimmed !== undefined && trimmed !== '' && (
        <section aria-label="Trimmed">
          <h3>
            Trimmed{' '}
            <span class="muted">quoted history and signature, not sent to the AI agent</span>
          </h3>
          <pre class="text trimmed" dir="auto" tabIndex={0}>
            {trimmed}
          </pre>
        </section>
      )}
      {entry.channel === 'email' && entry.rawKept && <ReadingSection id={entry.id} />}
      {attachments.length > 0 && (
        <section aria-label="Attachments">
          <h3>Attachments</h3>
          <AttachmentTable id={entry.id} attachments={attachments} />
        </section>
      )}
    </div>
  );
}

function Received(props: { readonly entry: EntryDetail; readonly content: EntryContent }) {
  const { entry, content } = props;
  const { raw, received } = content;
  const { text } = received;
  if (!entry.rawKept && raw === undefined) {
    return <p class="muted">The original has been deleted (spool.retain.raw).</p>;
  }
  const tabs: Tab[] = [];
  if (text !== undefined) {
    tabs.push({ key: 'text', label: 'Text', render: () => <Text {...{ text }} /> });
  }
  if (received.hasHtml) {
    tabs.push({ key: 'html', label: 'HTML', render: () => <Html id={entry.id} /> });
  }
  if (raw !== undefined) {
    tabs.push({ key: 'raw', label: 'Raw', render: () => <Raw {...raw} /> });
  }
  return tabs.length === 0 ? (
    <p class="muted">The message has no readable text.</p>
  ) : (
    <Tabs label="Received content" {...{ tabs }} />
  );
}

const Html = ({ id }: { readonly id: string }) => (
  <>
    <iframe
      class="html"
      sandbox=""
      referrerpolicy="no-referrer"
      title="HTML of the message, without scripts and remote content"
      src={addressOf.html(id)}
    />
    <p class="muted small small-print">
      Shown without scripts, remote images, forms and links, so that the sender cannot detect it.
    </p>
  </>
);

const Raw = ({ text, truncated }: { readonly text: string; readonly truncated: boolean }) => (
  <>
    <Text {...{ text }} isRaw />
    {truncated && (
      <p class="muted small small-print">
        Only the beginning is shown. Download the original for the rest.
      </p>
    )}
  </>
);

function Submitted(props: { readonly entry: EntryDetail; readonly content: EntryContent }) {
  const { payload } = props.content;
  if (payload === undefined) {
    return (
      <p class="muted">
        {props.entry.state === 'queued' || props.entry.state === 'delivering'
          ? 'Created by the first attempt.'
          : 'No record is kept.'}
      </p>
    );
  }
  const text = submittedText(payload);
  const json = JSON.stringify(payload, null, 2);
  const tabs: Tab[] = [
    { key: 'fields', label: 'Fields', render: () => <Fields {...{ payload }} /> },
    { key: 'json', label: 'JSON', render: () => <Text text={json} isRaw /> },
  ];
  if (text !== '') {
    tabs.unshift({ key: 'text', label: 'Text', render: () => <Text {...{ text }} /> });
  }
  return (
    <Tabs
      label="Submitted content"
      {...{ tabs }}
      tools={<CopyButton text={json} what="the request as JSON" />}
    />
  );
}

const Text = ({ text, isRaw = false }: { readonly text: string; readonly isRaw?: boolean }) =>
  text.trim() === '' ? (
    <p class="muted">Empty.</p>
  ) : (
    <pre class={isRaw ? 'text raw' : 'text'} dir={isRaw ? 'ltr' : 'auto'}>
      {text}
    </pre>
  );

const Fields = ({ payload }: { readonly payload: unknown }) => (
  <dl class="resource-facts payload">
    {payloadFields(payload).map(({ name, value, isText }) => (
      <div key={name} class={isText ? 'wide' : undefined}>
        <dt>{name}</dt>
        <dd>
          <bdi>{value}</bdi>
        </dd>
      </div>
    ))}
  </dl>
);

/** Attachments, as downloads only: the browser must not render them. */
const AttachmentTable = (props: {
  readonly id: string;
  readonly attachments: EntryContent['attachments'];
}) => (
  <ul class="attachments">
    {props.attachments.map(({ part, name, type, bytes: size, mediaId }) => (
      <li key={part}>
        <Icon name="file" />
        <span class="attachment-words">
          <bdi class="ellipsis" title={name}>
            {name === '' ? '(no name)' : name}
          </bdi>
          <span class="muted ellipsis">
            {type}, {bytes(size)}
          </span>
        </span>
        <Badge
          tone={mediaId === undefined ? 'warning' : 'ok'}
          icon={mediaId === undefined ? 'warning' : 'ok'}
        >
          {mediaId === undefined ? 'not uploaded' : 'uploaded'}
        </Badge>
        <ButtonLink
          size="small"
          icon="download"
          href={addressOf.attachment(props.id, part)}
          download={name === '' ? 'attachment' : name}
          aria-label={`Download ${name}`}
        />
      </li>
    ))}
  </ul>
);
