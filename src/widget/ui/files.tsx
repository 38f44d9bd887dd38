import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AttachmentInfo } from '../../channels/chat/events.ts';
import { fill } from './formats.ts';
import { Icon } from './icon.tsx';
import { safeUrl } from './rich/plain.ts';
import { useUi } from './ui.ts';

/** In CSS pixels. */
interface Size {
  readonly width: number;
  readonly height: number;
}
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
      onClick={() => blob && void view(blob, file.name).catch(() => save(blob, file.name))}
    >
      {blob && <Thumbnail blob={blob} {...box} onShown={setShown} onBroken={() => setBlob(null)} />}
    </button>
  );
}

/** A reply's file is a link; the visitor's own file is downloaded from the gateway. */
function FileCard({ file }: { readonly file: AttachmentInfo }) {
  const { chat, texts, formats } = useUi();
  const href = file.url === undefined ? undefined : safeUrl(file.url);
  const content = (
    <>
      <span class="kind">
        <Icon name="file" />
      </span>
      <NameAndNote name={file.name} note={formats.bytes(file.size)} />
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
      onClick={() => void chat.open(file).then((blob) => blob && save(blob, file.name))}
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

/** Downloads it. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // By then the browser has started the download.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Bitmaps that browsers can decode; not SVG, which is markup. */
export const isPicture = ({ type }: { readonly type: string }): boolean =>
  /^image\/(png|jpe?g|gif|webp|avif|bmp)$/.test(type);

/**
 * A picture on a canvas. An `<img>` would require that the page's policy allows `blob:`.
 * @param fit `cover` fills the box and crops the picture
 */
export function Thumbnail(props: {
  readonly blob: Blob;
  readonly width: number;
  readonly height: number;
  readonly fit?: 'cover' | 'contain';
  /** Called with the size of what is drawn. */
  readonly onShown?: (size: Size) => void;
  readonly onBroken?: () => void;
}) {
  const { blob, width, height, fit = 'cover', onShown, onBroken } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isGone = false;
    const draw = async (): Promise<void> => {
      const picture = await createImageBitmap(blob);
      if (canvas.current && !isGone) {
        onShown?.(paint(canvas.current, picture, { width, height, fit }));
      }
      picture.close();
    };
    draw().catch(() => {
      if (!isGone) onBroken?.();
    });
    return () => {
      isGone = true;
    };
  }, [blob, width, height]);
  return (
    <canvas
      ref={canvas}
      aria-hidden="true"
      style={{ width: `${width}px`, height: `${height}px` }}
    />
  );
}

function paint(
  canvas: HTMLCanvasElement,
  picture: ImageBitmap,
  box: Size & { readonly fit: 'cover' | 'contain' },
): Size {
  const density = Math.max(1, Math.min(3, devicePixelRatio));
  const scales = [box.width / picture.width, box.height / picture.height];
  // `contain` never enlarges a picture.
  const scale = box.fit === 'cover' ? Math.max(...scales) : Math.min(1, ...scales);
  const shown =
    box.fit === 'cover' ? box : { width: picture.width * scale, height: picture.height * scale };
  canvas.width = Math.round(shown.width * density);
  canvas.height = Math.round(shown.height * density);
  canvas.style.width = `${shown.width}px`;
  canvas.style.height = `${shown.height}px`;
  const brush = canvas.getContext('2d');
  if (!brush) return shown;
  brush.imageSmoothingQuality = 'high';
  const width = picture.width * scale * density;
  const height = picture.height * scale * density;
  brush.drawImage(picture, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height);
  return shown;
}
