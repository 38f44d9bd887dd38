import { computed } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { EntryRow } from '../../contract.ts';
import { isPhone } from '../media.ts';
import { Empty, Skeleton } from '../ui/page-parts.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { EntryLine } from './entry-line.tsx';
import { type FilterState, list } from './list-state.ts';
import { isSelected, type Selection } from './actions.ts';
import { STATE_MEANING } from './reasons.ts';
import { isFiltered } from './filters.ts';
import { type ListWindow, visibleRows } from './message-list.ts';

/** The height of a row in pixels; the style sheet has the same values. */
export const rowHeight = computed(() => (isPhone.value ? 78 : 40));

/** The virtual list: only the rows on the screen are in the document. */
export function EntryTable(props: {
  readonly bodyRef: RefObject<HTMLDivElement | null>;
  readonly selection: Selection;
  readonly cursor: string | undefined;
  /** Whether the rows may be of several shops. */
  readonly areOfShops: boolean;
  readonly onPick: (id: string, extend: boolean) => void;
  readonly onPickAll: (isOn: boolean) => void;
}) {
  const { bodyRef, selection, cursor, onPick, onPickAll } = props;
  const pages = list.pages.value;
  const rowPx = rowHeight.value;
  const { first, end } = useWindow(bodyRef, rowPx, pages.total);
  const isBusy = useRef(false);
  isBusy.current = selection.kind === 'all' || selection.ids.size > 0 || cursor !== undefined;

  useEffect(() => {
    // New rows must not move rows while the operator selects.
    const top = bodyRef.current?.getBoundingClientRect().top ?? 0;
    list.look(first, end, top > 0 && !isBusy.current);
  }, [first, end, pages, selection, cursor]);

  const shown = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
  // On a phone there is no room for it.
  const hasShop = props.areOfShops && !isPhone.value;
  const picked = selection.kind === 'all' ? pages.total : selection.ids.size;
  return (
    <div
      class={`entries${hasShop ? ' of-shops' : ''}`}
      role="table"
      aria-label="Messages"
      aria-rowcount={rowCount()}
    >
      <HeadRow {...{ picked, hasShop }} total={pages.total} onPickAll={onPickAll} />
      <div
        role="rowgroup"
        class="entries-body"
        ref={bodyRef}
        style={{ height: `${pages.total * rowPx}px` }}
      >
        {shown.map((index) => {
          const listed = pages.at(index);
          const top = index * rowPx;
          if (listed === undefined) return <WaitingRow key={index} {...{ top }} />;
          const { id } = listed.row;
          return (
            <EntryLine
              key={id}
              {...{ listed, index, top }}
              isSelected={isSelected(selection, id)}
              isCurrent={cursor === id}
              hasShop={hasShop}
              isAgain={index > 0 && isSameSender(pages.at(index - 1)?.row, listed.row)}
              onPick={(extend) => onPick(id, extend)}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Rows of one person in a row are shown as a group. */
const isSameSender = (above: EntryRow | undefined, row: EntryRow): boolean =>
  above !== undefined &&
  row.from !== '' &&
  above.from === row.from &&
  above.channel === row.channel &&
  above.shop === row.shop;

const COLUMNS = [
  ['From', 'from'],
  ['Shop', 'shop'],
  ['Subject', 'subject'],
  ['State', 'state'],
  ['Failed', 'tries number'],
  ['Received', 'age'],
] as const;

function HeadRow(props: {
  readonly picked: number;
  readonly hasShop: boolean;
  readonly total: number;
  readonly onPickAll: (isOn: boolean) => void;
}) {
  const { picked, hasShop, total, onPickAll } = props;
  const isAll = picked > 0 && picked >= total;
  return (
    <div role="rowgroup">
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
        {COLUMNS.filter(([, look]) => hasShop || look !== 'shop').map(([name, look]) => (
          <div key={name} role="columnheader" class={look}>
            {name}
          </div>
        ))}
      </div>
    </div>
  );
}

/** A row that is not in memory. */
const WaitingRow = ({ top }: { readonly top: number }) => (
  <div role="row" class="entry" style={{ transform: `translateY(${top}px)` }}>
    <div role="cell" class="waiting">
      <Skeleton />
    </div>
  </div>
);

/** Including the header row; -1 while the number is unknown. */
function rowCount(): number {
  const { total } = list;
  return total.value?.exact === true ? total.value.count + 1 : -1;
}

/** Explains why the list is empty and what to do. */
export function NothingFound({ state }: { readonly state: FilterState }) {
  const { filters, clear, choose } = state;
  if (!isFiltered(filters)) {
    return (
      <Empty icon="messages" title="No messages yet">
        <p>Messages appear here as they arrive.</p>
        <p class="empty-actions">
          <ButtonLink href="/configuration" look="primary" icon="send">
            Send a test message
          </ButtonLink>
        </p>
      </Empty>
    );
  }
  const { text, reason, time } = filters;
  const [only, ...others] = filters.states;
  const isOnly = [...others, text, reason].join('') === '' && time.kind === 'any';
  if (isOnly && (only === 'dead' || only === 'held')) {
    return (
      <Empty icon="ok" title={only === 'dead' ? 'No dead messages' : 'No messages are held'}>
        <p>{only === 'dead' ? 'No message has failed permanently.' : STATE_MEANING.held}</p>
        <p class="empty-actions">
          <Button onClick={clear}>Show all messages</Button>
        </p>
      </Empty>
    );
  }
  return (
    <Empty icon="search" title="No messages found">
      <p>
        {list.searchIsComplete.value
          ? 'Search matches words and prefixes in sender, recipient, subject, address, number and id. All words must match. Message texts are not searched.'
          : 'The search index is being updated. Try again shortly.'}
      </p>
      <p class="empty-actions">
        {time.kind !== 'any' && (
          <Button onClick={() => choose({ time: { kind: 'any' } })}>Search any time</Button>
        )}
        <Button onClick={clear}>Clear all filters</Button>
      </p>
    </Empty>
  );
}

/**
 * How far the page is scrolled into an element, and the height of the screen below the element's
 * top.
 */
export function viewOf(element: HTMLElement): { scrollTop: number; viewHeight: number } {
  const { top } = element.getBoundingClientRect();
  return { scrollTop: Math.max(0, -top), viewHeight: innerHeight - Math.max(0, top) };
}

/** The visible rows of a list of `total`, updated while the page scrolls. */
function useWindow(body: RefObject<HTMLElement | null>, rowPx: number, total: number): ListWindow {
  const [shown, setShown] = useState<ListWindow>({ first: 0, end: 0 });
  useLayoutEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      if (body.current === null) return;
      const { scrollTop, viewHeight } = viewOf(body.current);
      const next = visibleRows(scrollTop, viewHeight, rowPx, total);
      setShown((now) => (now.first === next.first && now.end === next.end ? now : next));
    };
    const later = () => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };
    look();
    addEventListener('scroll', later, { passive: true });
    addEventListener('resize', later);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', later);
      removeEventListener('resize', later);
    };
  }, [rowPx, total]);
  return shown;
}
