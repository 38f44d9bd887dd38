import { useEffect, useRef, useState } from 'preact/hooks';
import type { Ref } from 'preact';
import { api } from '../../api.ts';
import { bytes } from '../../formats.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { orToast, toast } from '../../ui/overlays.tsx';
import { Select } from '../../ui/field.tsx';
import { Note } from '../../ui/page-parts.tsx';
import type { DeskTicketView } from '../../../contract.ts';
import { type Draft, EMPTY, isEmpty, keepDraft, readDraft, withInserted } from './draft.ts';
import { TextsDialog } from './texts-dialog.tsx';

const MAX_FILE_BYTES = 15 * 1024 * 1024;

/** The draft of a ticket, which outlives a reload of the page. */
export function useDraft(ticketId: string) {
  const [draft, setDraft] = useState<Draft>(() => readDraft(ticketId));
  const update = (change: Partial<Draft>) =>
    setDraft((before) => {
      const next = { ...before, ...change };
      keepDraft(ticketId, next);
      return next;
    });
  return { draft, update, clear: () => update({ ...EMPTY, isNote: false }) };
}

const CHANNEL_WORDS = { email: 'by email', sms: 'by SMS', web_chat: 'in the chat' } as const;

interface ComposerProps {
  readonly ticket: DeskTicketView;
  readonly draft: Draft;
  readonly busy: boolean;
  readonly fieldRef: Ref<HTMLTextAreaElement>;
  readonly onChange: (change: Partial<Draft>) => void;
  readonly onSend: () => void;
}

/** Emphasis, a link or a heading of Markdown, in what the operator types. */
const MARKUP = /\*\*[^\s*]|\]\(https?:|^#{1,6} /m;

/** Writes a reply or an internal note. */
export function Composer({ ticket, draft, busy, fieldRef, onChange, onSend }: ComposerProps) {
  const { isNote, text, format } = draft;
  const [isChoosing, setChoosing] = useState(false);
  const at = useRef(0);
  const isStopped = ticket.optedOut && !isNote;
  const to = ticket.replyTo === undefined ? '' : `to ${ticket.replyTo} `;
  const label = isNote
    ? 'Internal note, which the customer never gets'
    : `Reply ${to}${CHANNEL_WORDS[ticket.channel]}`;
  return (
    <form
      class={`composer${isNote ? ' is-note' : ''}`}
      aria-label="Answer"
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <div class="composer-head">
        <div class="segments" role="group" aria-label="What to write">
          {[false, true].map((note) => (
            <button
              key={String(note)}
              type="button"
              aria-pressed={note === isNote}
              onClick={() => onChange({ isNote: note })}
            >
              {note ? 'Note' : 'Reply'}
            </button>
          ))}
        </div>
        <label for="composer-text" class="muted small">
          {label}
        </label>
      </div>
      {isStopped && (
        <Note tone="warning" icon="alert">
          <b>This number has opted out of texts.</b> No reply goes out, from the agent or from
          people, until the customer texts START. Reach them in another way, or write a note.
        </Note>
      )}
      <textarea
        id="composer-text"
        ref={fieldRef}
        rows={6}
        dir="auto"
        maxLength={100_000}
        readOnly={busy}
        value={text}
        onInput={(event) => onChange({ text: event.currentTarget.value })}
        onBlur={(event) => {
          at.current = event.currentTarget.selectionStart;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend();
          else if (event.key === 'Escape') event.currentTarget.blur();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <Files {...{ draft, onChange }} />
      <div class="composer-tools">
        <Button
          type="submit"
          look="primary"
          icon={isNote ? 'lock' : 'send'}
          {...{ busy }}
          disabled={isEmpty(draft) || isStopped}
        >
          {isNote ? 'Add note' : 'Send'}
        </Button>
        <kbd aria-hidden="true">Ctrl Enter</kbd>
        <Button look="quiet" icon="search" onClick={() => setChoosing(true)}>
          Texts
        </Button>
        <Attach {...{ ticket, draft, onChange }} />
        {ticket.channel !== 'sms' && !isNote && (
          <Select
            label="Format"
            value={format}
            options={[
              { value: 'TEXT', label: 'Plain text' },
              { value: 'MARKDOWN', label: 'Markdown' },
            ]}
            onChoose={(value) => onChange({ format: value === 'MARKDOWN' ? value : 'TEXT' })}
          />
        )}
      </div>
      {ticket.channel !== 'sms' && !isNote && format === 'TEXT' && MARKUP.test(text) && (
        <p class="muted small" role="status">
          The marks of Markdown go out as they are typed, since the format is plain text.
        </p>
      )}
      <TextsDialog
        open={isChoosing}
        onClose={() => setChoosing(false)}
        onChoose={(chosen) => {
          setChoosing(false);
          const place = text === '' ? 0 : at.current;
          // By SMS the gateway removes the markup.
          onChange({ text: withInserted(text, place, chosen), format: 'MARKDOWN' });
        }}
      />
    </form>
  );
}

type FileProps = Pick<ComposerProps, 'ticket' | 'draft' | 'onChange'>;

const Files = ({ draft: { files }, onChange }: Omit<FileProps, 'ticket'>) =>
  files.length === 0 ? null : (
    <ul class="turn-files small">
      {files.map((file) => (
        <li key={file.id}>
          <Icon name="file" />
          <bdi>{file.name}</bdi>
          <span class="muted">{bytes(file.bytes)}</span>
          <Button
            size="small"
            look="quiet"
            icon="close"
            aria-label={`Remove ${file.name}`}
            onClick={() => onChange({ files: files.filter(({ id }) => id !== file.id) })}
          />
        </li>
      ))}
    </ul>
  );

/** Uploads files as soon as they are chosen. */
function Attach({ ticket: { shop }, draft: { files }, onChange }: FileProps) {
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  // Uploads may end while further ones begin.
  const current = useRef(files);
  useEffect(() => {
    current.current = files;
  }, [files]);
  const upload = async (chosen: readonly File[]) => {
    setBusy(true);
    for (const file of chosen) {
      if (file.size > MAX_FILE_BYTES) {
        toast({ tone: 'danger', text: `${file.name} is too large: at most 15 MB` });
        continue;
      }
      await orToast(async () => {
        current.current = [...current.current, await api.deskUpload(shop, file)];
        onChange({ files: current.current });
      });
    }
    setBusy(false);
  };
  return (
    <>
      <Button look="quiet" icon="file" {...{ busy }} onClick={() => input.current?.click()}>
        Attach
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={(event) => {
          const chosen = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = '';
          void upload(chosen);
        }}
      />
    </>
  );
}
