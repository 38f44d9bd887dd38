import type { RefObject } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { EntryAction } from '../../contract.ts';
import { api, asRefusal } from '../api.ts';
import { shopsWith } from '../stream.ts';
import { gatewayNow } from '../now.ts';
import { Button } from '../ui/button.tsx';
import { Failure, Note, PageTitle, Skeleton } from '../ui/page-parts.tsx';
import { toast } from '../ui/overlays.tsx';
import { actOnMany, actOnOne } from './acting.ts';
import {
  BulkPanel,
  ConfirmAction,
  type Intent,
  SelectionBar,
  totalLine,
} from './selection-bar.tsx';
import { StopNotes } from '../overview/stop-notes.tsx';
import { EntryTable, NothingFound, rowHeight, viewOf } from './entry-table.tsx';
import { FilterBar } from './filter-bar.tsx';
import {
  bulkQuery,
  entryQuery,
  describeFilters,
  completeId,
  type Filters,
  writeFilters,
} from './filters.ts';
import { type FilterState, list, useFilters, useLiveList, useShownList } from './list-state.ts';
import { useListKeys } from './list-keys.ts';
import './messages.css';
import {
  actionsFor,
  countStates,
  extendTo,
  isEmpty,
  NO_SELECTION,
  selectAll,
  type Selection,
  toggle,
} from './actions.ts';
import { scrollToShow } from './message-list.ts';

/** The height of the fixed elements above the list. */
const COVERED_PX = 110;

export function MessagesPage() {
  const state = useFilters();
  const { filters } = state;
  const address = writeFilters(filters);
  const body = useRef<HTMLDivElement>(null);
  const picks = usePicks(address);
  const { selection, cursor, setSelection } = picks;
  const { act, ...asking } = useActions(filters, picks);
  const move = useMove(body, picks);
  const openId = useOpenId(state);
  useShownList(address, () => entryQuery(filters, gatewayNow()));
  useLiveList();
  const showNew = () => {
    scrollTo(0, 0);
    void list.show(entryQuery(filters, gatewayNow()));
  };
  const clear = () => setSelection(NO_SELECTION);
  useListKeys({
    ...{ move, act, clear, showNew },
    pick: (extend) => {
      if (cursor !== undefined) picks.pick(cursor, extend);
    },
  });
  return (
    <div class="messages">
      <PageTitle title="Messages">
        <p class="muted" role="status">
          {list.total.value !== undefined &&
            list.pages.value.isLoaded &&
            totalLine(list.total.value)}
        </p>
      </PageTitle>
      <FilterBar state={state} onId={openId} />
      {!list.searchIsComplete.value && filters.text !== '' && (
        <Note tone="warning" icon="info">
          The search index is being updated: older messages may be missing.
        </Note>
      )}
      <StopNotes shop={filters.shop} />
      <BulkPanel />
      <div class="above-list">
        {!isEmpty(selection) && (
          <SelectionBar
            {...{ selection }}
            actions={offered(selection, filters)}
            onAct={act}
            onAll={() => setSelection({ kind: 'all' })}
            onNone={clear}
          />
        )}
        <NewMessages onShow={showNew} />
      </div>
      <div class={list.loading.value ? 'loading' : undefined}>
        <ListStart state={state} />
        {list.pages.value.total > 0 && (
          <EntryTable
            bodyRef={body}
            {...{ selection, cursor }}
            areOfShops={filters.shop === '' && shopsWith('').length > 1}
            onPick={picks.pick}
            onPickAll={picks.pickAll}
          />
        )}
        <ListEnd />
      </div>
      <ConfirmAction {...asking} />
    </div>
  );
}

type Picks = ReturnType<typeof usePicks>;

/** The selection, and the row that the keys act on. Both are reset for another list. */
function usePicks(address: string) {
  const [selection, setSelection] = useState<Selection>(NO_SELECTION);
  const [cursor, setCursor] = useState<string>();
  useEffect(() => {
    setSelection(NO_SELECTION);
    setCursor(undefined);
  }, [address]);
  const pages = list.pages.value;
  return {
    ...{ selection, setSelection, cursor, setCursor },
    pick: (id: string, extend: boolean) => {
      setCursor(id);
      setSelection((now) =>
        extend ? extendTo(now, id, (a, b) => pages.between(a, b)) : toggle(now, id),
      );
    },
    pickAll: (isOn: boolean) =>
      setSelection(isOn ? selectAll([...pages.rows()].map(({ row }) => row.id)) : NO_SELECTION),
    /** The ids that an action applies to: the selected ones, or that of the current row. */
    target: (): readonly string[] => {
      if (selection.kind === 'some' && selection.ids.size > 0) return [...selection.ids];
      return cursor === undefined || pages.find(cursor) === undefined ? [] : [cursor];
    },
  };
}

/** The actions that are possible for some of the selected messages. */
function offered(selection: Selection, { states }: Filters): readonly EntryAction[] {
  if (selection.kind === 'all') return actionsFor(new Set(states));
  const rows = [...list.pages.value.rows()].filter(({ row }) => selection.ids.has(row.id));
  // The state of a selected row is unknown while the row is not in memory.
  const isAllKnown = rows.length === selection.ids.size;
  return actionsFor(new Set(isAllKnown ? rows.map(({ row }) => row.state) : []));
}

/** Acts on one message at once, and on several after asking. */
function useActions(filters: Filters, { selection, setSelection, target }: Picks) {
  const [intent, setIntent] = useState<Intent>();
  const act = (action: EntryAction) => {
    const { total, pages } = list;
    if (selection.kind === 'all') {
      setIntent({
        action,
        count: total.value?.count ?? pages.value.total,
        more: total.value?.exact !== true,
        states: new Map(),
        filters: describeFilters(filters),
      });
      return;
    }
    const ids = target();
    if (ids.length === 0) {
      toast({ text: 'Select a message (x) or move to one (j, k) first.' });
    } else if (ids.length === 1 && action !== 'release') {
      setSelection(NO_SELECTION);
      void actOnOne({ action, ids }, () => list.changed(ids));
    } else {
      const rows = ids.flatMap((id) => pages.value.find(id)?.row ?? []);
      setIntent({ action, count: ids.length, more: false, states: countStates(rows) });
    }
  };
  const onConfirm = async ({ action }: Intent) => {
    const hasStarted = await actOnMany(
      selection.kind === 'all'
        ? { action, filter: bulkQuery(filters, gatewayNow()) }
        : { action, ids: target() },
    );
    setIntent(undefined);
    if (hasStarted) setSelection(NO_SELECTION);
  };
  return { act, intent, onConfirm, onClose: () => setIntent(undefined) };
}

/** Moves to the next or the previous row, and scrolls to it. */
function useMove(body: RefObject<HTMLElement | null>, { cursor, setCursor }: Picks) {
  const pages = list.pages.value;
  return (by: 1 | -1) => {
    const at = cursor === undefined ? -1 : pages.indexOf(cursor);
    const index = Math.max(0, at + (at < 0 ? 1 : by));
    const id = pages.at(index)?.row.id;
    if (id === undefined || body.current === null) return;
    const { scrollTop, viewHeight } = viewOf(body.current);
    const top = scrollToShow(
      index,
      scrollTop + COVERED_PX,
      viewHeight - COVERED_PX,
      rowHeight.value,
    );
    if (scrollTop > 0 || top > scrollTop + COVERED_PX) scrollBy(0, top - scrollTop - COVERED_PX);
    setCursor(id);
    // The row is rendered after the list has handled the scroll event.
    requestAnimationFrame(() => requestAnimationFrame(() => focusRow(id)));
  };
}

function focusRow(id: string): void {
  const link = document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"] a`);
  link?.focus({ preventScroll: true });
}

/** Opens the message whose complete id is typed; returns whether the text is one. */
function useOpenId({ type }: FilterState) {
  const { route } = useLocation();
  return (text: string): boolean => {
    const id = completeId(text);
    if (id === undefined) return false;
    api.entry(id).then(
      () => route(`/messages/${id}`),
      // The text may be the platform's message id, which the search also finds.
      () => type({ text }),
    );
    return true;
  };
}

/** The number of new messages, which the list does not show by itself while it is scrolled. */
function NewMessages({ onShow }: { readonly onShow: () => void }) {
  const announced = list.announced.value;
  return (
    <div class="new-messages" role="status">
      {announced !== undefined && (
        <Button look="primary" size="small" icon="again" onClick={onShow}>
          {`${announced.count}${announced.more ? '+' : ''} new`}
        </Button>
      )}
    </div>
  );
}

/** What is shown instead of rows. */
function ListStart({ state }: { readonly state: FilterState }) {
  const { pages, loading, failure } = list;
  const { isLoaded, total } = pages.value;
  if (total > 0) return null;
  return (
    <>
      {!isLoaded && loading.value && <Skeleton lines={12} height={30} />}
      {failure.value !== undefined && (
        <Failure refusal={asRefusal(failure.value)} onRetry={() => list.retry()} />
      )}
      {isLoaded && failure.value === undefined && <NothingFound state={state} />}
    </>
  );
}

/** The line after the last row. */
function ListEnd() {
  const { pages, failure, loadingMore } = list;
  const { total, next } = pages.value;
  if (total === 0) return null;
  if (failure.value !== undefined) {
    return (
      <p class="list-end" role="alert">
        {asRefusal(failure.value).message}{' '}
        <Button size="small" icon="again" onClick={() => list.retry()}>
          Try again
        </Button>
      </p>
    );
  }
  if (list.isTruncated) {
    return (
      <p class="list-end muted">
        The list is limited to this length. Choose an earlier time range to see older messages.
      </p>
    );
  }
  if (next === undefined) return <p class="list-end muted">End of the list.</p>;
  return <div class="list-end">{loadingMore.value && <Skeleton lines={3} height={30} />}</div>;
}
