import { defined } from '../lib/json.ts';
import type { ProviderReport } from '../tasks/driver.ts';
import { nearestFrame } from './video-frame.ts';
import type { PossibleValues } from './video-values.ts';

/** Fields of a video as a provider reports them, of any type. Undefined and null: not reported. */
export interface RawReport {
  /** Such as `720p`, `720` or `1280x720`. */
  resolution?: unknown;
  /** Width and height, such as `1280x720`, or a resolution. */
  size?: unknown;
  ratio?: unknown;
  audio?: unknown;
  /** Seconds. Only checked here, because the usage has the length. -1 is a length that was left to the model. */
  duration?: unknown;
}

/** Reads the fields of a video that prices depend on. Ignores values that videos of the model cannot have. */
export function readReport(possible: PossibleValues, raw: RawReport): ProviderReport {
  const ignored: Record<string, unknown> = {};
  const read = <Value>(name: keyof RawReport, parse: (value: unknown) => Value | undefined) => {
    const value = raw[name];
    if (value === undefined || value === null || value === '') return undefined;
    const found = parse(value);
    if (found === undefined) ignored[name] = value;
    return found;
  };
  const frameOf = (value: unknown) => readFrame(value, possible);
  const resolution = read('resolution', frameOf);
  const size = read('size', frameOf);
  const isAdaptive = typeof raw.ratio === 'string' && raw.ratio.toLowerCase() === 'adaptive';
  const ratio = isAdaptive
    ? undefined
    : read('ratio', (value) => memberOf(possible.ratio, String(value).replace(/\s/g, '')));
  const audio = read('audio', (value) =>
    typeof value === 'boolean' && (possible.audio?.includes(value) ?? true) ? value : undefined,
  );
  read('duration', (value) => (Number(value) >= 0 || Number(value) === -1 ? true : undefined));
  const fields: ProviderReport['fields'] = defined({
    resolution: resolution?.resolution ?? size?.resolution,
    ratio: ratio ?? size?.ratio ?? resolution?.ratio,
    audio,
  });
  return { fields, ignored };
}

/** Returns the report of a completed task. Absent: the provider reported none of the fields. */
export function videoReport(possible: PossibleValues, raw: RawReport): { report?: ProviderReport } {
  const report = readReport(possible, raw);
  const isEmpty = Object.keys(report.fields).length === 0 && Object.keys(report.ignored).length === 0;
  return isEmpty ? {} : { report };
}

/** Reads a resolution, or a width and height with the nearest resolution and ratio. Undefined: the model has no such resolution. */
function readFrame(value: unknown, { resolution: resolutions, ratio: ratios }: PossibleValues) {
  const text = String(value).trim();
  const frame = nearestFrame(text, { resolutions: resolutions ?? [], ratios: ratios ?? [] });
  if (frame !== undefined) return frame.resolution === undefined ? undefined : frame;
  const lines = /^(\d+)p?$/i.exec(text)?.[1];
  const name = lines === undefined ? text : lines === '2160' ? '4k' : `${lines}p`;
  const resolution = memberOf(resolutions, name);
  return resolution === undefined ? undefined : { resolution, ratio: undefined };
}

/** Returns the value as the list spells it. */
function memberOf(values: readonly string[] | undefined, value: string): string | undefined {
  return values?.find((one) => one.toLowerCase() === value.toLowerCase());
}
