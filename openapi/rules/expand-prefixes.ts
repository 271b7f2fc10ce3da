import { isNode, type Node, text } from './visit.ts';

/**
 * Copies a path to every prefix of its `x-prefixes: { '': /base, Suffix: /other }`. The entry `''` is the prefix of the
 * original path, which keeps its operationIds. The operationIds of a copy get the suffix.
 */
export function expandPrefixes() {
  return {
    Paths: {
      leave(paths: Node) {
        const items = Object.entries(paths);
        for (const path of Object.keys(paths)) delete paths[path];
        for (const [path, item] of items) {
          for (const [copyPath, copy] of copies(path, item)) {
            if (copyPath in paths) throw new Error(`x-prefixes of ${path}: ${copyPath} already exists`);
            paths[copyPath] = copy;
          }
        }
      },
    },
  };
}

function copies(path: string, item: unknown): [string, unknown][] {
  if (!isNode(item) || !isNode(item['x-prefixes'])) return [[path, item]];
  const { 'x-prefixes': prefixes, ...original } = item;
  const base = prefixes[''];
  if (typeof base !== 'string' || !path.startsWith(base)) {
    throw new Error(`x-prefixes of ${path}: the entry '' must be a prefix of the path`);
  }
  return Object.entries(prefixes).map(([suffix, prefix]) => [
    `${text(prefix)}${path.slice(base.length)}`,
    suffix === '' ? original : aliasOf(original, suffix, text(prefix)),
  ]);
}

function aliasOf(item: Node, suffix: string, prefix: string): Node {
  const copy = structuredClone(item);
  for (const operation of Object.values(copy)) {
    if (!isNode(operation) || typeof operation.operationId !== 'string') continue;
    operation['x-alias-of'] = operation.operationId;
    operation.operationId += suffix;
    operation.summary = `${text(operation.summary)} (prefix ${prefix})`;
  }
  return copy;
}
