import { MAX_FILE_BYTES, MAX_FILES } from '../../../channels/chat/events.ts';
import type { PendingFile } from '../../engine/chat.ts';
import { Thumbnail } from '../thumbnail.tsx';
import { isPicture, NameAndNote } from './files.tsx';
import { fileSize } from './file-size.ts';
import { fill } from '../formats.ts';
import { Icon, IconButton } from '../icon.tsx';
import { type Ui, useUi } from '../ui.ts';

/** The next message's files. */
export const Tray = () => (
  <ul class="tray">
    {useUi().chat.files.value.map((file) => (
      <Pending key={file.key} file={file} />
    ))}
  </ul>
);

const THUMBNAIL_PX = 36;

function Pending({ file }: { readonly file: PendingFile }) {
  const ui = useUi();
  const { chat, texts, locale } = ui;
  const { key, name, state, progress } = file;
  const isUnderWay = state === 'waiting' || state === 'uploading';
  return (
    <li data-state={state}>
      <span class="kind">
        {file.blob && isPicture(file) ? (
          <Thumbnail blob={file.blob} width={THUMBNAIL_PX} height={THUMBNAIL_PX} />
        ) : (
          <Icon name="file" />
        )}
      </span>
      <NameAndNote
        name={name}
        note={
          state === 'failed' ? (
            <span role="alert">{errorTextOf(file, ui)}</span>
          ) : (
            fileSize(file.size, locale)
          )
        }
      />
      {state === 'failed' && isWorthRetrying(file) && (
        <IconButton
          icon="again"
          label={texts.tryAgain}
          class="tool small"
          onClick={() => chat.retryFile(key)}
        />
      )}
      <IconButton
        icon="close"
        label={fill(texts.remove, name)}
        class="tool small"
        onClick={() => chat.removeFile(key)}
      />
      {isUnderWay && (
        <span
          class="progress"
          role="progressbar"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(progress * 100)}
        >
          <span style={{ transform: `scaleX(${progress})` }} />
        </span>
      )}
    </li>
  );
}

const isWorthRetrying = ({ error }: PendingFile): boolean =>
  error === 'failed' || error === 'rate_limited';

function errorTextOf({ error = 'failed' }: PendingFile, { chat, texts, locale }: Ui): string {
  const limits = chat.session.peek()?.limits;
  switch (error) {
    case 'too_large':
      return fill(texts.fileTooLarge, fileSize(limits?.fileBytes ?? MAX_FILE_BYTES, locale));
    case 'too_many':
      return fill(texts.tooManyFiles, limits?.files ?? MAX_FILES);
    case 'unsupported':
      return texts.badType;
    case 'rate_limited':
    case 'failed':
      return texts.uploadFailed;
  }
}
