import type { Hearing, News } from '../../server/store/news.ts';

/** What another gateway does, told by hand. */
export class Heard implements Hearing {
  era: number | undefined = 1;
  pauses = 0;
  isBehind = false;
  #hear: (news: News) => void = () => {};

  subscribe(hear: (news: News) => void): () => void {
    this.#hear = hear;
    return () => {};
  }

  /** The process pauses: changes may be unread when it goes on. */
  pause(): void {
    this.pauses += 1;
    this.isBehind = true;
  }

  /** All changes announced during the pause have been delivered. */
  catchUp(): void {
    this.isBehind = false;
  }

  tell(news: Partial<News>): void {
    this.#hear({ tokens: new Set(), users: new Set(), leases: new Set(), flood: false, ...news });
  }
}
