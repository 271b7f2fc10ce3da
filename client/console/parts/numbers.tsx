const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const change = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0, signDisplay: 'exceptZero' });
const precise = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const shortTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const briefTime = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});
const zonedTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** Formats an integer with separators, in the reader's locale. */
export const formatCount = (value: number): string => whole.format(value);

/** Formats an integer with its sign. */
export const formatChange = (value: number): string => change.format(value);

/** Formats a number with up to two decimals. */
export const formatNumber = (value: number): string => precise.format(value);

/** Formats a number of units, whose name is in the plural: `1 action`, `5 seconds`. */
export const formatUnits = (value: number, unit: string): string =>
  `${precise.format(value)} ${value === 1 ? unit.replace(/s$/, '') : unit}`;

/** Formats a duration: `840 ms`, `3.2 s`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${whole.format(ms)} ms`;
  if (ms < 60_000) return `${precise.format(ms / 1_000)} s`;
  return `${whole.format(Math.floor(ms / 60_000))} min ${whole.format((ms % 60_000) / 1_000)} s`;
}

/** Formats a position in a sound or a video: `0:03`, `12:40`. */
export function formatClock(seconds: number): string {
  const total = Math.floor(seconds);
  return `${Math.floor(total / 60)}:${String(total % 60).padStart(2, '0')}`;
}

/** Formats a size in bytes: `512 B`, `1.4 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${precise.format(bytes / 1_000)} KB`;
  return `${precise.format(bytes / 1_000_000)} MB`;
}

/** A time in the reader's zone, which the tooltip names. `at` is Unix time in milliseconds. */
export function Time({ at, isBrief = false }: { at: number; isBrief?: boolean }) {
  const date = new Date(at);
  return (
    <time class="numeric" dateTime={date.toISOString()} title={zonedTime.format(date)}>
      {(isBrief ? briefTime : shortTime).format(date)}
    </time>
  );
}
