import { useEffect, useMemo } from 'preact/hooks';
import { Feed, type FeedSource } from './feed.ts';

/** Follows a list while the component exists. A new `key` starts again. Undefined without a source. */
export function useFeed<Item>(source: FeedSource<Item> | undefined, key: string): Feed<Item> | undefined {
  const feed = useMemo(() => (source === undefined ? undefined : new Feed(source)), [key]);
  useEffect(() => {
    void feed?.start();
    return () => feed?.stop();
  }, [feed]);
  return feed;
}
