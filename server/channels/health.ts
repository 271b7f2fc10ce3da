import type { FailureKind } from './failure-kinds.ts';
import { ChannelFigures } from './figures.ts';
import { Pauses, type RequestScope } from './pauses.ts';

/** Consecutive failure episodes that start a cool-down. */
const maxEpisodes = 3;
/** A failed attempt that started within this time of a counted failure belongs to the same episode. */
const episodeMs = 1_000;
/** A timeout after this time with no success in between starts a cool-down at once: three would take minutes. */
const longTimeoutMs = 60_000;
const minCoolDownMs = 5_000;
const maxCoolDownMs = 120_000;
/** A probe blocks other requests no longer than this. */
const maxProbeMs = 10_000;
/** Forced attempts in flight at a time. One more may start per interval. */
const maxForcedAttempts = 8;
const forcedIntervalMs = 1_000;

/** Another gateway's report is ignored if this one had a success within this time. */
const ownEvidenceMs = 2_000;

/** Consecutive episodes of refused requests, and users whose requests were refused, that start a cool-down. */
const maxForbiddenEpisodes = 3;
const minForbiddenUsers = 2;

/** Polls and calls fail for different reasons, so each has its own streak. */
type Track = 'calls' | 'polls';

/** A cool-down of another gateway. */
export interface HealthReport {
  /** Another value for each cool-down and gateway. */
  id: string;
  /** Its end, by the monotonic clock of this gateway. */
  until: number;
  /** The failure that started it. */
  reason: FailureKind;
}

interface CoolDown {
  until: number;
  startedBy: Track;
  reason: FailureKind;
}

/** Start of an attempt. `sequence` orders events within one millisecond. */
interface AttemptStart {
  readonly sequence: number;
  readonly at: number;
}

/**
 * Circuit breaker of a channel. Failures are counted in episodes: attempts in flight when a failure was counted, or
 * started within a second of it, belong to that episode. Several episodes in a row, a failure rate of one half, or a
 * refused key start a cool-down, which doubles each time. Then half-open probes run one at a time until one succeeds. A cool-down of
 * another gateway makes this one probe, too.
 */
export class Health {
  readonly figures: ChannelFigures;
  readonly #clock: () => number;
  readonly #onCoolDown: (reason: FailureKind, ms: number) => void;
  readonly #pauses: Pauses;
  readonly #failureRate: FailureRate;
  #sequence = 0;
  /** The last counted failure. */
  #episode: AttemptStart = { sequence: 0, at: Number.NEGATIVE_INFINITY };
  /** Sequence number of the last success. */
  #lastSuccess = 0;
  readonly #streaks: Record<Track, number> = { calls: 0, polls: 0 };
  /** Refused requests since the last success of a call. */
  #forbidden: { at: number; episodes: number; users: Set<number | undefined> } | undefined;
  #coolDown: CoolDown | undefined;
  #coolDowns = 0;
  #report: (HealthReport & { receivedAt: number }) | undefined;
  /** Reports that a success of this gateway has refuted. */
  #refuted = new Set<string>();
  #lastSuccessAt = Number.NEGATIVE_INFINITY;
  #probe: Attempt | undefined;
  readonly #forced = new Set<Attempt>();
  #forcedAt = Number.NEGATIVE_INFINITY;

  /** `clock` is the monotonic one. `onCoolDown` is called when a cool-down starts. */
  constructor(clock: () => number, onCoolDown: (reason: FailureKind, ms: number) => void = () => {}) {
    this.#clock = clock;
    this.#onCoolDown = onCoolDown;
    this.figures = new ChannelFigures(clock);
    this.#pauses = new Pauses(clock);
    this.#failureRate = new FailureRate(clock);
  }

  /** Whether a request may be sent now, possibly as a probe. */
  get isHealthy(): boolean {
    if (this.#isReported) return false;
    return this.#coolDown === undefined || (this.#isCoolDownOver && !this.#isProbeRunning);
  }

  get state(): 'healthy' | 'resting' | 'probing' {
    if (this.#coolDown === undefined) return this.#isReported ? 'probing' : 'healthy';
    return this.#isCoolDownOver ? 'probing' : 'resting';
  }

  /** The failure that started the cool-down, here or on another gateway. Undefined for a healthy channel. */
  get unhealthyReason(): FailureKind | undefined {
    return this.#coolDown?.reason ?? (this.#isReported ? this.#report?.reason : undefined);
  }

  /** End of the cool-down by the monotonic clock. Undefined outside a cool-down. */
  get coolDownUntil(): number | undefined {
    return this.state === 'resting' ? this.#coolDown?.until : undefined;
  }

  /** Starts an attempt whatever the health is, for a request that only this channel can serve. */
  startAttempt(scope: RequestScope = {}): Attempt {
    this.#sequence += 1;
    return new Attempt(this, scope, { sequence: this.#sequence, at: this.#clock() });
  }

  /** Starts an attempt on a healthy channel. Undefined if other channels should come first. */
  admit(scope: RequestScope = {}): Attempt | undefined {
    const mayProbe = this.#isReported && !this.#isProbeRunning;
    if (this.#pauses.find(scope) !== undefined || !(this.isHealthy || mayProbe)) return undefined;
    const attempt = this.startAttempt(scope);
    if (this.#coolDown !== undefined || mayProbe) this.#probe = attempt;
    return attempt;
  }

  /**
   * Starts an attempt for a request that no other channel can serve now. Undefined while the provider throttles the
   * user, or when enough forced attempts are in flight.
   */
  forceAttempt(scope: RequestScope = {}): Attempt | undefined {
    const pause = this.#pauses.find(scope);
    if (pause?.kind === 'hard') return undefined;
    const isDoubtful = this.#coolDown !== undefined || this.#isReported;
    if (!isDoubtful && pause?.kind !== 'unavailable') return this.startAttempt(scope);
    const now = this.#clock();
    if (this.#forced.size >= maxForcedAttempts && now - this.#forcedAt < forcedIntervalMs) return undefined;
    this.#forcedAt = now;
    const attempt = this.startAttempt(scope);
    this.#forced.add(attempt);
    return attempt;
  }

  /** Milliseconds until a request may be sent, and whether the provider throttles it. */
  retryDelay(scope: RequestScope): { throttled: boolean; ms: number } {
    const pause = this.#pauses.find(scope);
    if (pause?.kind === 'hard') return { throttled: true, ms: pause.until - this.#clock() };
    return { throttled: false, ms: forcedIntervalMs };
  }

  /**
   * Replaces the cool-downs of other gateways. While one lasts, this gateway uses other channels first and sends one
   * request at a time: its success refutes the report, and its failure starts a cool-down here, too.
   */
  receiveReports(reports: readonly HealthReport[]): void {
    const now = this.#clock();
    const ids = new Set(reports.map(({ id }) => id));
    this.#refuted = this.#refuted.intersection(ids);
    const [latest] = reports
      .filter(({ id, until }) => !this.#refuted.has(id) && until > now)
      .toSorted((left, right) => right.until - left.until);
    if (latest?.id === this.#report?.id) return;
    const isRefuted = latest !== undefined && now - this.#lastSuccessAt < ownEvidenceMs;
    if (isRefuted) this.#refuted.add(latest.id);
    this.#report = latest === undefined || isRefuted ? undefined : { ...latest, receivedAt: now };
  }

  /** Forgets all failures, pauses and reports. */
  reset(): void {
    this.#refute();
    this.#recover();
    this.#pauses.clear();
  }

  /** @internal for `Attempt` */
  recordSuccess({ scope, started }: Attempt): void {
    this.#lastSuccessAt = this.#clock();
    if (started.at >= (this.#report?.receivedAt ?? 0)) this.#refute();
    this.#failureRate.add('successes', 1);
    this.#sequence += 1;
    this.#lastSuccess = this.#sequence;
    this.#pauses.lift(scope, started.sequence);
    if (started.sequence < this.#episode.sequence) return;
    const track = trackOf(scope);
    this.#streaks[track] = 0;
    if (track === 'calls') this.#forbidden = undefined;
    if (this.#coolDown === undefined || (track === 'polls' && this.#coolDown.startedBy === 'calls')) return;
    this.#recover();
  }

  /** @internal for `Attempt` */
  recordFailure(
    { scope, started }: Attempt,
    kind: FailureKind,
    pauseSeconds: number | undefined,
    isAfterSuccess: boolean,
  ): void {
    const now = this.#clock();
    this.figures.recordFailure(kind);
    if (kind === 'throttled') {
      // The poller paces polls itself.
      if (!scope.poll) this.#pauses.throttled(scope, pauseSeconds, this.#sequence);
      return;
    }
    if (kind === 'busy' || (kind === 'forbidden' && !this.#isAccountRefused(scope, now))) return;
    if (pauseSeconds !== undefined && !scope.poll)
      this.#pauses.unavailable(scope, pauseSeconds, this.#sequence);
    this.#failureRate.add('failures', 1);
    // The success may be in an earlier bucket. The sum over all buckets is the same.
    if (isAfterSuccess) this.#failureRate.add('successes', -1);
    const { sequence, at } = started;
    const isSameEpisode = sequence <= this.#episode.sequence || at < this.#episode.at + episodeMs;
    const isRefused = kind === 'key_refused' || kind === 'forbidden';
    // An attempt forced during the cool-down must not extend it. A refused key does not wait for the next episode.
    const isIgnored =
      this.#coolDown === undefined ? isSameEpisode && !isRefused : isSameEpisode || at < this.#coolDown.until;
    if (isIgnored) return;
    this.#sequence += 1;
    this.#episode = { sequence: this.#sequence, at: now };
    this.#failureRate.add('episodes', 1);
    const track = trackOf(scope);
    const isLongTimeout = kind === 'timeout' && now - at >= longTimeoutMs && this.#lastSuccess < sequence;
    this.#streaks[track] += isLongTimeout || isRefused ? maxEpisodes : 1;
    const isTolerated =
      this.#streaks[track] < maxEpisodes && !this.#failureRate.isTooHigh && !this.#isReported;
    if (this.#coolDown === undefined && isTolerated) return;
    const coolDownMs = Math.min(maxCoolDownMs, minCoolDownMs * 2 ** this.#coolDowns);
    this.#coolDown = { startedBy: track, until: now + coolDownMs, reason: kind };
    this.#coolDowns += 1;
    this.#onCoolDown(kind, coolDownMs);
  }

  /**
   * Whether refused requests show that the provider refuses the account: those of several users in a row, so that no user
   * can cause it, or any while the account was refused before.
   */
  #isAccountRefused({ user, poll = false }: RequestScope, now: number): boolean {
    // A refused poll may concern only its task.
    if (poll) return false;
    const last = this.#forbidden;
    const isNewEpisode = last === undefined || now >= last.at + episodeMs;
    const { episodes, users } = last ?? { episodes: 0, users: new Set() };
    users.add(user);
    this.#forbidden = {
      at: isNewEpisode ? now : last.at,
      episodes: episodes + (isNewEpisode ? 1 : 0),
      users,
    };
    const reason = this.unhealthyReason;
    if (reason !== undefined) return reason === 'key_refused' || reason === 'forbidden';
    return this.#forbidden.episodes >= maxForbiddenEpisodes && users.size >= minForbiddenUsers;
  }

  /** @internal for `Attempt` */
  recordEnd(attempt: Attempt): void {
    if (this.#probe === attempt) this.#probe = undefined;
    this.#forced.delete(attempt);
  }

  #recover(): void {
    this.#coolDown = undefined;
    this.#coolDowns = 0;
    this.#streaks.calls = 0;
    this.#streaks.polls = 0;
    this.#forbidden = undefined;
    this.#failureRate.clear();
  }

  #refute(): void {
    if (this.#report !== undefined) this.#refuted.add(this.#report.id);
    this.#report = undefined;
  }

  /** Whether another gateway's cool-down applies. A cool-down of this gateway takes precedence. */
  get #isReported(): boolean {
    return this.#coolDown === undefined && this.#report !== undefined && this.#clock() < this.#report.until;
  }

  get #isCoolDownOver(): boolean {
    return this.#coolDown !== undefined && this.#clock() >= this.#coolDown.until;
  }

  get #isProbeRunning(): boolean {
    return this.#probe !== undefined && this.#clock() - this.#probe.started.at < maxProbeMs;
  }
}

/** Reports the outcome of one request to the channel's health. A failure may follow a success, not the reverse. */
export class Attempt {
  readonly scope: RequestScope;
  readonly started: AttemptStart;
  readonly #health: Health;
  #state: 'running' | 'succeeded' | 'ended' = 'running';

  /** @internal by `Health` */
  constructor(health: Health, scope: RequestScope, started: AttemptStart) {
    this.#health = health;
    this.scope = scope;
    this.started = started;
  }

  succeed(): void {
    if (this.#state !== 'running') return;
    this.#end('succeeded');
    this.#health.recordSuccess(this);
  }

  /** `pauseSeconds`: the pause that the provider asks for, if any. */
  fail(kind: FailureKind, pauseSeconds?: number): void {
    if (this.#state === 'ended') return;
    const isAfterSuccess = this.#state === 'succeeded';
    this.release();
    this.#health.recordFailure(this, kind, pauseSeconds, isAfterSuccess);
  }

  /** Ends the attempt without an outcome, unless it already has one. */
  finish(): void {
    if (this.#state === 'running') this.release();
  }

  /** Ends the attempt. Later failures are ignored because the gateway causes them. */
  release(): void {
    this.#end('ended');
  }

  #end(state: 'succeeded' | 'ended'): void {
    this.#state = state;
    this.#health.recordEnd(this);
  }
}

function trackOf({ poll = false }: RequestScope): Track {
  return poll ? 'polls' : 'calls';
}

const bucketMs = 10_000;
const bucketCount = 6;
/** Episodes in the last minute before the failure rate counts: one outage fails all requests in flight. */
const minEpisodes = 5;

type Count = 'successes' | 'failures' | 'episodes';
type Bucket = Record<Count | 'from', number>;

/** Share of requests that failed in the last minute. */
class FailureRate {
  readonly #clock: () => number;
  #buckets: Bucket[] = [];

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  add(count: Count, change: number): void {
    const now = this.#clock();
    let last = this.#buckets.at(-1);
    if (last === undefined || now >= last.from + bucketMs) {
      last = { from: now, successes: 0, failures: 0, episodes: 0 };
      this.#buckets = [...this.#recent, last];
    }
    last[count] += change;
  }

  /** Whether at least half of the requests failed, in several episodes. */
  get isTooHigh(): boolean {
    const recent = this.#recent;
    const sum = (count: Count) => recent.reduce((total, bucket) => total + bucket[count], 0);
    return sum('episodes') >= minEpisodes && sum('failures') >= sum('successes');
  }

  get #recent(): Bucket[] {
    const start = this.#clock() - bucketCount * bucketMs;
    return this.#buckets.filter(({ from }) => from > start);
  }

  clear(): void {
    this.#buckets = [];
  }
}
