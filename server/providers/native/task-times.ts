import { textField } from '../json.ts';

export interface NativeTimes {
  submit_time?: string;
  scheduled_time?: string;
  end_time?: string;
}

const written = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3}$/;

/** The times of a native answer that are written as they should be; the zone is the provider's. */
export function toldTimes(output: unknown): NativeTimes {
  const times: NativeTimes = {};
  for (const name of ['submit_time', 'scheduled_time', 'end_time'] as const) {
    const time = textField(output, name);
    if (time !== undefined && written.test(time)) times[name] = time;
  }
  return times;
}

/** `YYYY-MM-DD HH:MM:SS.mmm` in UTC, of epoch milliseconds. */
export function nativeTime(time: number): string {
  return new Date(time).toISOString().replace('T', ' ').replace('Z', '');
}
