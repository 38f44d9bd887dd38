import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { clock } from '../formats.ts';
import { type ChartData, type Marker, markersNear } from './chart-data.ts';
import { now } from '../now.ts';
import { scheme } from '../scheme.tsx';
import { Skeleton } from '../ui/page-parts.tsx';

export interface ChartSeries {
  readonly label: string;
  /** A CSS variable of tokens.css: `--ink`. */
  readonly color: string;
  readonly isFilled?: boolean;
  readonly isDashed?: boolean;
  readonly isScattered?: boolean;
}

interface ChartProps {
  /** Text alternative of the chart: what it shows and the newest values. */
  readonly description: string;
  readonly data: ChartData;
  readonly markers: readonly Marker[];
  readonly series: readonly ChartSeries[];
  readonly height: number;
  /** The smallest maximum of the y axis, so that low values are not drawn as peaks. */
  readonly leastTop: number;
  readonly format: (value: number) => string;
}

/** The time ranges of a chart; the shortest one that holds all data is used. */
const WINDOWS_S = [300, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400] as const;
/** Distances between labels: whole minutes, since labels have no seconds. */
const STEPS_S = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600];
const AXIS_FONT = '11px system-ui, sans-serif';

/**
 * A line chart of a range, or of the time since the start; a placeholder until there are data.
 * All charts of a page share their cursor position.
 */
export const Chart = ({
  data,
  ...rest
}: Omit<ChartProps, 'data'> & { readonly data: ChartData | undefined }) =>
  data === undefined ? <Skeleton height={rest.height} /> : <Plot {...{ data }} {...rest} />;

function Plot(props: ChartProps) {
  const { data, series, height } = props;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const made = new uPlot(
      optionsOf(latest, element.clientWidth),
      aligned(latest.current.data),
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [height]);

  useEffect(() => plot.current?.setData(aligned(data)), [data, props.markers]);
  // Colours are read from the document while drawing.
  useEffect(() => plot.current?.redraw(false, true), [scheme.value]);

  return (
    <figure class="chart">
      <div ref={frame} class="chart-frame" role="img" aria-label={props.description} />
      {series.length > 1 && (
        <figcaption>
          {series.map(({ label, color, isDashed }) => (
            <span key={label}>
              <svg viewBox="0 0 18 8" aria-hidden="true">
                <path
                  d="M1 4h16"
                  style={{ stroke: `var(${color})` }}
                  {...(isDashed === true && { 'stroke-dasharray': '4 3' })}
                />
              </svg>
              {label}
            </span>
          ))}
        </figcaption>
      )}
    </figure>
  );
}

/** Removes `readonly` from the type: uPlot does not modify the data. */
const aligned = (data: ChartData): uPlot.AlignedData => data as unknown as uPlot.AlignedData;

const colorOf = (variable: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

function optionsOf(latest: { readonly current: ChartProps }, width: number): uPlot.Options {
  const { series, height, leastTop } = latest.current;
  const axis = {
    font: AXIS_FONT,
    stroke: () => colorOf('--muted'),
    ticks: { show: false },
    grid: { stroke: () => colorOf('--line'), width: 1 },
  };
  return {
    width,
    height,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      sync: { key: 'overview' },
      points: { size: 7 },
      drag: { x: false, y: false },
    },
    scales: {
      x: {
        range: () => shownTimes(latest.current.data[0]),
      },
      y: { range: (_plot, _min, max) => [0, Math.max(leastTop, (max || 0) * 1.1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: 70,
        incrs: STEPS_S,
        values: (_plot, ticks) =>
          ticks.map((tick) => clock(tick * 1_000).replace(/:\d\d(?!:)/, '')),
      },
      {
        ...axis,
        size: 50,
        space: 34,
        values: (_plot, ticks) => ticks.map((tick) => latest.current.format(tick)),
      },
    ],
    series: [
      {},
      ...series.map(({ label, color, isFilled, isDashed, isScattered }) => ({
        label,
        stroke: () => colorOf(color),
        width: 1.6,
        spanGaps: true,
        points: { show: isScattered ?? false, size: 4, fill: () => colorOf(color) },
        ...(isFilled && { fill: () => `color-mix(in srgb, ${colorOf(color)} 13%, transparent)` }),
        ...(isDashed && { dash: [4, 3] }),
      })),
    ],
    plugins: [markerLines(latest), tooltip(latest)],
  };
}

function shownTimes(times: readonly number[]): [from: number, to: number] {
  const to = times.at(-1) ?? now.peek() / 1_000;
  const length = to - (times[0] ?? to);
  return [to - (WINDOWS_S.find((window) => length <= window) ?? 86_400), to];
}

const MARKER_COLORS = { plain: '--muted', warning: '--warning', danger: '--danger' } as const;

/** A dashed line at the time of each start, reload and alert. */
function markerLines(latest: { readonly current: ChartProps }): uPlot.Plugin {
  return {
    hooks: {
      draw: (plot) => {
        const { ctx, bbox } = plot;
        const { min = 0, max = 0 } = plot.scales['x'] ?? {};
        ctx.save();
        ctx.lineWidth = devicePixelRatio;
        ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
        for (const { at, tone } of latest.current.markers) {
          if (at < min || at > max) continue;
          const x = plot.valToPos(at, 'x', true);
          ctx.strokeStyle = colorOf(MARKER_COLORS[tone]);
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
        }
        ctx.restore();
      },
    },
  };
}

/** The distance from the pointer within which markers are named, in pixels. */
const NEAR_PX = 6;

/** A tooltip with the values under the pointer, and the markers near it. */
function tooltip(latest: { readonly current: ChartProps }): uPlot.Plugin {
  const element = document.createElement('div');
  element.className = 'chart-tip';
  element.hidden = true;
  return {
    hooks: {
      init: (plot) => plot.over.append(element),
      setCursor: (plot) => {
        const { idx, left = -1 } = plot.cursor;
        const at = idx === null || idx === undefined ? undefined : plot.data[0][idx];
        element.hidden = at === undefined || left < 0;
        if (at === undefined || idx === null || idx === undefined) return;
        const lines = latest.current.series.map(({ label }, row) => {
          const value = plot.data[row + 1]?.[idx];
          return `${label}: ${value === null || value === undefined ? 'none' : latest.current.format(value)}`;
        });
        const under = plot.posToVal(left, 'x');
        const distance = plot.posToVal(left + NEAR_PX, 'x') - under;
        const near = markersNear(latest.current.markers, under, distance);
        element.replaceChildren(
          ...[clock(at * 1_000), ...lines, ...near.map(({ label }) => label)].map((line) => {
            const row = document.createElement('div');
            row.textContent = line;
            return row;
          }),
        );
        const isRight = left > plot.over.clientWidth / 2;
        element.style.left = isRight ? '' : `${left + 10}px`;
        element.style.right = isRight ? `${plot.over.clientWidth - left + 10}px` : '';
      },
    },
  };
}
