import { useId, useState } from 'preact/hooks';
import { CHANNEL_NAMES, CHANNELS, STATE_NAMES } from '../formats.ts';
import { overview } from '../stream.ts';
import { Button } from '../ui/button.tsx';
import { Input, SearchInput, Select } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { ENTRY_STATES } from '../../../domain/entry-state.ts';
import { isFiltered, PRESETS, type TimeFilter } from './filters.ts';
import { OFFERED_REASONS } from './reasons.ts';
import type { FilterState } from './list-state.ts';

/** Search and filters. On a phone, all filters except the search are behind a button. */
export function FilterBar(props: {
  readonly state: FilterState;
  readonly onId: (text: string) => boolean;
}) {
  const { state } = props;
  const { shown, choose, type, searchNow, clear } = state;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const shops = overview.value?.shops.map(({ shop }) => shop) ?? [];
  const options = shown.shop === '' || shops.includes(shown.shop) ? shops : [...shops, shown.shop];
  const used = [shown.shop, shown.channel, shown.reason].filter((value) => value !== '').length;
  const active = used + (shown.time.kind === 'any' ? 0 : 1) + (shown.states.length > 0 ? 1 : 0);
  return (
    <div class="filters">
      <div class="filter-line">
        <SearchInput
          label="Search messages"
          placeholder="Sender, subject, address, number or id"
          value={shown.text}
          maxLength={200}
          onInput={(event) => {
            const text = event.currentTarget.value;
            if (!props.onId(text)) type({ text });
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') searchNow();
            if (event.key !== 'Escape') return;
            event.preventDefault();
            if (shown.text === '') event.currentTarget.blur();
            else type({ text: '' });
          }}
        />
        <span class="filter-toggle">
          <Button aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
            {active === 0 ? 'Filters' : `Filters (${active})`}
          </Button>
        </span>
      </div>
      <div id={id} class={`filter-more${isOpen ? ' open' : ''}`}>
        <div class="chips" role="group" aria-label="States">
          {ENTRY_STATES.map((each) => {
            const isOn = shown.states.includes(each);
            return (
              <button
                key={each}
                type="button"
                class={`chip ${each}`}
                aria-pressed={isOn}
                onClick={() =>
                  choose({
                    states: ENTRY_STATES.filter((one) =>
                      one === each ? !isOn : shown.states.includes(one),
                    ),
                  })
                }
              >
                <Icon name={each} />
                {STATE_NAMES[each]}
              </button>
            );
          })}
        </div>
        <div class="filter-fields">
          {options.length > 1 || shown.shop !== '' ? (
            <Select
              label="Shop"
              quietLabel
              value={shown.shop}
              options={[
                { value: '', label: 'All shops' },
                ...options.map((shop) => ({ value: shop, label: shop })),
              ]}
              onChoose={(shop) => choose({ shop })}
            />
          ) : null}
          <Select
            label="Channel"
            quietLabel
            value={shown.channel}
            options={[
              { value: '', label: 'All channels' },
              ...CHANNELS.map((each) => ({ value: each, label: CHANNEL_NAMES[each] })),
            ]}
            onChoose={(value) => choose({ channel: CHANNELS.find((each) => each === value) ?? '' })}
          />
          <div class="reason-field">
            <Input
              label="Reason begins with"
              quietLabel
              placeholder="Any reason"
              {...{ list: `${id}-reasons` }}
              value={shown.reason}
              maxLength={200}
              autocomplete="off"
              onInput={(event) => type({ reason: event.currentTarget.value })}
            />
            <datalist id={`${id}-reasons`}>
              {OFFERED_REASONS.map(({ reason, words }) => (
                <option key={reason} value={reason} label={words} />
              ))}
            </datalist>
          </div>
          <TimeFields time={shown.time} onChoose={(time) => choose({ time })} />
          {isFiltered(shown) && (
            <Button look="quiet" icon="close" onClick={clear}>
              Clear
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}

/** A preset, or a range in the browser's time zone. */
function TimeFields(props: {
  readonly time: TimeFilter;
  readonly onChoose: (time: TimeFilter) => void;
}) {
  const { time, onChoose } = props;
  const [isRange, setRange] = useState(false);
  const between = time.kind === 'between' ? time : undefined;
  const change = (edge: 'from' | 'to', text: string) => {
    const at = readLocalInput(text);
    const from = edge === 'from' ? at : between?.from;
    const to = edge === 'to' ? at : between?.to;
    if (from === undefined && to === undefined) onChoose({ kind: 'any' });
    else {
      onChoose({
        kind: 'between',
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      });
    }
  };
  const value =
    between !== undefined || isRange ? 'range' : time.kind === 'last' ? time.preset : '';
  return (
    <>
      <Select
        label="Time"
        quietLabel
        value={value}
        options={[
          { value: '', label: 'Any time' },
          ...PRESETS.map(({ preset, words }) => ({ value: preset, label: words })),
          { value: 'range', label: 'Range…' },
        ]}
        onChoose={(chosen) => {
          const preset = PRESETS.find((each) => each.preset === chosen)?.preset;
          setRange(chosen === 'range');
          if (chosen === 'range') return;
          onChoose(preset === undefined ? { kind: 'any' } : { kind: 'last', preset });
        }}
      />
      {value === 'range' && (
        <div class="range">
          <Input
            label="From"
            quietLabel
            type="datetime-local"
            value={localInput(between?.from)}
            max={localInput(between?.to)}
            onChange={(event) => change('from', event.currentTarget.value)}
          />
          <span aria-hidden="true">–</span>
          <Input
            label="To"
            quietLabel
            type="datetime-local"
            value={localInput(between?.to)}
            min={localInput(between?.from)}
            onChange={(event) => change('to', event.currentTarget.value)}
          />
        </div>
      )}
    </>
  );
}

/** The value of `<input type="datetime-local">`: local time, to the minute; empty for no time. */
function localInput(at: number | undefined): string {
  if (at === undefined) return '';
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offsetMs).toISOString().slice(0, 16);
}

/** Undefined while the input is incomplete. */
function readLocalInput(text: string): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
