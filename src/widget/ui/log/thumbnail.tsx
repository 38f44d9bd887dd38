import { useEffect, useRef } from 'preact/hooks';

/** Kinds that browsers can decode; a drawing of markup is none of them. */
export const isPicture = ({ type }: { readonly type: string }): boolean =>
  /^image\/(png|jpe?g|gif|webp|avif|bmp)$/.test(type);

/**
 * A picture drawn on a canvas, as an `<img>` would need the page's policy to allow `blob:`.
 * @param fit `cover` fills the box and cuts off what is over
 */
export function Thumbnail(props: {
  readonly blob: Blob;
  readonly width: number;
  readonly height: number;
  readonly fit?: 'cover' | 'contain';
  readonly onBroken?: () => void;
}) {
  const { blob, width, height, fit = 'cover', onBroken } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isGone = false;
    const draw = async (): Promise<void> => {
      const picture = await createImageBitmap(blob);
      if (canvas.current && !isGone) paint(canvas.current, picture, { width, height, fit });
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
  box: { readonly width: number; readonly height: number; readonly fit: 'cover' | 'contain' },
): void {
  const density = Math.max(1, Math.min(3, devicePixelRatio));
  const scales = [box.width / picture.width, box.height / picture.height];
  // Never larger than it is, when all of it is shown.
  const scale = box.fit === 'cover' ? Math.max(...scales) : Math.min(1, ...scales);
  const shown =
    box.fit === 'cover' ? box : { width: picture.width * scale, height: picture.height * scale };
  canvas.width = Math.round(shown.width * density);
  canvas.height = Math.round(shown.height * density);
  canvas.style.width = `${shown.width}px`;
  canvas.style.height = `${shown.height}px`;
  const brush = canvas.getContext('2d');
  if (!brush) return;
  brush.imageSmoothingQuality = 'high';
  const width = picture.width * scale * density;
  const height = picture.height * scale * density;
  brush.drawImage(picture, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height);
}
