/** An offset from UTC in seconds, which applies from a time in Unix seconds until the next one. */
export interface OffsetChange {
  from: number;
  offset: number;
}

const weekSeconds = 7 * 86_400;
const hourSeconds = 3_600;

/** Whether a name is that of an IANA time zone, such as Europe/Berlin. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Calculates the offsets of an IANA time zone from UTC. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;

  /** @throws RangeError for an unknown time zone */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** Returns the offset at a time in Unix seconds. */
  offsetAt(time: number): number {
    const parts = this.#format.formatToParts(time * 1_000);
    const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = '0', minutes = '0', seconds = '0'] =
      /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text) ?? [];
    const size = Number(hours) * hourSeconds + Number(minutes) * 60 + Number(seconds);
    return sign === '-' ? -size : size;
  }

  /** Returns the offsets of a range, the first from its start. Changes are found to the hour. */
  offsetsIn(since: number, until: number): OffsetChange[] {
    const changes = [{ from: since, offset: this.offsetAt(since) }];
    let [time, offset] = [since, this.offsetAt(since)];
    while (time < until) {
      const next = Math.min(time + weekSeconds, until);
      const later = this.offsetAt(next);
      if (later !== offset) changes.push({ from: this.#changeIn(time, next), offset: later });
      [time, offset] = [next, later];
    }
    return changes;
  }

  /** Returns the first full hour with the offset of the end of a range, at whose start another offset applies. */
  #changeIn(since: number, until: number): number {
    const offset = this.offsetAt(until);
    let [before, after] = [since, until];
    while (after - before > hourSeconds) {
      const middle = before + Math.ceil((after - before) / 2 / hourSeconds) * hourSeconds;
      if (middle >= after) break;
      if (this.offsetAt(middle) === offset) after = middle;
      else before = middle;
    }
    return after;
  }

  /** Returns the start of a day in Unix seconds. `local`: its date at 0:00 as if it were UTC. */
  startOfDay(local: number): number {
    const guess = local - this.offsetAt(local);
    return local - this.offsetAt(guess);
  }
}
