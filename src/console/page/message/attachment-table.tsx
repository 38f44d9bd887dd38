import type { EntryContent } from '../../contract.ts';
import { addressOf } from '../api.ts';
import { bytes } from '../formats.ts';
import { Badge } from '../ui/badge.tsx';
import { Icon } from '../ui/icon.tsx';

/** Files of a message. They are downloads: the browser never shows one. */
export const AttachmentTable = (props: {
  readonly id: string;
  readonly attachments: EntryContent['attachments'];
}) => (
  <ul class="attachments">
    {props.attachments.map(({ part, name, type, bytes: size, mediaId }) => (
      <li key={part}>
        <Icon name="file" />
        <span class="attachment-words">
          <bdi title={name}>{name === '' ? '(no name)' : name}</bdi>
          <span class="muted">
            {type}, {bytes(size)}
          </span>
        </span>
        {mediaId === undefined ? (
          <Badge tone="warning" icon="warning">
            not uploaded
          </Badge>
        ) : (
          <Badge tone="ok" icon="ok">
            uploaded
          </Badge>
        )}
        <a
          class="button small plain bare"
          href={addressOf.attachment(props.id, part)}
          download={name === '' ? 'attachment' : name}
          aria-label={`Download ${name}`}
          title={`Download ${name}`}
        >
          <Icon name="download" />
        </a>
      </li>
    ))}
  </ul>
);
