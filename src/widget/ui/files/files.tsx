import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AttachmentInfo } from '../../../channels/chat/events.ts';
import { fileSize } from './file-size.ts';
import { fill } from '../formats.ts';
import { Icon } from '../icon.tsx';
import { safeUrl } from '../rich/plain.ts';
import { saveBlob } from '../save-blob.ts';
import { type Size, Thumbnail } from '../thumbnail.tsx';
import { useUi } from '../ui.ts';

/** A single picture is shown whole, in its own ratio; several are cropped to squares. */
const ALONE = { width: 228, height: 160, fit: 'contain' } as const;
const BESIDE = { width: 112, height: 112, fit: 'cover' } as const;
/** A picture of one pixel can be pressed, too. */
const LEAST = 44;
type Box = typeof ALONE | typeof BESIDE;

export function Files({ files }: { readonly files: readonly AttachmentInfo[] }) {
  const pictures = files.filter((file) => isPicture(file) && (file.id ?? file.url) !== undefined);
  const box = pictures.length === 1 ? ALONE : BESIDE;
  return (
    <>
      {pictures.length > 0 && (
        <div class="pictures">
          {pictures.map((file) => (
            <Picture key={file.id ?? file.url} file={file} box={box} />
          ))}
        </div>
      )}
      {files
        .filter((file) => !pictures.includes(file))
        .map((file, i) => (
          <FileCard key={file.id ?? i} file={file} />
        ))}
    </>
  );
}

function Picture({ file, box }: { readonly file: AttachmentInfo; readonly box: Box }) {
  const { chat, texts, view } = useUi();
  const [blob, setBlob] = useState<Blob | null | undefined>(undefined);
  const [shown, setShown] = useState<Size>(box);
  useEffect(() => {
    let isGone = false;
    void chat.open(file).then((bytes) => {
      if (!isGone) setBlob(bytes ?? null);
    });
    return () => {
      isGone = true;
    };
  }, [file.id, file.url]);
  if (blob === null) return <FileCard file={file} />;
  return (
    <button
      type="button"
      class="picture"
      aria-label={fill(texts.open, file.name)}
      style={{
        width: `${Math.max(LEAST, shown.width)}px`,
        height: `${Math.max(LEAST, shown.height)}px`,
      }}
      onClick={() => blob && void view(blob, file.name).catch(() => saveBlob(blob, file.name))}
    >
      {blob && <Thumbnail blob={blob} {...box} onShown={setShown} onBroken={() => setBlob(null)} />}
    </button>
  );
}

/** What is shown over the panel while files are dragged over it. */
export const DropTarget = () => (
  <div class="drop">
    <p>{useUi().texts.drop}</p>
  </div>
);

/** A reply's file is a link; the visitor's own file is downloaded from the gateway. */
function FileCard({ file }: { readonly file: AttachmentInfo }) {
  const { chat, texts, locale } = useUi();
  const href = file.url === undefined ? undefined : safeUrl(file.url);
  const content = (
    <>
      <span class="kind">
        <Icon name="file" />
      </span>
      <NameAndNote name={file.name} note={fileSize(file.size, locale)} />
    </>
  );
  if (href !== undefined)
    return (
      <a class="file" href={href} target="_blank" rel="noopener noreferrer">
        {content}
      </a>
    );
  if (file.id === undefined) return <span class="file">{content}</span>;
  return (
    <button
      type="button"
      class="file"
      aria-label={fill(texts.open, file.name)}
      onClick={() => void chat.open(file).then((blob) => blob && saveBlob(blob, file.name))}
    >
      {content}
    </button>
  );
}

export const NameAndNote = (props: { readonly name: string; readonly note: ComponentChildren }) => (
  <span class="what">
    <span class="name" dir="auto" title={props.name}>
      {props.name}
    </span>
    <span class="note">{props.note}</span>
  </span>
);

/** Bitmaps that browsers can decode; not SVG, which is markup. */
export const isPicture = ({ type }: { readonly type: string }): boolean =>
  /^image\/(png|jpe?g|gif|webp|avif|bmp)$/.test(type);
