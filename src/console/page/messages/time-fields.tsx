import { useState } from 'preact/hooks';
import { Input, Select } from '../ui/field.tsx';
import { PRESETS, type TimeFilter } from './filters.ts';
import { localInput, readLocalInput } from './local-time.ts';

/** Presets, or a range of this machine's own time. */
export function TimeFields(props: {
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
