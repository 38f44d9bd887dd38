import { useLocation } from 'preact-iso';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { EntryAction, EntryRow } from '../../contract.ts';
import { api, asRefusal } from '../api.ts';
import { gatewayNow } from '../now.ts';
import { connection, onEntries } from '../stream.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Failure, PageTitle, Skeleton } from '../ui/page-parts.tsx';
import { toast } from '../ui/overlays.tsx';
import { actOnMany, actOnOne } from './acting.ts';
import {
  BulkPanel,
  ConfirmAction,
  type Intent,
  SelectionBar,
  totalLine,
} from './selection-bar.tsx';
import { EntryTable, NothingFound, useRowHeight, viewOf } from './entry-table.tsx';
import { FilterBar } from './filter-bar.tsx';
import { bulkQuery, entryQuery, describeFilters, completeId, writeFilters } from './filters.ts';
import { saveScroll, savedScroll, lastQuery, list, useFilters } from './list-state.ts';
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
const SCROLL_SAVED_AFTER_MS = 200;

export function MessagesPage() {
  const state = useFilters();
  const { filters } = state;
  const address = writeFilters(filters);
  const { route } = useLocation();
  const body = useRef<HTMLDivElement>(null);
  const [selection, setSelection] = useState<Selection>(NO_SELECTION);
  const [cursor, setCursor] = useState<string>();
  const [intent, setIntent] = useState<Intent>();
  const rowHeight = useRowHeight();
  const pages = list.pages.value;
  const announced = list.announced.value;

  useShownList(address, () => entryQuery(filters, gatewayNow()));
  useEffect(() => {
    setSelection(NO_SELECTION);
    setCursor(undefined);
  }, [address]);
  useLiveList();

  const picked = (): readonly EntryRow[] => {
    const ids = selection.kind === 'some' ? selection.ids : new Set<string>();
    return [...pages.rows()].flatMap(({ row }) => (ids.has(row.id) ? [row] : []));
  };
  // The state of a selected row is unknown while the row is not in memory.
  const target = (): readonly string[] => {
    if (selection.kind === 'some' && selection.ids.size > 0) return [...selection.ids];
    return cursor === undefined || pages.find(cursor) === undefined ? [] : [cursor];
  };
  const offered = (): readonly EntryAction[] => {
    if (selection.kind === 'all') return actionsFor(new Set(filters.states));
    const rows = picked();
    const isAllKnown = rows.length === selection.ids.size;
    return actionsFor(new Set(isAllKnown ? rows.map(({ state: each }) => each) : []));
  };

  const act = (action: EntryAction) => {
    const total = list.total.value;
    if (selection.kind === 'all') {
      setIntent({
        action,
        count: total?.count ?? pages.total,
        more: total?.exact !== true,
        states: new Map(),
        filters: describeFilters(filters),
      });
      return;
    }
    const ids = target();
    const [only] = ids;
    if (only === undefined) {
      toast({ text: 'Select a message (x) or move to one (j, k) first.' });
      return;
    }
    if (ids.length === 1 && action !== 'release') {
      setSelection(NO_SELECTION);
      void actOnOne({ action, ids }, () => list.changed(ids));
      return;
    }
    const rows = ids.flatMap((id) => pages.find(id)?.row ?? []);
    setIntent({ action, count: ids.length, more: false, states: countStates(rows) });
  };

  const confirm = async ({ action }: Intent) => {
    const request =
      selection.kind === 'all'
        ? { action, filter: bulkQuery(filters, gatewayNow()) }
        : { action, ids: target() };
    const hasStarted = await actOnMany(request);
    setIntent(undefined);
    if (hasStarted) setSelection(NO_SELECTION);
  };

  const showNew = () => {
    scrollTo(0, 0);
    void list.show(entryQuery(filters, gatewayNow()));
  };
  const move = (by: 1 | -1) => {
    const at = cursor === undefined ? -1 : pages.indexOf(cursor);
    const index = Math.max(0, at + (at < 0 ? 1 : by));
    const id = pages.at(index)?.row.id;
    if (id === undefined || body.current === null) return;
    const { scrollTop, viewHeight } = viewOf(body.current);
    const top = scrollToShow(index, scrollTop + COVERED_PX, viewHeight - COVERED_PX, rowHeight);
    if (scrollTop > 0 || top > scrollTop + COVERED_PX) scrollBy(0, top - scrollTop - COVERED_PX);
    setCursor(id);
    // The row is rendered after the list has handled the scroll event.
    requestAnimationFrame(() => requestAnimationFrame(() => focusRow(id)));
  };
  useListKeys({
    move,
    pick: (extend) => {
      if (cursor !== undefined) pick(cursor, extend);
    },
    retry: () => act('retry'),
    release: () => act('release'),
    discard: () => act('discard'),
    clear: () => setSelection(NO_SELECTION),
    showNew,
  });
  const pick = (id: string, extend: boolean) => {
    setCursor(id);
    setSelection((now) =>
      extend ? extendTo(now, id, (a, b) => pages.between(a, b)) : toggle(now, id),
    );
  };
  const openId = (text: string): boolean => {
    const id = completeId(text);
    if (id === undefined) return false;
    api.entry(id).then(
      () => route(`/messages/${id}`),
      // The text may be the platform's message id, which the search also finds.
      () => state.type({ text }),
    );
    return true;
  };

  const { loading, failure, total, searchIsComplete } = list;
  const isNothing = pages.isLoaded && pages.total === 0;
  return (
    <div class="messages">
      <PageTitle title="Messages">
        <p class="muted" role="status">
          {total.value !== undefined && pages.isLoaded && totalLine(total.value)}
        </p>
      </PageTitle>
      <FilterBar state={state} onId={openId} />
      {!searchIsComplete.value && filters.text !== '' && (
        <p class="note warning">
          <Icon name="info" />
          <span>The search index is being updated: older messages may be missing.</span>
        </p>
      )}
      <BulkPanel />
      <div class="above-list">
        {!isEmpty(selection) && (
          <SelectionBar
            {...{ selection }}
            actions={offered()}
            onAct={act}
            onAll={() => setSelection({ kind: 'all' })}
            onNone={() => setSelection(NO_SELECTION)}
          />
        )}
        <div class="new-messages" role="status">
          {announced !== undefined && (
            <Button look="primary" size="small" icon="again" onClick={showNew}>
              {`${announced.count}${announced.more ? '+' : ''} new`}
            </Button>
          )}
        </div>
      </div>
      <div class={loading.value ? 'loading' : undefined}>
        {!pages.isLoaded && loading.value && <Skeleton lines={12} height={30} />}
        {failure.value !== undefined && pages.total === 0 && (
          <Failure refusal={asRefusal(failure.value)} onRetry={() => list.retry()} />
        )}
        {isNothing && failure.value === undefined && <NothingFound state={state} />}
        {pages.total > 0 && (
          <EntryTable
            bodyRef={body}
            {...{ selection, cursor }}
            onPick={pick}
            onPickAll={(isOn) =>
              setSelection(
                isOn ? selectAll([...pages.rows()].map(({ row: { id } }) => id)) : NO_SELECTION,
              )
            }
          />
        )}
        <ListEnd />
      </div>
      <ConfirmAction {...{ intent }} onClose={() => setIntent(undefined)} onConfirm={confirm} />
    </div>
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

/** Loads the list for the address; on return the previous list is restored. */
function useShownList(address: string, query: () => ReturnType<typeof entryQuery>): void {
  const shownFor = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const kept = shownFor.current === undefined ? savedScroll() : undefined;
    shownFor.current = address;
    if (kept !== undefined && list.pages.value.isLoaded && lastQuery.value === address) {
      list.refreshAll();
      // After the router's scrolling and the layout.
      requestAnimationFrame(() => scrollTo(0, kept));
    } else {
      lastQuery.value = address;
      void list.show(query());
    }
  }, [address]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onScroll = () => {
      clearTimeout(timer);
      timer = setTimeout(saveScroll, SCROLL_SAVED_AFTER_MS);
    };
    // Runs before the router handles the click and adds a history entry.
    const onClick = (event: Event) => {
      if (event.target instanceof Element && event.target.closest('a') !== null) saveScroll();
    };
    addEventListener('scroll', onScroll, { passive: true });
    document.addEventListener('click', onClick, { capture: true });
    return () => {
      clearTimeout(timer);
      removeEventListener('scroll', onScroll);
      document.removeEventListener('click', onClick, { capture: true });
      list.stop();
    };
  }, []);
}

function useLiveList(): void {
  useEffect(() => onEntries((ids) => list.changed(ids)), []);
  const isLive = connection.value === 'live';
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (isLive && !wasLive.current) list.refreshAll();
    wasLive.current = isLive;
  }, [isLive]);
}

function focusRow(id: string): void {
  const link = document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"] a`);
  link?.focus({ preventScroll: true });
}
