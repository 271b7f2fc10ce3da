import { ChannelFigures, type FailureKind } from './figures.ts';
import { type Asked, Pauses } from './pauses.ts';

/** So many episodes in a row make a channel rest. */
const tolerated = 3;
/** What begins so soon after a failure that was counted belongs to the same episode, in milliseconds. */
const blipMs = 1_000;
/** A silence so long, in which nothing else succeeded, is reason enough: three of them would take minutes, in milliseconds. */
const longSilenceMs = 60_000;
const firstRestMs = 5_000;
const maxRestMs = 120_000;
/** A request that tries out a channel keeps others from it no longer than this, in milliseconds. */
const probeMs = 10_000;
/** Where there is no other channel, so many are under way at a time, and one more each second however long they take. */
const insisting = 8;
const insistEveryMs = 1_000;

/** Polls find other faults than the work does, so neither speaks for the other. */
type Track = 'work' | 'polls';

interface Rest {
  until: number;
  by: Track;
}

/**
 * Whether an upstream is worth asking. Failures are counted in episodes: whatever was under way when one was counted, or
 * begins within a second of it, is the same episode, and only what began after it can end it. After some episodes in a
 * row, or when half of all requests fail for long, the channel rests, twice as long each time; then one request at a time
 * tries it out until one succeeds.
 */
export class Health {
  readonly figures: ChannelFigures;
  readonly #clock: () => number;
  readonly #pauses: Pauses;
  readonly #window: FailureShare;
  /** Tells what came first within one millisecond. */
  #count = 0;
  /** The last failure that was counted. */
  #episode = { count: 0, at: Number.NEGATIVE_INFINITY };
  /** When a request last succeeded. */
  #good = 0;
  readonly #streaks: Record<Track, number> = { work: 0, polls: 0 };
  #rest: Rest | undefined;
  #rests = 0;
  #probe: Attempt | undefined;
  readonly #insisting = new Set<Attempt>();
  #insistedAt = Number.NEGATIVE_INFINITY;

  /** `clock` is the monotonic one. */
  constructor(clock: () => number) {
    this.#clock = clock;
    this.figures = new ChannelFigures(clock);
    this.#pauses = new Pauses(clock);
    this.#window = new FailureShare(clock);
  }

  /** Whether it may be asked like any other, be it to try it out. */
  get healthy(): boolean {
    return this.#rest === undefined || (this.#due && !this.#probing);
  }

  get state(): 'healthy' | 'resting' | 'probing' {
    if (this.#rest === undefined) return 'healthy';
    return this.#due ? 'probing' : 'resting';
  }

  /** Until when it rests, by the monotonic clock; undefined while it does not. */
  get restsUntil(): number | undefined {
    return this.state === 'resting' ? this.#rest?.until : undefined;
  }

  /** For a request that only this channel can answer: it goes there whatever the health is. */
  begin(asked: Asked = {}): Attempt {
    this.#count += 1;
    return new Attempt(this, asked, { count: this.#count, at: this.#clock() });
  }

  /** Undefined: other channels are to be asked first. */
  admit(asked: Asked = {}): Attempt | undefined {
    if (this.#pauses.find(asked) !== undefined || !this.healthy) return undefined;
    const attempt = this.begin(asked);
    if (this.#rest !== undefined) this.#probe = attempt;
    return attempt;
  }

  /**
   * For a request that no other channel can answer now. Undefined while the provider has asked its user to wait, or when
   * as many as are good for a channel at rest are under way.
   */
  insist(asked: Asked = {}): Attempt | undefined {
    const pause = this.#pauses.find(asked);
    if (pause?.kind === 'firm') return undefined;
    if (this.#rest === undefined && pause?.kind !== 'away') return this.begin(asked);
    const now = this.#clock();
    if (this.#insisting.size >= insisting && now - this.#insistedAt < insistEveryMs) return undefined;
    this.#insistedAt = now;
    const attempt = this.begin(asked);
    this.#insisting.add(attempt);
    return attempt;
  }

  /** Why a request would not be let through, and for how many milliseconds. */
  waitFor(asked: Asked): { throttled: boolean; ms: number } {
    const pause = this.#pauses.find(asked);
    if (pause?.kind === 'firm') return { throttled: true, ms: pause.until - this.#clock() };
    return { throttled: false, ms: insistEveryMs };
  }

  /** Forgets whatever went wrong. */
  restore(): void {
    this.#recover();
    this.#pauses.clear();
  }

  /** @internal for `Attempt` */
  succeeded({ asked, began }: Attempt, anew: boolean): void {
    if (anew) this.#window.note('good');
    this.#count += 1;
    this.#good = this.#count;
    this.#pauses.lift(asked, began);
    if (began.count < this.#episode.count) return;
    const track = trackOf(asked);
    this.#streaks[track] = 0;
    if (this.#rest === undefined || (track === 'polls' && this.#rest.by === 'work')) return;
    this.#recover();
  }

  /** @internal for `Attempt`: `anew` is false where it had succeeded before */
  failed(
    { asked, began }: Attempt,
    kind: FailureKind,
    pauseSeconds: number | undefined,
    anew: boolean,
  ): void {
    const now = this.#clock();
    this.figures.failed(kind);
    if (kind === 'throttled') {
      // Polls are paused by whoever polls.
      if (!asked.poll) this.#pauses.throttled(asked, pauseSeconds, this.#count);
      return;
    }
    if (kind === 'key_refused' || kind === 'busy') return;
    if (pauseSeconds !== undefined && !asked.poll) this.#pauses.away(asked, pauseSeconds, this.#count);
    this.#window.note(anew ? 'bad' : 'turned bad');
    const sameEpisode = began.count <= this.#episode.count || began.at < this.#episode.at + blipMs;
    // What was let through to a channel at rest says nothing new.
    if (sameEpisode || (this.#rest !== undefined && began.at < this.#rest.until)) return;
    this.#count += 1;
    this.#episode = { count: this.#count, at: now };
    this.#window.note('episode');
    const track = trackOf(asked);
    const silent = kind === 'timeout' && now - began.at >= longSilenceMs && this.#good < began.count;
    this.#streaks[track] += silent ? tolerated : 1;
    if (this.#rest === undefined && this.#streaks[track] < tolerated && !this.#window.tooMany) return;
    this.#rest = { by: track, until: now + Math.min(maxRestMs, firstRestMs * 2 ** this.#rests) };
    this.#rests += 1;
  }

  /** @internal for `Attempt` */
  left(attempt: Attempt): void {
    if (this.#probe === attempt) this.#probe = undefined;
    this.#insisting.delete(attempt);
  }

  #recover(): void {
    this.#rest = undefined;
    this.#rests = 0;
    this.#streaks.work = 0;
    this.#streaks.polls = 0;
    this.#window.clear();
  }

  get #due(): boolean {
    return this.#rest !== undefined && this.#clock() >= this.#rest.until;
  }

  get #probing(): boolean {
    return this.#probe !== undefined && this.#clock() - this.#probe.began.at < probeMs;
  }
}

/** One request, of which the channel's health hears how it ended. Later words count where they are worse. */
export class Attempt {
  readonly asked: Asked;
  readonly began: { readonly count: number; readonly at: number };
  readonly #health: Health;
  #outcome: 'succeeded' | 'failed' | 'over' | undefined;

  /** @internal by `Health` */
  constructor(health: Health, asked: Asked, began: Attempt['began']) {
    this.#health = health;
    this.asked = asked;
    this.began = began;
  }

  succeeded(): void {
    if (this.#outcome !== undefined) return;
    this.#end('succeeded');
    this.#health.succeeded(this, true);
  }

  /** `pauseSeconds`: how long the provider asks to be left alone with such requests, if it does. */
  failed(kind: FailureKind, pauseSeconds?: number): void {
    if (this.#outcome === 'failed' || this.#outcome === 'over') return;
    const anew = this.#outcome === undefined;
    this.#end('failed');
    this.#health.failed(this, kind, pauseSeconds, anew);
  }

  /** It says nothing of the channel, unless it was said already. */
  over(): void {
    if (this.#outcome === undefined) this.#end('over');
  }

  /** We leave it: whatever becomes of it now is our doing. */
  leave(): void {
    this.#end('over');
  }

  #end(outcome: 'succeeded' | 'failed' | 'over'): void {
    this.#outcome = outcome;
    this.#health.left(this);
  }
}

function trackOf({ poll = false }: Asked): Track {
  return poll ? 'polls' : 'work';
}

const sliceMs = 10_000;
const slices = 6;
/** So many episodes of the last minute make the share of failures count: one blip fails everything that is under way. */
const leastEpisodes = 5;

interface Slice {
  from: number;
  good: number;
  bad: number;
  episodes: number;
}

/** How the requests of the last minute ended. */
class FailureShare {
  readonly #clock: () => number;
  #slices: Slice[] = [];

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  note(what: 'good' | 'bad' | 'turned bad' | 'episode'): void {
    const now = this.#clock();
    let last = this.#slices.at(-1);
    if (last === undefined || now >= last.from + sliceMs) {
      last = { from: now, good: 0, bad: 0, episodes: 0 };
      this.#slices = [...this.#slices.filter(({ from }) => now < from + slices * sliceMs), last];
    }
    if (what === 'episode') last.episodes += 1;
    else if (what === 'good') last.good += 1;
    else last.bad += 1;
    // Its success may stand in an earlier slice, which makes no difference to the sum but for a while.
    if (what === 'turned bad') last.good -= 1;
  }

  /** Whether half of them failed, time and again. */
  get tooMany(): boolean {
    const now = this.#clock();
    const sum = { good: 0, bad: 0, episodes: 0 };
    for (const { from, good, bad, episodes } of this.#slices) {
      if (now >= from + slices * sliceMs) continue;
      sum.good += good;
      sum.bad += bad;
      sum.episodes += episodes;
    }
    return sum.episodes >= leastEpisodes && sum.bad >= sum.good;
  }

  clear(): void {
    this.#slices = [];
  }
}
