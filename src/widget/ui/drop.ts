import { useRef, useState } from 'preact/hooks';

const carriesFiles = (event: DragEvent): boolean =>
  event.dataTransfer?.types.includes('Files') ?? false;

/** Files that are dragged over the panel and dropped on it. */
export function useDrop(attach: (files: FileList) => void) {
  const [isOver, setOver] = useState(false);
  // Entering a child comes before leaving its parent.
  const depth = useRef(0);
  const count = (event: DragEvent, by: number): void => {
    if (!carriesFiles(event)) return;
    depth.current = Math.max(0, depth.current + by);
    setOver(depth.current > 0);
  };
  return {
    isOver,
    handlers: {
      onDragEnter: (event: DragEvent) => count(event, 1),
      onDragLeave: (event: DragEvent) => count(event, -1),
      onDragOver: (event: DragEvent) => {
        if (carriesFiles(event)) event.preventDefault();
      },
      onDrop: (event: DragEvent) => {
        if (!carriesFiles(event) || !event.dataTransfer) return;
        event.preventDefault();
        count(event, -depth.current);
        attach(event.dataTransfer.files);
      },
    },
  };
}
