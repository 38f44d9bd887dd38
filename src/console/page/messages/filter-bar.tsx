import { useId, useState } from 'preact/hooks';
import type { EntryState } from '../../contract.ts';
import { CHANNEL_NAMES, count, STATE_NAMES } from '../formats.ts';
import { overview, shopsWith } from '../stream.ts';
import { Button } from '../ui/button.tsx';
import { Input, SearchInput, Select } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { CHANNELS } from '../../../domain/channel.ts';
import { ENTRY_STATES } from '../../../domain/entry-state.ts';
import { type Filters, isFiltered } from './filters.ts';
import { TimeFields } from './time-fields.tsx';
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
  const options = shopsWith(shown.shop);
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
        <StateChips
          states={shown.states}
          counts={countsOf(shown)}
          onChoose={(states) => choose({ states })}
        />
        <div class="filter-fields">
          {options.length > 1 || shown.shop !== '' ? (
            <Select
              label="Shop"
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
            value={shown.channel}
            options={[
              { value: '', label: 'All channels' },
              ...CHANNELS.map((each) => ({ value: each, label: CHANNEL_NAMES[each] })),
            ]}
            onChoose={(value) => choose({ channel: CHANNELS.find((each) => each === value) ?? '' })}
          />
          <ReasonField reason={shown.reason} onType={(reason) => type({ reason })} />
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

type Counts = Readonly<Partial<Record<EntryState, number>>>;

/** How many messages are in the states that are counted; none while other filters narrow the list. */
function countsOf({ shop, channel, reason, text, time }: Filters): Counts {
  if (overview.value === undefined) return {};
  if (channel !== '' || reason !== '' || text !== '' || time.kind !== 'any') return {};
  const { queue, shops } = overview.value;
  const { queued, delivering, dead, held, suppressed } =
    (shop === '' ? queue : shops.find((each) => each.shop === shop)) ?? queue;
  return { queued, delivering, dead, held, suppressed };
}

function StateChips(props: {
  readonly states: readonly EntryState[];
  readonly counts: Counts;
  readonly onChoose: (states: readonly EntryState[]) => void;
}) {
  const isOn = (state: EntryState) => props.states.includes(state);
  const toggle = (state: EntryState) =>
    props.onChoose(ENTRY_STATES.filter((each) => isOn(each) !== (each === state)));
  return (
    <div class="chips" role="group" aria-label="States">
      {ENTRY_STATES.map((state) => (
        <button
          key={state}
          type="button"
          class={`chip ${state}`}
          aria-pressed={isOn(state)}
          onClick={() => toggle(state)}
        >
          <Icon name={state} />
          {STATE_NAMES[state]}
          {(props.counts[state] ?? 0) > 0 && (
            <b class="number">{count(props.counts[state] ?? 0)}</b>
          )}
        </button>
      ))}
    </div>
  );
}

function ReasonField(props: {
  readonly reason: string;
  readonly onType: (reason: string) => void;
}) {
  const id = useId();
  return (
    <div class="reason-field">
      <Input
        label="Reason begins with"
        placeholder="Any reason"
        {...{ list: id }}
        value={props.reason}
        maxLength={200}
        autocomplete="off"
        onInput={(event) => props.onType(event.currentTarget.value)}
      />
      <datalist id={id}>
        {OFFERED_REASONS.map(({ reason, words }) => (
          <option key={reason} value={reason} label={words} />
        ))}
      </datalist>
    </div>
  );
}
