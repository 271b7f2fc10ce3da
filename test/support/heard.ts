import type { Hearing, News } from '../../server/store/news.ts';

/** What another gateway does, told by hand. */
export class Heard implements Hearing {
  era: number | undefined = 1;
  #hear: (news: News) => void = () => {};

  subscribe(hear: (news: News) => void): () => void {
    this.#hear = hear;
    return () => {};
  }

  tell(news: Partial<News>): void {
    this.#hear({ tokens: new Set(), users: new Set(), leases: new Set(), flood: false, ...news });
  }
}
