/** What has changed lately, wherever it was done. */
export interface News {
  /** Keys that may do something else now, by the number of their token; their leases may be recalled. */
  tokens: ReadonlySet<number>;
  /** Users whose keys may do something else now. */
  users: ReadonlySet<number>;
  /** Keys of which leases of quota are recalled. */
  leases: ReadonlySet<number>;
  /** So much that nobody has kept count: any key may have changed. */
  flood: boolean;
}

/** How changes are heard of that other gateways make. */
export interface Hearing {
  /**
   * Undefined: news may be missed now. What was looked up in one era can be believed in it as long as no news says
   * otherwise: none was missed in between.
   */
  readonly era: number | undefined;
  /** Counts the pauses of this process that were long enough for changes to queue up unread. */
  readonly pauses: number;
  /** True after a pause, until every change that was announced during it has been delivered. */
  readonly isBehind: boolean;
  /** Calls `hear` with what is new, until the function that it gives is called. */
  subscribe(hear: (news: News) => void): () => void;
}

/** What was looked up, and is believed while all news since then are heard, but no longer than for some time. */
export interface Belief {
  era: number;
  /** By the monotonic clock, in milliseconds. */
  until: number;
}

/** What can be believed of what is looked up from now on; undefined: news may be missed. */
export function beliefIn(hearing: Hearing | undefined, until: number): Belief | undefined {
  const era = hearing?.era;
  return era === undefined ? undefined : { era, until };
}

/** Whether a look-up that began after `pauses` pauses is not older than changes that are still unread. */
export function isAfterPause(pauses: number, hearing: Hearing | undefined): boolean {
  return hearing === undefined || !hearing.isBehind || hearing.pauses === pauses;
}

/** Whether it is believed at a time. */
export function isBelieved(belief: Belief | undefined, hearing: Hearing | undefined, now: number): boolean {
  return belief !== undefined && now < belief.until && belief.era === hearing?.era;
}

/** So many of a kind are told one by one. */
const mostTold = 1_000;

const noNews = () => ({
  tokens: new Set<number>(),
  users: new Set<number>(),
  leases: new Set<number>(),
  flood: false,
});

/** Gathers what is announced, so that a flood of changes is told as little. */
export class NewsGathering {
  #news = noNews();

  /** Takes an announcement, as the database's triggers write it; false: it is none. */
  add(payload: string): boolean {
    const [kind = '', number = ''] = payload.split(' ');
    const id = Number(number);
    const news = this.#news;
    const sets: Readonly<Record<string, Set<number>>> = {
      token: news.tokens,
      user: news.users,
      lease: news.leases,
    };
    const set = sets[kind];
    if (set === undefined || !Number.isSafeInteger(id)) return false;
    if (!news.flood) set.add(id);
    if (set.size > mostTold) {
      news.flood = true;
      for (const one of Object.values(sets)) one.clear();
    }
    return true;
  }

  /** What has been gathered since the last time. */
  take(): News {
    const news = this.#news;
    this.#news = noNews();
    return news;
  }
}
