import { useEffect, useRef } from 'preact/hooks';

/** In CSS pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}
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
        const shown = paint(canvas.current, picture, { width, height, fit });
        onShown?.(shown);
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
