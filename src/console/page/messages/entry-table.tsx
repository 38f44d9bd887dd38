import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Skeleton } from '../ui/states.tsx';
import { EntryLine } from './entry-line.tsx';
import { list } from './list-state.ts';
import { isSelected, type Selection } from './selection.ts';
import { useRowHeight, useWindow } from './use-window.ts';

const COLUMNS = ['From', 'Subject', 'State', 'Tries', 'Received'] as const;

/** The endless list: only the rows on the screen are in the document. */
export function EntryTable(props: {
  readonly bodyRef: RefObject<HTMLDivElement | null>;
  readonly selection: Selection;
  readonly cursor: string | undefined;
  readonly onPick: (id: string, extend: boolean) => void;
  readonly onPickAll: (isOn: boolean) => void;
}) {
  const { bodyRef, selection, cursor, onPick, onPickAll } = props;
  const pages = list.pages.value;
  const rowHeight = useRowHeight();
  const { first, end } = useWindow(bodyRef, rowHeight, pages.total);
  const isBusy = useRef(false);
  isBusy.current = selection.kind === 'all' || selection.ids.size > 0 || cursor !== undefined;

  useEffect(() => {
    // What arrives must not move a row from under the pointer of someone who picks.
    const top = bodyRef.current?.getBoundingClientRect().top ?? 0;
    list.look(first, end, top > 0 && !isBusy.current);
  }, [first, end, pages, selection, cursor]);

  const shown = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
  const picked = selection.kind === 'all' ? pages.total : selection.ids.size;
  const isAll = picked > 0 && picked >= pages.total;
  return (
    <div class="entries" role="table" aria-label="Messages" aria-rowcount={rowCount()}>
      <div role="rowgroup" class="entries-head">
        <div role="row" aria-rowindex={1} class="entry head">
          <div role="columnheader" class="pick">
            <label>
              <input
                type="checkbox"
                checked={isAll}
                indeterminate={picked > 0 && !isAll}
                aria-label="Select all loaded messages"
                onClick={(event) => onPickAll(event.currentTarget.checked)}
              />
            </label>
          </div>
          <div role="columnheader" class="by">
            <span class="sr">Channel</span>
          </div>
          {COLUMNS.map((name) => (
            <div key={name} role="columnheader" class={CLASSES[name]}>
              {name}
            </div>
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        class="entries-body"
        ref={bodyRef}
        style={{ height: `${pages.total * rowHeight}px` }}
      >
        {shown.map((index) => {
          const listed = pages.at(index);
          const top = index * rowHeight;
          if (listed === undefined) {
            return (
              <div
                key={index}
                role="row"
                class="entry"
                style={{ transform: `translateY(${top}px)` }}
              >
                <div role="cell" class="waiting">
                  <Skeleton />
                </div>
              </div>
            );
          }
          const { id } = listed.row;
          return (
            <EntryLine
              key={id}
              {...{ listed, index, top }}
              isPicked={isSelected(selection, id)}
              isCurrent={cursor === id}
              onPick={(extend) => onPick(id, extend)}
            />
          );
        })}
      </div>
    </div>
  );
}

const CLASSES: Readonly<Record<(typeof COLUMNS)[number], string>> = {
  From: 'from',
  Subject: 'subject',
  State: 'state',
  Tries: 'tries number',
  Received: 'age',
};

/** With its head; -1 while it is not known how many there are. */
function rowCount(): number {
  const { total } = list;
  return total.value?.exact === true ? total.value.count + 1 : -1;
}
