import { globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Context, isNode, type Node } from './visit.ts';

/** Folders that are not part of the spec. */
const excludedFolders = ['examples', 'guides', 'rules', 'tools', 'workflows'];

/** Every file in the folders of a spec is referenced by it. */
export function noOrphanFile() {
  const visited = new Set<string>();
  return {
    any: (_node: unknown, { location }: Context) => visited.add(location.source.absoluteRef),
    ref(node: Node, ctx: Context) {
      // Redocly visits no node for a referenced text or list.
      const target = isNode(node) ? ctx.resolve(node).location : undefined;
      if (target) visited.add(target.source.absoluteRef);
    },
    Root: {
      leave(_root: Node, ctx: Context) {
        const folder = dirname(ctx.location.source.absoluteRef);
        for (const file of globSync('*/**/*.{yaml,md}', { cwd: folder }).sort()) {
          if (excludedFolders.includes(file.split('/')[0] ?? '') || visited.has(join(folder, file))) continue;
          ctx.report({
            message: `${relative(folder, ctx.location.source.absoluteRef)} does not reference ${file}.`,
          });
        }
      },
    },
  };
}
