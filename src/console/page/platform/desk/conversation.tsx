import { useState } from 'preact/hooks';
import { Badge, Time } from '../../ui/page-parts.tsx';
import { Icon } from '../../ui/icon.tsx';
import { bytes } from '../../formats.ts';
import { isDeskOnly } from '../../stream.ts';
import { EntryLink } from '../transcript-card.tsx';
import type { DeskFile, DeskMessage, DeskStep, DeskTicketView } from '../../../contract.ts';
import { changeInWords } from './change-words.ts';
import { FateActions, FateWords } from './reply-fate.tsx';

/** The messages of a ticket with what people did in between, oldest first. */
export function Conversation({
  ticket,
  me,
  reload,
}: {
  readonly ticket: DeskTicketView;
  readonly me: string;
  readonly reload: () => void;
}) {
  const { messages, steps, hasEarlier } = ticket;
  const from = hasEarlier ? (messages[0]?.at ?? 0) : 0;
  const lines = [
    ...messages.map((message) => ({ at: message.at, message })),
    ...steps.filter(({ at }) => at >= from).map((step) => ({ at: step.at, step })),
  ].toSorted((a, b) => a.at - b.at);
  return (
    <ol class="transcript">
      {lines.map((line) =>
        'message' in line ? (
          <Message key={line.message.id} {...{ ticket, reload }} message={line.message} />
        ) : (
          <Step key={`${line.step.what}${line.at}`} {...{ me }} step={line.step} />
        ),
      )}
    </ol>
  );
}

const Step = ({ step, me }: { readonly step: DeskStep; readonly me: string }) => (
  <li class="desk-step muted small">
    {changeInWords(step, me)} · <Time at={step.at} />
  </li>
);

function speakerOf({ from, who }: DeskMessage): string {
  if (from === 'customer') return 'Customer';
  return who ?? 'AI agent';
}

function Message({
  ticket: { shop, otherChannels },
  message,
  reload,
}: {
  readonly ticket: DeskTicketView;
  readonly message: DeskMessage;
  readonly reload: () => void;
}) {
  const { id, from, isInternal, at, fate, text, files } = message;
  const side = isInternal ? 'internal' : from === 'customer' ? 'customer' : 'team';
  return (
    <li class={`turn ${side}`}>
      <p class="turn-head">
        <b>
          <bdi>{speakerOf(message)}</bdi>
        </b>
        {isInternal && (
          <Badge tone="warning" icon="lock">
            internal note
          </Badge>
        )}
        <span class="muted">
          <Time {...{ at }} />
        </span>
        {fate !== undefined && <FateWords {...{ fate }} />}
      </p>
      <div class="bubble" dir="auto">
        {text === '' ? <span class="muted">(no text)</span> : text}
      </div>
      {files.length > 0 && (
        <ul class="turn-files small">
          {files.map((file) => (
            <li key={file.id}>
              <FileLink {...{ shop, file }} />
            </li>
          ))}
        </ul>
      )}
      {fate?.isOpen === true && <FateActions {...{ shop, id, otherChannels }} onDone={reload} />}
      {from === 'customer' && !isDeskOnly.value && <EntryLink message={message.id} />}
    </li>
  );
}

/** A download. Of the files of strangers, the browser shows only what the gateway knows to be a picture. */
function FileLink({ shop, file }: { readonly shop: string; readonly file: DeskFile }) {
  const [isPicture, setPicture] = useState(file.type.startsWith('image/'));
  const href = `/api/platform/desk/${encodeURIComponent(shop)}/files/${encodeURIComponent(file.id)}`;
  return (
    <a {...{ href }} download={file.name}>
      {isPicture ? (
        <img src={`${href}/picture`} alt="" loading="lazy" onError={() => setPicture(false)} />
      ) : (
        <Icon name="file" />
      )}
      <bdi>{file.name === '' ? 'file' : file.name}</bdi> <span>{bytes(file.bytes)}</span>
    </a>
  );
}
