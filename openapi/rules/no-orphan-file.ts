import { globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Context, isNode, type Node } from './visit.ts';

/** Folders beside the spec that it does not refer to. */
const apart = ['examples', 'guides', 'rules', 'tools', 'workflows'];

/** Every file in the folders of a spec is part of it. */
export function noOrphanFile() {
  const visited = new Set<string>();
  return {
    any: (_node: unknown, { location }: Context) => visited.add(location.source.absoluteRef),
    ref(node: Node, ctx: Context) {
      // Texts and lists are no nodes of their own.
      const target = isNode(node) ? ctx.resolve(node).location : undefined;
      if (target) visited.add(target.source.absoluteRef);
    },
    Root: {
      leave(_root: Node, ctx: Context) {
        const folder = dirname(ctx.location.source.absoluteRef);
        for (const file of globSync('*/**/*.{yaml,md}', { cwd: folder }).sort()) {
          if (apart.includes(file.split('/')[0] ?? '') || visited.has(join(folder, file))) continue;
          ctx.report({
            message: `Nothing in ${relative(folder, ctx.location.source.absoluteRef)} leads to ${file}.`,
          });
        }
      },
    },
  };
}
