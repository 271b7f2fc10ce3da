import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatNumber } from '../parts/numbers.tsx';
import { isDark } from '../shell/theme.ts';
import type { Bucket, Stack } from './figures.ts';

interface UsageChartProps {
  /** Starts of the buckets. Unix times in seconds. */
  times: readonly number[];
  stacks: readonly Stack[];
  bucket: Bucket;
  unit: string;
  /** Formats a value. Default: as a number, which the axis shortens. */
  format?: ((value: number) => string) | undefined;
  /** Describes the chart to screen readers. */
  label: string;
}

const height = 280;
const colorCount = 5;
/** Space for a label of the time axis, in CSS pixels. */
const labelWidth = { short: 84, long: 130 };
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** Bars of stacked values. The legend shows the values of the bar below the pointer, and the totals otherwise. */
export default function UsageChart({ times, stacks, bucket, unit, format, label }: UsageChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const hovered = useSignal<number | undefined>(undefined);
  const dark = isDark.value;
  useEffect(() => {
    const element = container.current;
    if (element === null) return;
    const chart = new uPlot(optionsOf(element), dataOf(times, stacks), element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [times, stacks, bucket, unit, dark]);

  function optionsOf(element: HTMLElement): uPlot.Options {
    const color = (name: string) => resolveColor(element, name);
    const axis = {
      stroke: color('--color-text-muted'),
      font: '12px system-ui, sans-serif',
      ticks: { show: false },
    };
    const bars = uPlot.paths.bars?.({ size: [0.7, 48] });
    return {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: {
        x: { time: true, range: (_, first, last) => paddedRange(times, first, last) },
        y: { range: (_, __, max) => [0, max * 1.1 || 1] },
      },
      axes: [
        {
          ...axis,
          size: 32,
          grid: { show: false },
          splits: (chart) => labeledTimes(times, chart.width),
          values: (_, splits) => splits.map((time) => formatTime(time, bucket, needsDates(times))),
        },
        {
          ...axis,
          size: format === undefined ? 60 : 90,
          label: unit,
          labelFont: axis.font,
          labelSize: 20,
          grid: { stroke: color('--color-border'), width: 1 },
          values: (_, splits) => splits.map((value) => (format ?? compact.format)(value)),
        },
      ],
      series: [
        {},
        ...[...stacks.keys()].reverse().map((index) => ({
          fill: color(`--color-series-${(index % colorCount) + 1}`),
          width: 0,
          ...(bars && { paths: bars }),
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [({ cursor }) => (hovered.value = cursor.idx ?? undefined)] },
    };
  }

  const time = hovered.value === undefined ? undefined : times[hovered.value];
  return (
    <figure class="usage-chart">
      <div
        ref={container}
        class="usage-canvas"
        role="img"
        aria-label={`${label} The table below has the numbers.`}
      />
      <figcaption class="usage-legend">
        <span class="muted">{time === undefined ? 'Total' : formatTime(time, bucket, true)}</span>
        {stacks.map(({ name, values, total }, index) => (
          <span key={name} class="row numeric">
            <i class="swatch" style={{ background: `var(--color-series-${(index % colorCount) + 1})` }} />
            {name}
            <strong>
              {(format ?? formatNumber)(hovered.value === undefined ? total : (values[hovered.value] ?? 0))}
            </strong>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** Returns the sums of the parts, the highest one first, because later series cover earlier ones. */
function dataOf(times: readonly number[], stacks: readonly Stack[]): uPlot.AlignedData {
  const sums: number[][] = [];
  for (const { values } of stacks) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => value + (below?.[index] ?? 0)));
  }
  return [[...times], ...sums.reverse()];
}

/** Returns the times with a label, of which the last one is the last bucket. */
function labeledTimes(times: readonly number[], width: number): number[] {
  const space = needsDates(times) ? labelWidth.long : labelWidth.short;
  const step = Math.ceil((times.length * space) / Math.max(width, space));
  return times.filter((_, index) => (times.length - 1 - index) % step === 0);
}

/** Whether hours of several days are shown, so that their labels need the day. */
const needsDates = (times: readonly number[]): boolean =>
  (times[1] ?? 0) - (times[0] ?? 0) < 86_400 && times.length > 24;

/** Adds half a bucket on both sides, so that the outer bars are complete. */
function paddedRange(times: readonly number[], first: number, last: number): [number, number] {
  const half = ((times[1] ?? first) - (times[0] ?? first)) / 2;
  return [first - half, last + half];
}

/** Hours are shown in the reader's zone. Days are those of UTC, as in the figures. */
export function formatTime(time: number, bucket: Bucket, isLong = false): string {
  const date = new Date(time * 1_000);
  if (bucket === 'day')
    return date.toLocaleDateString(undefined, {
      timeZone: 'UTC',
      day: 'numeric',
      month: 'short',
      ...(isLong && { weekday: 'short' }),
    });
  return date.toLocaleString(undefined, {
    hour: 'numeric',
    minute: '2-digit',
    ...(isLong && { day: 'numeric', month: 'short' }),
  });
}

/** A canvas cannot use custom properties, so the browser resolves them. */
function resolveColor(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}
