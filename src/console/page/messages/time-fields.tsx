import { useState } from 'preact/hooks';
import { Input, Select } from '../ui/field.tsx';
import { readZonedInput, zonedInput } from '../zone.ts';
import { between, PRESETS, type TimeFilter } from './filters.ts';

/** A preset, or a range in the shown time zone. */
export function TimeFields(props: {
  readonly time: TimeFilter;
  readonly onChoose: (time: TimeFilter) => void;
}) {
  const { time, onChoose } = props;
  const [isRange, setRange] = useState(false);
  const { from, to } = time.kind === 'between' ? time : {};
  const value =
    time.kind === 'between' || isRange ? 'range' : time.kind === 'last' ? time.preset : '';
  return (
    <>
      <Select
        label="Time"
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
          <TimeInput label="From" at={from} max={to} onChange={(at) => onChoose(between(at, to))} />
          <span aria-hidden="true">–</span>
          <TimeInput label="To" at={to} min={from} onChange={(at) => onChoose(between(from, at))} />
        </div>
      )}
    </>
  );
}

function TimeInput(props: {
  readonly label: string;
  readonly at: number | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly onChange: (at: number | undefined) => void;
}) {
  return (
    <Input
      label={props.label}
      type="datetime-local"
      value={zonedInput(props.at)}
      min={zonedInput(props.min)}
      max={zonedInput(props.max)}
      onChange={(event) => props.onChange(readZonedInput(event.currentTarget.value))}
    />
  );
}
