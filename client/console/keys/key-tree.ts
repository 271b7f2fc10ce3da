interface Key {
  id: number;
  created_by?: number | null;
}

export interface KeyNode<Item> {
  key: Item;
  /** Number of keys above it that the list contains. */
  depth: number;
}

/** Sorts keys so that each is followed by the keys that were created with it. Keeps the order of siblings. */
export function treeOf<Item extends Key>(keys: readonly Item[]): KeyNode<Item>[] {
  const ids = new Set(keys.map(({ id }) => id));
  const children = Map.groupBy(keys, ({ created_by: parent }) =>
    typeof parent === 'number' && ids.has(parent) ? parent : undefined,
  );
  const walk = (parent: number | undefined, depth: number): KeyNode<Item>[] =>
    (children.get(parent) ?? []).flatMap((key) => [{ key, depth }, ...walk(key.id, depth + 1)]);
  return walk(undefined, 0);
}

/** Returns the keys that were created with a key, directly or indirectly. */
export function descendantsOf<Item extends Key>(keys: readonly Item[], id: number): Item[] {
  const direct = keys.filter(({ created_by: parent }) => parent === id);
  return direct.flatMap((key) => [key, ...descendantsOf(keys, key.id)]);
}
